/* SPDX-License-Identifier: Apache-2.0 */
/* Records -> sums; sums -> the file that others read. */
#include "libtrace/store/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/live/live_idle.h"
#include "libtrace/store/live/live_kernels.h"
#include "libtrace/store/live/live_memory.h"

#define WRITE_NS UINT64_C(100000000)
#define COUNT_NS \
    UINT64_C(500000000) /* so often are idle times counted, which sorts all calls since */
#define RETRY_NS UINT64_C(10000000000)

struct gmt_live {
    int folder;
    struct gmt_live_page *shared; /* the file, mapped; NULL: there is none yet */
    struct gmt_live_page page;
    struct gmt_live_memory memory;
    struct gmt_live_kernels kernels;
    struct gmt_live_idle idle;
    uint8_t family[1024]; /* enum gmt_call_family, by gmt_api.id */
    uint64_t written_ns, counted_ns, retry_ns;
};

struct gmt_live *gmt_live_open(int folder, const struct gmt_control *control)
{
    struct stat info;
    struct gmt_live *live = calloc(1, sizeof(*live));
    if (live == NULL) {
        return NULL;
    }
    live->folder = folder;
    live->page.magic = GMT_LIVE_MAGIC;
    live->page.version = GMT_LIVE_VERSION;
    live->page.begin_ns = control->first_pair.monotonic_ns;
    if (fstatat(folder, GMT_LIVE_FILE, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        live->page.is_partial = 1;
        (void)unlinkat(folder, GMT_LIVE_FILE, 0);
    }
    return live;
}

void gmt_live_close(struct gmt_live *live)
{
    if (live == NULL) {
        return;
    }
    if (live->shared != NULL) {
        munmap(live->shared, sizeof(*live->shared));
    }
    gmt_live_memory_free(&live->memory);
    gmt_live_kernels_free(&live->kernels);
    gmt_live_idle_free(&live->idle);
    free(live);
}

struct gmt_live_page *gmt_live_page(struct gmt_live *live)
{
    return &live->page;
}

static void check(struct gmt_live *live, int error)
{
    live->page.is_partial |= error != 0;
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* Was it executed, and is it the program's? */
static bool counts(const struct gmt_call *call)
{
    return call->result == 0 &&
           (call->flags & (GMT_CALL_CAPTURING | GMT_CALL_OUTSIDE | GMT_CALL_STEP)) == 0;
}

/* Of other calls (queries above all) a failure is often the answer that the program wants to know. */
static bool is_failure(unsigned type, const struct gmt_call *call)
{
    bool is_work = type == GMT_REC_ALLOC || type == GMT_REC_TRANSFER || type == GMT_REC_MEMSET ||
                   type == GMT_REC_LAUNCH || type == GMT_REC_SYNC;
    return is_work && call->result != 0 && (call->flags & GMT_CALL_OUTSIDE) == 0;
}

/* Of a call that is no transfer, memset, launch or wait: what an idle device waits for then. */
static enum gmt_live_cause cause_of_family(const struct gmt_live *live, const struct gmt_call *call)
{
    size_t apis = sizeof(live->family) / sizeof(live->family[0]);
    switch (call->api < apis ? live->family[call->api] : GMT_FAMILY_OTHER) {
    case GMT_FAMILY_ALLOC: return GMT_LIVE_ALLOCATION;
    case GMT_FAMILY_MODULE: return GMT_LIVE_LOADING;
    default: return GMT_LIVE_OTHER_CALLS;
    }
}

static void count_transfer(struct gmt_live *live, const struct gmt_call *call, uint64_t ns)
{
    const struct gmt_transfer *transfer = (const void *)(call + 1);
    unsigned direction = transfer->direction < GMT_DIR_COUNT ? transfer->direction
                                                             : GMT_DIR_UNKNOWN;
    live->page.copies[direction].count++;
    live->page.copies[direction].bytes += call->bytes;
    live->page.blocking_copies_ns += (call->flags & GMT_CALL_BLOCKING) != 0 ? ns : 0;
}

static void count_launch(struct gmt_live *live, const struct gmt_call *call)
{
    const struct gmt_launch *launch = (const void *)(call + 1);
    if (launch->kind == GMT_LAUNCH_GRAPH) {
        live->page.graph_launches++;
        return;
    }
    live->page.kernel_launches++;
    gmt_live_kernels_launch(&live->kernels, launch->kernel, launch->grid, launch->block);
}

static enum gmt_live_cause count_memory(struct gmt_live *live, unsigned type,
                                        const struct gmt_call *call)
{
    const struct gmt_alloc *alloc = (const void *)(call + 1);
    bool is_host = alloc->kind == GMT_ALLOC_HOST || alloc->kind == GMT_ALLOC_REGISTERED;
    if (call->result == 0 && alloc->id != 0) {
        check(live, type == GMT_REC_ALLOC
                        ? gmt_live_memory_allocated(&live->memory, alloc->id, alloc->kind,
                                                    call->context, call->bytes)
                        : gmt_live_memory_freed(&live->memory, alloc->id));
    }
    return is_host ? GMT_LIVE_PAGE_LOCKING : GMT_LIVE_ALLOCATION;
}

static void count_call(struct gmt_live *live, struct gmt_timebase *time, unsigned type,
                       const struct gmt_call *call)
{
    uint64_t begin_ns = gmt_timebase_ns(time, call->begin_ticks);
    uint64_t end_ns = call->end_ticks > call->begin_ticks ? gmt_timebase_ns(time, call->end_ticks)
                                                          : begin_ns;
    enum gmt_live_cause cause = GMT_LIVE_OTHER_CALLS;
    bool is_counted = counts(call);
    live->page.failed_calls += is_failure(type, call);
    switch (type) {
    case GMT_REC_TRANSFER:
        cause = GMT_LIVE_COPY_CALLS;
        if (is_counted) {
            count_transfer(live, call, end_ns - begin_ns);
        }
        break;
    case GMT_REC_MEMSET:
        cause = GMT_LIVE_LAUNCH;
        live->page.memsets.count += is_counted;
        live->page.memsets.bytes += is_counted ? call->bytes : 0;
        break;
    case GMT_REC_LAUNCH:
        cause = GMT_LIVE_LAUNCH;
        if (is_counted) {
            count_launch(live, call);
        }
        break;
    case GMT_REC_SYNC:
        cause = GMT_LIVE_SYNC;
        if (is_counted && call->detail < GMT_LIVE_SYNC_KINDS) {
            live->page.waits[call->detail].count++;
            live->page.waits[call->detail].device_ns += end_ns - begin_ns;
        }
        break;
    case GMT_REC_ALLOC:
    case GMT_REC_FREE: cause = count_memory(live, type, call); break;
    default: cause = cause_of_family(live, call); break;
    }
    check(live, gmt_live_idle_call(&live->idle, cause, begin_ns, end_ns));
}

/* ---- the device, and names -------------------------------------------------------------------- */

static void count_op(struct gmt_live *live, const struct gmt_device_op *op, size_t room)
{
    uint64_t ns = op->end_ns > op->start_ns ? op->end_ns - op->start_ns : 0;
    struct gmt_live_device *device =
        &live->page.device[op->device < GMT_LIVE_DEVICES ? op->device : GMT_LIVE_DEVICES - 1];
    device->last_ns = op->end_ns > device->last_ns ? op->end_ns : device->last_ns;
    switch (op->kind) {
    case GMT_OP_KERNEL:
        device->kernel_ns += ns;
        gmt_live_kernels_device(&live->kernels, (const char *)(op + 1), room, op->grid, op->block,
                                ns);
        break;
    case GMT_OP_COPY:
        live->page.copies[gmt_cupti_copy_direction(op->copy_kind)].device_ns += ns;
        break;
    case GMT_OP_MEMSET: live->page.memsets.device_ns += ns; break;
    default: break;
    }
    check(live, gmt_live_idle_op(&live->idle, op->device, op->start_ns, op->end_ns));
}

static void note_api(struct gmt_live *live, const struct gmt_api *api)
{
    if (api->id < sizeof(live->family) / sizeof(live->family[0])) {
        live->family[api->id] = (uint8_t)api->family;
    }
}

static void note_process(struct gmt_live *live, struct gmt_timebase *time,
                         const struct gmt_process *process)
{
    uint64_t ns = gmt_timebase_ns(time, process->head.ticks);
    live->page.begin_realtime_ns = process->realtime_ns -
                                   (ns > live->page.begin_ns ? ns - live->page.begin_ns : 0);
}

/* What is looked at of a record; one that is shorter is damaged. */
static size_t fixed_bytes(unsigned type)
{
    switch (type) {
    case GMT_REC_ALLOC:
    case GMT_REC_FREE:
    case GMT_REC_TRANSFER:
    case GMT_REC_LAUNCH: return sizeof(struct gmt_call) + GMT_SLOT_BYTES;
    case GMT_REC_DEVICE_OP: return sizeof(struct gmt_device_op);
    case GMT_REC_KERNEL: return sizeof(struct gmt_kernel);
    default: return GMT_SLOT_BYTES;
    }
}

void gmt_live_record(struct gmt_live *live, struct gmt_timebase *time,
                     const struct gmt_spool_record *record)
{
    const void *data = record->data;
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES;
    if (bytes < fixed_bytes(record->type)) {
        return;
    }
    if (record->type >= GMT_REC_CALL && record->type <= GMT_REC_ENCODE) {
        count_call(live, time, record->type, data);
        return;
    }
    switch (record->type) {
    case GMT_REC_API: note_api(live, data); break;
    case GMT_REC_PROCESS: note_process(live, time, data); break;
    case GMT_REC_CONTEXT: {
        const struct gmt_context *context = data;
        check(live, gmt_live_memory_context(&live->memory, context->id, context->device));
        break;
    }
    case GMT_REC_KERNEL: {
        const struct gmt_kernel *kernel = data;
        check(live, gmt_live_kernels_name(&live->kernels, kernel->id, (const char *)(kernel + 1),
                                          bytes - sizeof(*kernel)));
        break;
    }
    case GMT_REC_DEVICE_OP: count_op(live, data, bytes - sizeof(struct gmt_device_op)); break;
    default: break;
    }
}

/* ---- the file --------------------------------------------------------------------------------- */

static void write_page(struct gmt_live *live, uint64_t now_ns)
{
    void *mapping = NULL;
    if (live->shared == NULL && now_ns >= live->retry_ns) {
        int error = gmt_spool_file_create(live->folder, GMT_LIVE_FILE, sizeof(*live->shared),
                                          &mapping, NULL);
        live->shared = error == 0 ? mapping : NULL;
        live->retry_ns = now_ns + RETRY_NS;
    }
    if (live->shared == NULL) {
        return;
    }
    struct gmt_live_page *shared = live->shared;
    uint32_t seq = __atomic_load_n(&shared->seq, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->seq, seq + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    live->page.seq = seq + 1;
    memcpy(shared, &live->page, sizeof(*shared));
    __atomic_store_n(&shared->seq, seq + 2, __ATOMIC_RELEASE);
}

void gmt_live_pass(struct gmt_live *live, uint64_t now_ns, bool is_last)
{
    live->memory.pass++;
    bool is_full = gmt_live_idle_is_full(&live->idle) != 0;
    if (!is_last && !is_full && now_ns - live->written_ns < WRITE_NS) {
        return;
    }
    if (is_last || is_full || now_ns - live->counted_ns >= COUNT_NS) {
        uint64_t until_ns = is_last || is_full ? now_ns : now_ns - GMT_LIVE_SETTLE_NS;
        live->counted_ns = now_ns;
        check(live, gmt_live_idle_settle(&live->idle, until_ns, &live->page));
        gmt_live_kernels_age(&live->kernels);
    }
    live->written_ns = now_ns;
    live->page.updated_ns = now_ns;
    gmt_live_memory_sum(&live->memory, &live->page);
    gmt_live_kernels_put(&live->kernels, &live->page);
    write_page(live, now_ns);
}
