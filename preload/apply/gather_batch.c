/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the bytes of uploads, and issues them together (gather_batch.h). */
#include "preload/apply/gather_batch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/apply/every_call.h"
#include "preload/apply/gather.h"
#include "preload/apply/state.h"

#define MOST_PARTS 64
#define LEAST_ROWS 3 /* two that lie anywhere are no row yet: each goes by itself */
#define MOST_PITCH (UINT64_C(1) << 30)

/* Copies that go as one: `rows` of `width` bytes, which are side by side in our memory. */
struct gathered_part {
    uint64_t dst, pitch;
    size_t width, at;
    unsigned rows;
    struct gmt_copy_range in;
};

static struct {
    uint8_t *memory;
    size_t size, used;
    struct gathered_part parts[MOST_PARTS];
    unsigned count;
    uint32_t number;
    CUcontext context;
    CUresult error; /* of parts that were issued when no call was at hand that could return it */
    uint64_t longest_ns;
    pid_t pid;
    bool is_ended, is_shared;
    bool is_waited_for; /* of those that are held back one comes from page-locked memory */
} batch;

static _Atomic pthread_t
    holder; /* 0: nobody. One word, so that a handler of a signal sees who has it at any moment. */

bool gmt_gather_hold(void)
{
    pthread_t self = pthread_self(), nobody = 0;
    if (atomic_load_explicit(&holder, memory_order_relaxed) == self) {
        return false;
    }
    if (GMT_APPLY_MUTANT(gather_no_lock)) {
        return true;
    }
    while (!atomic_compare_exchange_weak_explicit(&holder, &nobody, self, memory_order_acquire,
                                                  memory_order_relaxed)) {
        nobody = 0;
        (void)sched_yield();
    }
    return true;
}

void gmt_gather_release(void)
{
    atomic_store_explicit(&holder, 0, memory_order_release);
}

/* ---- issuing ------------------------------------------------------------------------------------ */

static CUresult issue_rows(const struct gathered_part *part, CUstream stream)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = batch.memory + part->at,
        .srcPitch = GMT_APPLY_MUTANT(rows_source) ? part->pitch : part->width,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = part->dst,
        .dstPitch = part->pitch + (GMT_APPLY_MUTANT(rows_pitch) ? 1 : 0),
        .WidthInBytes = part->width,
        .Height = part->rows - (GMT_APPLY_MUTANT(rows_last) ? 1 : 0),
    };
    return gmt_apply_driver.cuMemcpy2DAsync_v2(&copy, stream);
}

static CUresult issue_part(const struct gathered_part *part)
{
    CUstream stream = GMT_APPLY_MUTANT(gather_other_stream) ? CU_STREAM_PER_THREAD
                                                            : CU_STREAM_LEGACY;
    CUresult result = CUDA_SUCCESS;
    if (part->rows >= LEAST_ROWS && issue_rows(part, stream) == CUDA_SUCCESS) {
        return CUDA_SUCCESS;
    }
    for (unsigned row = 0; row < part->rows && result == CUDA_SUCCESS; row++) {
        result = gmt_apply_driver.cuMemcpyHtoDAsync_v2(part->dst + row * part->pitch,
                                                       batch.memory + part->at + row * part->width,
                                                       part->width, stream);
    }
    return result;
}

/* All that is held back, in the context of its copies. The driver has read the bytes when its calls return: they are pageable. */
static CUresult issue(void)
{
    CUcontext current = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result = CUDA_SUCCESS;
    unsigned count = batch.count;
    bool waits = batch.is_waited_for && !GMT_APPLY_MUTANT(gather_locked_wait);
    batch.count = 0;
    batch.used = 0;
    batch.is_waited_for = false;
    if (count == 0 || gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS) {
        return CUDA_SUCCESS; /* CUDA ends: its memory goes with it */
    }
    bool is_other = gmt_apply_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
                    current != batch.context && !GMT_APPLY_MUTANT(gather_context);
    if (is_other) {
        result = gmt_apply_driver.cuCtxPushCurrent_v2(batch.context);
        is_other = result == CUDA_SUCCESS;
    }
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = issue_part(&batch.parts[GMT_APPLY_MUTANT(gather_reverse) ? count - 1 - i : i]);
    }
    if (waits && result == CUDA_SUCCESS) {
        result = gmt_apply_driver.cuStreamSynchronize(CU_STREAM_LEGACY);
    }
    if (is_other) {
        (void)gmt_apply_driver.cuCtxPopCurrent_v2(&current);
    }
    (void)gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}

CUresult gmt_batch_settle(void)
{
    CUresult error = batch.error, result = issue();
    batch.error = CUDA_SUCCESS;
    atomic_store(&gmt_every_call_stops, 0);
    return error != CUDA_SUCCESS ? error : result;
}

/* Issues the batch if it is still that one. */
static void be_due(uint32_t number)
{
    if (!gmt_gather_hold()) {
        return;
    }
    if (batch.count != 0 && batch.number == number && !batch.is_ended) {
        batch.error = issue();
        atomic_store(&gmt_every_call_stops, batch.error != CUDA_SUCCESS);
    }
    gmt_gather_release();
}

/* ---- holding back ------------------------------------------------------------------------------- */

/* An error of what was issued by then is that of the last call: no other one could return it. */
static void end(void)
{
    if (!gmt_apply_is_forked() && gmt_gather_hold()) {
        (void)gmt_batch_settle();
        batch.is_ended = true;
        gmt_gather_release();
    }
}

static bool get_memory(void)
{
    if (batch.memory == NULL) {
        void *memory = mmap(NULL, batch.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
        batch.memory = memory != MAP_FAILED && atexit(end) == 0 ? memory : NULL;
        batch.is_ended = batch.memory == NULL;
    }
    return batch.memory != NULL;
}

/* Does the copy go on with that part? A second row may lie anywhere behind the first. */
static bool joins(const struct gathered_part *part, const struct gmt_copy *copy,
                  const struct gmt_copy_range *in, bool is_row)
{
    uint64_t step = copy->dst - part->dst;
    if (part->in.start != in->start || copy->dst < part->dst + part->width) {
        return false;
    }
    if (part->rows == 1 && (step == part->width || (GMT_APPLY_MUTANT(gather_joins) && !is_row))) {
        return true;
    }
    return is_row && copy->bytes == part->width && step <= MOST_PITCH &&
           (part->rows == 1 || step == part->rows * part->pitch);
}

static void add(const struct gmt_copy *copy, const struct gmt_copy_range *in)
{
    struct gathered_part *last = batch.count != 0 ? &batch.parts[batch.count - 1] : NULL;
    if (last != NULL && joins(last, copy, in, false)) {
        last->width += copy->bytes;
    } else if (last != NULL && joins(last, copy, in, true)) {
        last->pitch = last->rows == 1 ? copy->dst - last->dst : last->pitch;
        last->rows++;
    } else {
        batch.parts[batch.count++] = (struct gathered_part){
            .dst = copy->dst, .width = copy->bytes, .at = batch.used, .rows = 1, .in = *in};
    }
    batch.used += copy->bytes;
}

/*
 * Its bytes, behind those that are there. False: they cannot be read, which is the driver's to say. Page-locked memory may be of the driver's
 * device file, which the kernel does not read; it is there, as freeing it is a call.
 */
static bool read_source(const struct gmt_copy *copy, bool is_locked)
{
    if (is_locked) {
        if (!GMT_APPLY_MUTANT(gather_locked)) {
            memcpy(batch.memory + batch.used, (const void *)(uintptr_t)copy->src, copy->bytes);
        }
        return true;
    }
    struct iovec here = {batch.memory + batch.used, copy->bytes},
                 there = {(void *)(uintptr_t)copy->src, copy->bytes};
    int saved_errno = errno;
    bool is_read = process_vm_readv(batch.pid, &here, 1, &there, 1, 0) == (ssize_t)copy->bytes;
    errno = saved_errno;
    return is_read;
}

enum gmt_refusal gmt_batch_add(const struct gmt_copy *copy, bool is_locked,
                               const struct gmt_copy_range *in, CUcontext context,
                               size_t most_bytes, CUresult *result)
{
    if (copy->bytes > most_bytes) {
        return GMT_REFUSAL_LARGE;
    }
    if (!get_memory()) {
        return GMT_REFUSAL_NO_TIMER;
    }
    if (batch.used + copy->bytes > most_bytes || batch.count == MOST_PARTS) {
        *result = gmt_batch_settle();
        if (*result != CUDA_SUCCESS) {
            return GMT_REFUSAL_COUNT;
        }
    }
    if (!read_source(copy, is_locked)) {
        return GMT_REFUSAL_LOCKED_MEMORY;
    }
    if (batch.count == 0) {
        if (!gmt_gather_timer_begin(++batch.number, batch.longest_ns, be_due)) {
            return GMT_REFUSAL_NO_TIMER;
        }
        batch.context = context;
        atomic_store(&gmt_every_call_stops, 1);
    }
    batch.is_waited_for = batch.is_waited_for || is_locked;
    add(copy, in);
    return GMT_REFUSAL_COUNT;
}

void gmt_batch_share(void)
{
    batch.is_shared = true;
}

bool gmt_batch_is_shared(void)
{
    return batch.is_shared && !GMT_APPLY_MUTANT(gather_shared);
}

bool gmt_batch_has_ended(void)
{
    return batch.is_ended;
}

void gmt_batch_start(size_t bytes, uint64_t longest_ns)
{
    batch.size = bytes;
    batch.longest_ns = longest_ns;
    batch.pid = getpid();
}
