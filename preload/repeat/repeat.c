/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one launch several times (repeat.h). */
#include "preload/repeat/repeat.h"

#include <string.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/sections/section.h"
#include "preload/driver/coverage.h"
#include "preload/driver/resolve.h"
#include "preload/guard/hold.h"
#include "preload/repeat/launch_time.h"
#include "preload/repeat/reach.h"
#include "preload/repeat/scan.h"
#include "preload/repeat/snapshot.h"
#include "preload/session/options.h"
#include "preload/session/session.h"
#include "preload/session/table.h"
#include "preload/state/context.h"
#include "preload/state/hazards.h"
#include "preload/state/waits.h"

/* That work of the program is waited for: a kernel may itself wait for what this thread does next. */
#define LONGEST_NS UINT64_C(1000000000)
#define PREFERRED_CLUSTER_DIMENSION 11 /* of CUDA 12.8: not in older headers */
#define FIRST_PAUSE_NS UINT64_C(10000000)
#define ROOM_NS UINT64_C(10000000000)
#define ROOM_BYTES (UINT64_C(64) << 20) /* what a driver may take besides */
#define MOST_SCANS 8u                   /* each finds memory that the one before did not know of */
#define MOST_TURNS \
    3u /* executions that are measured: one for each kind of counters, and one to spare */

/* The holder's: one launch is repeated at a time. */
static gmt_table_pointer reach_table;

bool gmt_repeat_wants(struct gmt_collector_class *cls)
{
    return gmt_options.repeat != GMT_REPEAT_OFF && !cls->never && gmt_collector->repeats != NULL &&
           gmt_collector->repeats(cls, 0, 0) != 0;
}

/* ---- the program's call ------------------------------------------------------------------------- */

static CUresult launch_again(const struct gmt_relaunch *launch)
{
    CUresult (*plain)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream, void **, void **);
    CUresult (*extended)(const CUlaunchConfig *, CUfunction, void **, void **);
    void *real = gmt_hook_real[launch->hook];
    if (launch->config != NULL) {
        memcpy(&extended, &real, sizeof(extended));
        return extended(launch->config, launch->function, launch->parameters, launch->extra);
    }
    memcpy(&plain, &real, sizeof(plain));
    return plain(launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
                 launch->block[0], launch->block[1], launch->block[2], launch->dynamic_shared_bytes,
                 launch->stream, launch->parameters, launch->extra);
}

/* Attributes that say how the kernel runs, and tie it to nothing else. One that lets it begin before the kernels before
 * it have ended (programmatic stream serialization) finds none under way. */
static bool stands_alone(const struct gmt_relaunch *launch)
{
    const CUlaunchConfig *config = launch->config;
    for (unsigned i = 0; config != NULL && config->attrs != NULL && i < config->numAttrs; i++) {
        switch ((int)config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            if (config->attrs[i].value.cooperative != 0) {
                return false;
            }
            break;
        default: return false;
        }
    }
    return true;
}

/* ---- may it be repeated? ------------------------------------------------------------------------ */

static bool is_in_current_context(CUstream stream)
{
    CUcontext current = NULL, of_stream = NULL;
    return gmt_driver.cuStreamGetCtx != NULL && gmt_driver.cuCtxGetCurrent != NULL &&
           gmt_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
           gmt_driver.cuStreamGetCtx(stream, &of_stream) == CUDA_SUCCESS && of_stream == current;
}

/* What is known before anything is waited for, and again once the others are held. */
static enum gmt_unmeasured refusal(const struct gmt_repeat *repeat)
{
    if (repeat->measured->forbidden != GMT_MEASURABLE) {
        return repeat->measured->forbidden;
    }
    if (gmt_hazards_any_unknown()) {
        return GMT_UNMEASURED_ONCE_KINDS;
    }
    if (atomic_load(&gmt_captures) != 0) {
        return GMT_UNMEASURED_BUSY;
    }
    if (gmt_coverage_called()) {
        return GMT_UNMEASURED_ONCE_UNSEEN;
    }
    if (!stands_alone(repeat->launch)) {
        return GMT_UNMEASURED_ONCE_ATTRIBUTES;
    }
    /* Memory of the current one is copied. */
    if (!is_in_current_context(repeat->launch->stream)) {
        return GMT_UNMEASURED_ONCE_CONTEXTS;
    }
    return GMT_MEASURABLE;
}

static bool driver_has_all(void)
{
    return gmt_driver.cuCtxSynchronize != NULL && gmt_driver.cuMemAlloc_v2 != NULL &&
           gmt_driver.cuMemFree_v2 != NULL && gmt_driver.cuMemcpyDtoD_v2 != NULL &&
           gmt_driver.cuMemcpyDtoH_v2 != NULL && gmt_driver.cuModuleLoadData != NULL &&
           gmt_driver.cuModuleGetFunction != NULL && gmt_driver.cuLaunchKernel != NULL;
}

/* The other threads are held. From here on nothing is under way in the context, nor in others, which may copy to its memory
 * or let kernels use it, and the kernel is loaded: its module's variables have their first values. */
static enum gmt_unmeasured drain(CUfunction function)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    if (gmt_waits_under_way()) {
        return GMT_UNMEASURED_WAITS;
    }
    while (!gmt_contexts_idle()) {
        if (!gmt_hold_lasts()) {
            return GMT_UNMEASURED_ONCE_THREADS;
        }
        if (gmt_clock_monotonic_ns() - began_ns > LONGEST_NS) {
            return GMT_UNMEASURED_ONCE_AFTER;
        }
    }
    if (gmt_driver.cuFuncLoad != NULL) {
        (void)gmt_driver.cuFuncLoad(function);
    }
    if (!gmt_contexts_wait_for_others()) {
        return GMT_UNMEASURED_ONCE_CONTEXTS;
    }
    return gmt_driver.cuCtxSynchronize() == CUDA_SUCCESS ? GMT_MEASURABLE
                                                         : GMT_UNMEASURED_ONCE_FAILED;
}

/* GMT_MEASURABLE: there is room for a copy of all that the kernel can write, and it can reach nothing else. */
static enum gmt_unmeasured reserve_for_all(const struct gmt_repeat *repeat, struct gmt_reach *reach,
                                           struct gmt_snapshot *snapshot)
{
    struct gmt_arguments arguments = {repeat->launch->parameters, repeat->launch->extra};
    for (unsigned scan = 0; scan < MOST_SCANS; scan++) {
        size_t count = reach->count;
        uint64_t bytes = reach->bytes;
        if (!gmt_snapshot_reserve(snapshot, reach)) {
            return GMT_UNMEASURED_ONCE_ROOM;
        }
        enum gmt_unmeasured why = gmt_scan(reach, repeat->kernel, &arguments, &snapshot->memory);
        if (why == GMT_MEASURABLE && reach->count == count && reach->bytes == bytes) {
            return why;
        }
        gmt_snapshot_release(snapshot);
        if (why != GMT_MEASURABLE) {
            return why;
        }
    }
    return GMT_UNMEASURED_ONCE_REACH;
}

/* GMT_MEASURABLE: memory is copied aside. No hold is broken meanwhile: memory that another thread frees must not be read. */
static enum gmt_unmeasured copy_aside(struct gmt_repeat *repeat, CUfunction function,
                                      struct gmt_reach *reach, struct gmt_snapshot *snapshot)
{
    enum gmt_unmeasured why = gmt_snapshot_release_late() ? GMT_MEASURABLE
                                                          : GMT_UNMEASURED_ONCE_ROOM;
    if (why == GMT_MEASURABLE) {
        why = gmt_reach_find(reach, function, repeat->measured->cls, repeat->context);
    }
    /* Copied aside, looked through, and copied back at least once. */
    if (why == GMT_MEASURABLE &&
        gmt_collector->repeats(repeat->measured->cls, 0, 3 * gmt_snapshot_copy_ns(reach)) == 0) {
        /* Where there is no room either, a larger budget would not help. */
        return gmt_snapshot_has_room(reach) ? GMT_UNMEASURED_BUDGET : GMT_UNMEASURED_ONCE_ROOM;
    }
    if (why == GMT_MEASURABLE && !gmt_hold_fits(3 * gmt_snapshot_copy_ns(reach))) {
        return GMT_UNMEASURED_ONCE_THREADS;
    }
    if (why == GMT_MEASURABLE) {
        why = reserve_for_all(repeat, reach, snapshot);
    }
    if (why == GMT_MEASURABLE && !gmt_snapshot_take(snapshot)) {
        gmt_snapshot_release(snapshot);
        why = GMT_UNMEASURED_ONCE_FAILED;
    }
    return why;
}

static enum gmt_unmeasured prepare(struct gmt_repeat *repeat, struct gmt_snapshot *snapshot)
{
    struct gmt_reach *reach = gmt_table_need(&reach_table, sizeof(*reach));
    CUfunction function = gmt_kernel_function_here(repeat->kernel);
    enum gmt_unmeasured why = reach != NULL ? drain(function) : GMT_UNMEASURED_ONCE_ROOM;
    if (why != GMT_MEASURABLE) {
        return why;
    }
    /* Loading code may wait for the device: a kernel that waits for this thread would never end. */
    if (!gmt_scan_prepare()) {
        return GMT_UNMEASURED_ONCE_FAILED;
    }
    /* Waiting may have taken long: others have gone on then. */
    if (!gmt_hold_keep(0)) {
        return GMT_UNMEASURED_ONCE_THREADS;
    }
    gmt_collector->own_work(true);
    uint64_t section = gmt_section_begin(GMT_SECTION_COPY);
    why = copy_aside(repeat, function, reach, snapshot);
    gmt_section_end(section);
    gmt_collector->own_work(false);
    gmt_hold_keep_ends();
    return why;
}

/* ---- executions --------------------------------------------------------------------------------- */

/* True: the launch is over. `breakable`: the others may go on meanwhile, and are not made to wait any longer then. */
static bool is_over(const struct gmt_relaunch *launch, uint64_t began_ns, bool breakable)
{
    bool per_thread = launch->hook == GMT_HOOK_cuLaunchKernel_ptsz ||
                      launch->hook == GMT_HOOK_cuLaunchKernelEx_ptsz;
    CUresult (*query)(CUstream) = per_thread ? gmt_driver.cuStreamQuery_ptsz
                                             : gmt_driver.cuStreamQuery;
    CUresult result = CUDA_ERROR_NOT_READY;
    while (query != NULL && result == CUDA_ERROR_NOT_READY && (!breakable || gmt_hold_lasts()) &&
           gmt_clock_monotonic_ns() - began_ns < LONGEST_NS) {
        gmt_hold_alive();
        result = query(launch->stream);
    }
    return result == CUDA_SUCCESS;
}

/* The one that is timed; *ns gets about how long it took, 0 if it is not over. False: it was not begun. */
static bool first_execution(const struct gmt_repeat *repeat, struct gmt_hook_call *call,
                            uint64_t *ns)
{
    uint64_t began_ns = gmt_clock_monotonic_ns();
    call->begin_ticks = gmt_clock_ticks();
    call->result = launch_again(repeat->launch);
    call->end_ticks = gmt_clock_ticks();
    if (call->result != CUDA_SUCCESS) {
        return false;
    }
    /* An error of the kernel is the program's to find, where it would have found it. */
    *ns = is_over(repeat->launch, began_ns, true)
              ? gmt_launch_time_of_kernel_ns(gmt_clock_monotonic_ns() - began_ns)
              : 0;
    return true;
}

/* One more, measured. False: the last one. */
static bool execute_again(struct gmt_repeat *repeat, struct gmt_hook_call *call,
                          struct gmt_snapshot *snapshot)
{
    if (!gmt_hold_undo()) {
        return false;
    }
    uint64_t section = gmt_section_begin(GMT_SECTION_COPY);
    bool restored = gmt_snapshot_restore(snapshot);
    gmt_section_end(section);
    gmt_hold_undone();
    if (!restored) {
        return false; /* a driver that cannot copy any more: the context is lost to the program, too */
    }
    enum gmt_counter_group group = gmt_collector->begin(repeat->measured);
    gmt_hold_launch_begins();
    CUresult result = launch_again(repeat->launch);
    gmt_hold_launch_ends();
    if (group != GMT_GROUP_NONE) {
        gmt_collector->end(repeat->measured, group);
        repeat->group = group;
    }
    if (result != CUDA_SUCCESS) {
        /* Memory is as before the launch: it has to be made, and what we hold may be what it lacks. */
        gmt_snapshot_release(snapshot);
        result = launch_again(repeat->launch);
        group = GMT_GROUP_NONE;
    }
    if (result != CUDA_SUCCESS) {
        call->result = result;
        return false;
    }
    /* It may run for good: a patched kernel needs more registers, so that blocks that wait for each other may not fit. */
    repeat->over = is_over(repeat->launch, gmt_clock_monotonic_ns(), false);
    return repeat->over && gmt_driver.cuCtxSynchronize() == CUDA_SUCCESS && group != GMT_GROUP_NONE;
}

/* Returns what copying memory back took, about, ns. *why: where none was made, the reason; the collector has noted why one that
 * was made was not measured. */
static uint64_t execute_measured(struct gmt_repeat *repeat, struct gmt_hook_call *call,
                                 struct gmt_snapshot *snapshot, uint64_t kernel_ns,
                                 enum gmt_unmeasured *why)
{
    bool more = true;
    uint64_t copied_ns = 0;
    for (unsigned turn = 0; turn < MOST_TURNS && more; turn++) {
        uint64_t began_ns = gmt_clock_monotonic_ns(), own_ns = gmt_spool_own_total_ns();
        uint64_t expected_ns = gmt_collector->repeats(repeat->measured->cls, kernel_ns,
                                                      gmt_snapshot_copy_ns(snapshot->reach));
        if (turn == 0) {
            *why = expected_ns == 0 ? GMT_UNMEASURED_BUDGET : GMT_UNMEASURED_ONCE_THREADS;
        }
        more = expected_ns != 0 && gmt_hold_keep(expected_ns);
        if (more) {
            copied_ns += gmt_snapshot_copy_ns(snapshot->reach);
            gmt_collector->own_work(true);
            more = execute_again(repeat, call, snapshot);
            *why = GMT_MEASURABLE;
            gmt_collector->own_work(false);
            gmt_hold_keep_ends();
            gmt_spool_own_time_around(GMT_OWN_REPEAT, began_ns, repeat->measured->launch_seq,
                                      own_ns);
        }
    }
    return copied_ns;
}

/* Nothing of the launch is under way. Ends what the caller began (gmt_hold_keep). */
static void release_now(struct gmt_snapshot *snapshot)
{
    gmt_collector->own_work(true);
    uint64_t section = gmt_section_begin(GMT_SECTION_COPY);
    gmt_snapshot_release(snapshot);
    gmt_section_end(section);
    gmt_collector->own_work(false);
    gmt_hold_keep_ends();
}

/* The first execution is over, or others go on beside it. */
static enum gmt_unmeasured after_first(struct gmt_repeat *repeat, struct gmt_hook_call *call,
                                       struct gmt_snapshot *snapshot, uint64_t kernel_ns)
{
    uint64_t copied_ns = 0;
    bool lasts = gmt_hold_lasts();
    enum gmt_unmeasured why = lasts ? GMT_UNMEASURED_ONCE_LONG : GMT_UNMEASURED_ONCE_THREADS;
    if (kernel_ns != 0 && lasts) {
        copied_ns = execute_measured(repeat, call, snapshot, kernel_ns, &why);
    }
    if (snapshot->memory.bytes != 0) {
        bool over = !call->made || (kernel_ns != 0 && repeat->over);
        if (over && gmt_hold_keep(0)) {
            release_now(snapshot);
        } else {
            gmt_snapshot_release_later(snapshot);
        }
    }
    gmt_collector->charge(copied_ns + kernel_ns); /* the program might not have waited for it */
    return repeat->group != GMT_GROUP_NONE ? GMT_MEASURABLE : why;
}

/* Others are held. */
static enum gmt_unmeasured repeat_held(struct gmt_repeat *repeat, struct gmt_hook_call *call)
{
    struct gmt_snapshot snapshot;
    uint64_t began_ns = gmt_clock_monotonic_ns(), kernel_ns = 0;
    enum gmt_unmeasured why = refusal(repeat);
    if (why == GMT_MEASURABLE) {
        why = prepare(repeat, &snapshot);
    }
    uint64_t copied_ns = gmt_clock_monotonic_ns() - began_ns;
    gmt_spool_own_time(GMT_OWN_REPEAT, began_ns,
                       why == GMT_MEASURABLE ? repeat->measured->launch_seq : 0);
    if (why == GMT_MEASURABLE) {
        call->made = first_execution(repeat, call, &kernel_ns);
        why = after_first(repeat, call, &snapshot, kernel_ns);
        why = call->made ? why : GMT_UNMEASURED_ONCE_FAILED;
    }
    gmt_collector->got_ready(copied_ns, repeat->group == GMT_GROUP_NONE);
    return why;
}

bool gmt_repeat_launch(struct gmt_repeat *repeat, struct gmt_hook_call *call)
{
    struct gmt_collector_class *cls = repeat->measured->cls;
    repeat->group = GMT_GROUP_NONE;
    repeat->over = true;
    enum gmt_unmeasured why = driver_has_all() ? refusal(repeat) : GMT_UNMEASURED_ONCE_FAILED;
    if (why == GMT_MEASURABLE && !gmt_collector->prepare(repeat->measured)) {
        return false;
    }
    if (why == GMT_MEASURABLE) {
        if (gmt_hold_begin()) {
            why = repeat_held(repeat, call);
            gmt_hold_end();
        } else {
            why = GMT_UNMEASURED_ONCE_THREADS;
        }
    }
    if (why != GMT_MEASURABLE) {
        gmt_collector->not_repeated(cls, why);
    }
    return call->made;
}

/* Freeing holds the other threads, where there are any: it is tried after 10 ms at the earliest, and in vain ever less
 * often. A thread that is alone frees at its next call that waits: a program that asks how much memory is free finds all. */
static _Atomic uint64_t next_ns, pause_ns;
static bool may_free_now(void)
{
    uint64_t now_ns = gmt_clock_monotonic_ns(), last_ns = atomic_load(&pause_ns);
    if ((now_ns < atomic_load(&next_ns) && !gmt_hold_alone()) ||
        !gmt_streams_idle(gmt_context_current(NULL))) {
        return false;
    }
    uint64_t pause = last_ns == 0 ? FIRST_PAUSE_NS : last_ns < LONGEST_NS ? 2 * last_ns : last_ns;
    atomic_store(&pause_ns, pause);
    atomic_store(&next_ns, now_ns + pause);
    return true;
}

void gmt_repeat_waited(void)
{
    if (atomic_load_explicit(&gmt_snapshots_late, memory_order_relaxed) == 0 ||
        atomic_load(&gmt_captures) != 0 || !may_free_now() || !gmt_hold_begin()) {
        return;
    }
    if (atomic_load(&gmt_captures) == 0 && gmt_streams_idle(gmt_context_current(NULL)) &&
        gmt_hold_keep(0)) {
        gmt_collector->own_work(true);
        (void)gmt_snapshot_release_late();
        gmt_collector->own_work(false);
        gmt_hold_keep_ends();
        atomic_store(&pause_ns, 0);
    }
    gmt_hold_end();
}

void gmt_repeat_make_room(size_t bytes)
{
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t began_ns = 0;
    while (atomic_load_explicit(&gmt_snapshots_late, memory_order_relaxed) != 0 &&
           atomic_load(&gmt_captures) == 0 && gmt_driver.cuMemGetInfo_v2 != NULL &&
           gmt_driver.cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS &&
           free_bytes < bytes + ROOM_BYTES) {
        uint64_t now_ns = gmt_clock_monotonic_ns();
        began_ns = began_ns == 0 ? now_ns : began_ns;
        if (now_ns - began_ns > ROOM_NS) {
            return; /* the kernel may wait for this thread */
        }
        gmt_repeat_waited();
        (void)usleep(1000);
    }
}
