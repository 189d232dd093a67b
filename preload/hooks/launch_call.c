/* SPDX-License-Identifier: Apache-2.0 */
/* What all launches have in common (launch_call.h). */
#include "preload/hooks/launch_call.h"

#include <stdatomic.h>
#include <string.h>

#include "libtrace/record/clock.h"
#include "preload/driver/resolve.h"
#include "preload/guard/hold.h"
#include "preload/overhead/device_records.h"
#include "preload/session/session.h"
#include "preload/state/allocmap.h"
#include "preload/state/context.h"
#include "preload/state/hazards.h"
#include "preload/state/tensor_maps.h"
#include "preload/state/user_ranges.h"
#include "preload/state/waits.h"

#define COUNTING_NS UINT64_C(1000000) /* that counting takes at least: 0.3 to 12 ms */
#define OUT_PART 50u

static void add_word(struct gmt_hooked_launch *launch, uint16_t parameter, uint32_t offset,
                     uint64_t word)
{
    struct gmt_allocation found;
    if (!gmt_allocmap_find(word, &found)) {
        return;
    }
    gmt_hazard_given_address(&launch->given, &found, launch->context);
    if (launch->head.argument_count == GMT_MAX_LAUNCH_ARGS) {
        launch->head.arguments = GMT_ARGS_TRUNCATED;
        return;
    }
    launch->arguments[launch->head.argument_count++] = (struct gmt_launch_arg){
        .parameter = parameter,
        .word_offset = (uint16_t)offset,
        .alloc = found.id,
        .offset = word - found.base,
    };
}

static void add_words(struct gmt_hooked_launch *launch, uint16_t parameter, const uint8_t *bytes,
                      uint32_t first, uint32_t count)
{
    for (uint32_t at = first; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        if (gmt_allocmap_may_hold(word)) {
            add_word(launch, parameter, at, word);
        }
    }
}

/* Every aligned 8-byte word of every parameter; structures passed by value included. */
static void find_arguments(struct gmt_hooked_launch *launch, const struct gmt_kernel_info *kernel,
                           void **parameters, void **extra)
{
    launch->context = gmt_context_several() ? gmt_context_current(NULL) : 0;
    if (parameters != NULL && kernel->parameters_known) {
        launch->head.arguments = GMT_ARGS_COMPLETE;
        for (uint16_t i = 0; i < kernel->parameter_count; i++) {
            const struct gmt_parameter *parameter = &kernel->parameters[i];
            uint32_t first = (8u - (parameter->offset & 7u)) & 7u;
            if (parameters[i] != NULL) {
                add_words(launch, i, parameters[i], first, parameter->bytes);
            }
        }
        return;
    }
    const uint8_t *buffer = NULL;
    size_t bytes = 0;
    for (size_t i = 0; parameters == NULL && extra != NULL && extra[i] != CU_LAUNCH_PARAM_END;
         i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            memcpy(&bytes, extra[i + 1], sizeof(bytes));
        }
    }
    if (buffer != NULL) {
        launch->head.arguments = GMT_ARGS_COMPLETE;
        add_words(launch, UINT16_MAX, buffer, 0, bytes < UINT16_MAX ? (uint32_t)bytes : UINT16_MAX);
    } else if (kernel->parameters_known && kernel->parameter_count == 0) {
        launch->head.arguments = GMT_ARGS_COMPLETE;
    }
}

static enum gmt_wait_outcome wait_outcome(const struct gmt_hooked_launch *launch)
{
    return launch->cls != NULL
               ? (enum gmt_wait_outcome)atomic_load(&launch->cls->collector.wait_outcome)
               : GMT_WAIT_UNTRIED;
}

static const struct gmt_hazard_row *row_of(const struct gmt_hooked_launch *launch)
{
    return &gmt_hazard_rows[launch->hazard];
}

/* Behind find_arguments, if that was called. */
static void judge(struct gmt_hooked_launch *launch)
{
    launch->given.communicates = launch->head.kind != GMT_LAUNCH_KERNEL ||
                                 (launch->cls != NULL && launch->cls->collector.never);
    launch->given.known = launch->head.arguments != GMT_ARGS_UNKNOWN;
    launch->hazard = gmt_hazard_of(&launch->given);
    launch->waits = gmt_collector != NULL && row_of(launch)->action != GMT_HAZARD_MEASURED &&
                    !gmt_hazards_ignored() && wait_outcome(launch) != GMT_WAIT_ENDED;
}

/* From here on until it is done, nothing is measured that would wait for it. A launch that is measured itself holds all
 * others that would be. */
static void note_wait(const struct gmt_hooked_launch *launch)
{
    if (launch->waits && launch->head.group == GMT_GROUP_NONE) {
        gmt_waits_begin();
    }
}

static void note_wait_made(const struct gmt_hooked_launch *launch, const struct gmt_hook_call *call)
{
    bool measured = launch->head.group != GMT_GROUP_NONE;
    if (!launch->waits || (measured && wait_outcome(launch) == GMT_WAIT_ENDED)) {
        return;
    }
    if (measured) {
        gmt_waits_begin();
    }
    gmt_waits_end(call);
}

/* What its caller may be held for until its kernel is done, but for a short time only. */
static enum gmt_unmeasured suspected(const struct gmt_hooked_launch *launch)
{
    return row_of(launch)->action == GMT_HAZARD_TRIED && !gmt_hazards_ignored()
               ? row_of(launch)->measured
               : GMT_MEASURABLE;
}

static void let_others_go(struct gmt_hooked_launch *launch)
{
    if (launch->kept) {
        gmt_hold_keep_ends();
    }
    if (launch->held) {
        gmt_hold_end();
    }
    launch->kept = launch->held = false;
}

/* The others are held, and what was under way is over. Waited for no longer than counting behind it would still be allowed. */
static bool is_drained(uint16_t context)
{
    bool idle = false;
    /* To ask a stream that is captured would end the capture. */
    while (!idle && gmt_hold_lasts() && gmt_hold_fits(COUNTING_NS) &&
           atomic_load(&gmt_captures) == 0) {
        idle = gmt_streams_idle(context);
    }
    return idle;
}

/* Something under way may wait for what this thread does next. */
static bool host_is_awaited(void)
{
    return atomic_load(&gmt_captures) == 0 && !gmt_hazards_ignored() && gmt_waits_under_way();
}

/* While a launch's instructions are counted CUPTI does not bear that another thread loads code: it crashes, or both threads wait
 * for each other (docs/cupti-notes.md). So the others are kept out of the driver, and let go where they do not leave it in
 * time; then it is not tried again before OUT_PART times what was spent has passed. It does not bear either that another
 * thread captures, before or after. A thread that is alone keeps out those that come meanwhile, for as long as a hold lasts:
 * signals are not put off for that. True: no other thread is in the driver. */
static bool keep_others_out(struct gmt_hooked_launch *launch, uint16_t context)
{
    static _Atomic uint64_t not_before_ns;
    uint64_t began_ns = gmt_clock_monotonic_ns();
    if (gmt_captures_of_others() || (!gmt_hold_alone() && began_ns < atomic_load(&not_before_ns))) {
        return false;
    }
    if (host_is_awaited()) {
        launch->measured.forbidden = GMT_UNMEASURED_WAITS;
        return false;
    }
    launch->held = gmt_hold_begin();
    if (launch->held && gmt_hold_alone()) {
        return true; /* the collector waits for what is under way */
    }
    launch->kept = launch->held && is_drained(context) && gmt_hold_keep(COUNTING_NS);
    if (!launch->kept) {
        let_others_go(launch);
        uint64_t now_ns = gmt_clock_monotonic_ns();
        atomic_store(&not_before_ns, now_ns + OUT_PART * (now_ns - began_ns));
    }
    return launch->kept;
}

/* A rule that forbids to hold this launch's caller until its kernel is done. While it is held another thread may begin a call
 * that waits for the kernel with the driver's locks held (loading code does): the caller could not go on any more. */
static enum gmt_unmeasured forbidden(const struct gmt_hooked_launch *launch,
                                     const struct gmt_hook_call *call)
{
    if ((call->flags & GMT_CALL_CAPTURING) != 0) {
        return GMT_UNMEASURED_CAPTURED;
    }
    if (gmt_hazards_ignored()) {
        return launch->head.kind == GMT_LAUNCH_KERNEL ? GMT_MEASURABLE : GMT_UNMEASURED_NEVER;
    }
    switch (row_of(launch)->action) {
    case GMT_HAZARD_MEASURED: return GMT_MEASURABLE;
    case GMT_HAZARD_TRIED:
        return wait_outcome(launch) == GMT_WAIT_ENDED ||
                       (wait_outcome(launch) == GMT_WAIT_UNTRIED && gmt_hold_alone())
                   ? GMT_MEASURABLE
                   : row_of(launch)->measured;
    default: return row_of(launch)->measured;
    }
}

void gmt_launch_count(struct gmt_hooked_launch *launch)
{
    launch->head.launch_seq =
        (uint32_t)(atomic_fetch_add_explicit(&gmt_launches, 1, memory_order_relaxed) + 1);
}

/* `wanted`: what the collector said of this launch, which asks it once. `repeated`: NULL where it is not to be made several
 * times. */
static void measure(struct gmt_hooked_launch *launch, struct gmt_hook_call *call,
                    enum gmt_counter_group wanted, const struct gmt_kernel_info *repeated,
                    const struct gmt_relaunch *again)
{
    launch->measured = (struct gmt_launch_call){
        .stream = call->stream,
        .cls = &launch->cls->collector,
        .launch_seq = launch->head.launch_seq,
        .forbidden = GMT_MEASURABLE,
        .suspected = suspected(launch),
        .others = gmt_hazards_any_of_others() && !gmt_hazards_ignored(),
    };
    uint16_t context = gmt_context_current((CUcontext *)&launch->measured.context);
    launch->measured.forbidden = forbidden(launch, call);
    /* Whether its stream is idle will be asked before the launch is recorded. */
    (void)gmt_stream_note((CUcontext)launch->measured.context, context, call->stream,
                          (call->flags & GMT_CALL_PER_THREAD) != 0);
    if (repeated != NULL && launch->measured.suspected != GMT_MEASURABLE) {
        gmt_collector->not_repeated(&launch->cls->collector, row_of(launch)->repeated);
    } else if (repeated != NULL) {
        launch->measured.alone =
            !gmt_captures_of_others(); /* whenever it measures, others are out */
        struct gmt_repeat repeat = {
            .kernel = repeated, .launch = again, .measured = &launch->measured, .context = context};
        if (gmt_repeat_launch(&repeat, call)) {
            launch->repeated = true;
            launch->head.group = (uint8_t)repeat.group;
            return;
        }
    }
    /* Who is loaded by CUPTI keeps nobody out: it only learns of calls. */
    bool keeps = again != NULL || (call->flags & GMT_CALL_STEP) != 0 || gmt_hold_alone();
    launch->measured.alone = keeps && launch->measured.forbidden == GMT_MEASURABLE &&
                             wanted == GMT_GROUP_SASS && keep_others_out(launch, context);
    launch->head.group = (uint8_t)gmt_collector->begin(&launch->measured);
    if (launch->head.group == GMT_GROUP_NONE) {
        let_others_go(launch);
    } else if (launch->kept) {
        gmt_hold_launch_begins();
    }
}

void gmt_launch_before(struct gmt_hooked_launch *launch, struct gmt_hook_call *call,
                       CUfunction function, void **parameters, void **extra,
                       const struct gmt_relaunch *again)
{
    gmt_launch_count(launch);
    const struct gmt_kernel_info *kernel = function != NULL ? gmt_kernel_find(function) : NULL;
    if (kernel == NULL) {
        judge(launch);
        note_wait(launch);
        return;
    }
    const uint32_t cluster[3] = {launch->head.cluster[0], launch->head.cluster[1],
                                 launch->head.cluster[2]};
    launch->head.kernel = kernel->id;
    launch->cls = gmt_class_find(kernel, launch->head.grid, launch->head.block,
                                 launch->head.dynamic_shared_bytes, cluster);
    find_arguments(launch, kernel, parameters, extra);
    launch->head.argument_count += gmt_tensor_map_arguments(
        kernel, parameters, launch->arguments + launch->head.argument_count,
        GMT_MAX_LAUNCH_ARGS - launch->head.argument_count);
    judge(launch);
    if (launch->cls != NULL) {
        launch->head.kernel_class = launch->cls->collector.id;
    }
    if (launch->cls != NULL && gmt_collector != NULL && !gmt_user_ranges_skip()) {
        enum gmt_counter_group wanted = gmt_collector->want(&launch->cls->collector);
        bool repeats = again != NULL && gmt_repeat_wants(&launch->cls->collector);
        if (repeats || wanted != GMT_GROUP_NONE) {
            gmt_device_records_need();
            measure(launch, call, wanted, repeats ? kernel : NULL, again);
        }
    }
    note_wait(launch);
    if (launch->cls != NULL && gmt_collector != NULL && !gmt_collector->kernel_activity_on()) {
        call->flags |= GMT_CALL_NO_ACTIVITY;
    }
}

void gmt_launch_after(struct gmt_hooked_launch *launch, struct gmt_hook_call *call)
{
    if (call->result != CUDA_SUCCESS) {
        launch->measured.suspected =
            GMT_MEASURABLE; /* no kernel ran that could have shown anything */
    }
    if (launch->kept) {
        gmt_hold_launch_ends();
    }
    if (launch->head.group != GMT_GROUP_NONE && !launch->repeated) {
        gmt_collector->end(&launch->measured, (enum gmt_counter_group)launch->head.group);
    }
    let_others_go(launch);
    note_wait_made(launch, call);
    atomic_fetch_add_explicit(&gmt_launches_done, 1, memory_order_relaxed);
    unsigned slots = 1 + (launch->head.argument_count + (unsigned)GMT_ARGUMENTS_PER_SLOT - 1) /
                             (unsigned)GMT_ARGUMENTS_PER_SLOT;
    for (unsigned i = launch->head.argument_count; i < (slots - 1) * GMT_ARGUMENTS_PER_SLOT; i++) {
        launch->arguments[i] = (struct gmt_launch_arg){0};
    }
    gmt_hook_call_record_slots(GMT_REC_LAUNCH, call, 0, launch, slots);
}

static_assert(offsetof(struct gmt_hooked_launch, arguments) == GMT_SLOT_BYTES,
              "slots follow one another");

void gmt_launch_begin(struct gmt_hooked_launch *launch, struct gmt_launch shape)
{
    launch->head = shape;
    launch->given = (struct gmt_hazard_given){0};
    launch->waits = false;
    launch->repeated = false;
    launch->held = launch->kept = false;
    launch->cls = NULL;
}

/* Cluster size and cooperation are attributes of an extended launch. */
void gmt_launch_begin_ex(struct gmt_hooked_launch *launch, const CUlaunchConfig *config)
{
    gmt_launch_begin(launch, (struct gmt_launch){
                                 .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                 .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                 .dynamic_shared_bytes = config->sharedMemBytes,
                                 .kind = GMT_LAUNCH_KERNEL});
    for (unsigned i = 0; config->attrs != NULL && i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            launch->head.cluster[0] = (uint16_t)attribute->value.clusterDim.x;
            launch->head.cluster[1] = (uint16_t)attribute->value.clusterDim.y;
            launch->head.cluster[2] = (uint16_t)attribute->value.clusterDim.z;
        } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
                   attribute->value.cooperative != 0) {
            launch->head.kind = GMT_LAUNCH_COOPERATIVE;
        }
    }
}

CUresult gmt_launch_step(const struct gmt_hook_call *graph, const CUlaunchConfig *config,
                         CUfunction function, void **parameters, void **extra, bool *measured)
{
    bool per_thread = (graph->flags & GMT_CALL_PER_THREAD) != 0;
    struct gmt_hooked_launch launch;
    struct gmt_hook_call call = {
        .id = per_thread ? GMT_HOOK_cuLaunchKernelEx_ptsz : GMT_HOOK_cuLaunchKernelEx,
        .flags = (graph->flags & GMT_CALL_PER_THREAD) | GMT_CALL_STEP,
        .stream = graph->stream,
        .at = graph->at,
    };
    CUresult (*real)(const CUlaunchConfig *, CUfunction, void **,
                     void **) = gmt_hook_find_real(call.id);
    if (real == NULL) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    gmt_launch_begin_ex(&launch, config);
    gmt_launch_before(&launch, &call, function, parameters, extra, NULL);
    call.begin_ticks = gmt_clock_ticks();
    call.result = real(config, function, parameters, extra);
    call.end_ticks = gmt_clock_ticks();
    gmt_launch_after(&launch, &call);
    *measured = launch.head.group != GMT_GROUP_NONE;
    return call.result;
}
