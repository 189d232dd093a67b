/* SPDX-License-Identifier: Apache-2.0 */
/* What an event adds to a step, and where it ends one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/steps/steps_internal.h"

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- idle times ------------------------------------------------------------------------------- */

/* What an idle device waits for during a call. */
static enum gmt_live_cause cause_of(const struct gmt_steps *steps, unsigned kind, uint64_t api)
{
    switch (kind) {
    case GMT_STEP_KERNEL:
    case GMT_STEP_GRAPH:
    case GMT_STEP_COLLECTIVE:
    case GMT_STEP_MEMSET: return GMT_LIVE_LAUNCH;
    case GMT_STEP_ALLOCATION:
    case GMT_STEP_FREE: return GMT_LIVE_ALLOCATION;
    case GMT_STEP_PAGE_LOCKING:
    case GMT_STEP_PAGE_UNLOCKING: return GMT_LIVE_PAGE_LOCKING;
    case GMT_STEP_WAIT_STREAM:
    case GMT_STEP_WAIT_CONTEXT:
    case GMT_STEP_WAIT_EVENT:
    case GMT_STEP_WAIT_DEVICE: return GMT_LIVE_SYNC;
    case GMT_STEP_OTHER:
        switch (api < sizeof(steps->family) ? steps->family[api] : GMT_FAMILY_OTHER) {
        case GMT_FAMILY_ALLOC: return GMT_LIVE_ALLOCATION;
        case GMT_FAMILY_MODULE: return GMT_LIVE_LOADING;
        default: return GMT_LIVE_OTHER_CALLS;
        }
    default: return GMT_LIVE_COPY_CALLS;
    }
}

int gmt_steps_span(struct gmt_steps *steps, const struct gmt_step_event *event)
{
    struct gmt_step_spans *spans = &steps->spans;
    if (event->type == GMT_STEP_EVENT_RANGE || (event->flags & GMT_STEP_BATCHED) != 0) {
        return 0;
    }
    if (spans->count == spans->capacity) {
        size_t capacity = spans->capacity != 0 ? 2 * spans->capacity : 1024;
        struct gmt_step_span *grown = realloc(spans->item, capacity * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        spans->item = grown;
        spans->capacity = capacity;
    }
    bool is_op = event->type == GMT_STEP_EVENT_OP;
    spans->item[spans->count++] = (struct gmt_step_span){
        .begin_ns = event->begin_ns,
        .end_ns = event->end_ns,
        .device = is_op ? event->device : UINT32_MAX,
        .api = event->kind == GMT_STEP_OTHER ? (uint16_t)event->key : 0,
        .kind = event->kind};
    return 0;
}

/* The sums of the page grow; a step has the difference. */
int gmt_steps_settle_idle(struct gmt_steps *steps, uint64_t until_ns)
{
    struct gmt_step_spans *spans = &steps->spans;
    int error = 0;
    for (; spans->at < spans->count && spans->item[spans->at].begin_ns < until_ns && error == 0;
         spans->at++) {
        const struct gmt_step_span *span = &spans->item[spans->at];
        error = span->device != UINT32_MAX
                    ? gmt_live_idle_op(&steps->idle, span->device, span->begin_ns, span->end_ns)
                    : gmt_live_idle_call(&steps->idle, cause_of(steps, span->kind, span->api),
                                         span->begin_ns, span->end_ns);
    }
    return error == 0 ? gmt_live_idle_settle(&steps->idle, until_ns, &steps->page) : error;
}

/* ---- the end of a step ------------------------------------------------------------------------ */

static uint32_t device_at(unsigned place)
{
    return place < GMT_STEP_DEVICES ? place : GMT_LIVE_HOST_MEMORY;
}

static void fill_devices(struct gmt_steps *steps, struct gmt_step_device before[])
{
    for (unsigned i = 0; i < GMT_STEP_DEVICES; i++) {
        const struct gmt_live_device *now = &steps->page.device[i];
        struct gmt_step_device *time = &steps->step.time[i];
        before[i].busy_ns = now->busy_ns;
        time->busy_ns = now->busy_ns - time->busy_ns;
        for (unsigned cause = 0; cause < GMT_LIVE_CAUSE_COUNT; cause++) {
            before[i].idle_ns[cause] = now->idle_ns[cause];
            time->idle_ns[cause] = now->idle_ns[cause] - time->idle_ns[cause];
        }
    }
    for (unsigned i = 0; i <= GMT_STEP_DEVICES; i++) {
        struct gmt_live_held held = gmt_live_memory_held(&steps->memory, device_at(i));
        struct gmt_step_memory *memory = &steps->step.memory[i];
        memory->live_bytes = held.bytes;
        memory->live_count = held.count;
        memory->peak_bytes = greater(memory->peak_bytes, held.bytes);
    }
}

/* One of the steps of a row. */
static void count_step(struct gmt_steps *steps, uint64_t end_ns, enum gmt_step_source source)
{
    struct gmt_step *step = &steps->step;
    step->source = step->count == 0 ? source : step->source;
    step->count++;
    step->longest_ns = greater(step->longest_ns,
                               end_ns > steps->one_ns ? end_ns - steps->one_ns : 0);
    steps->one_ns = greater(end_ns, steps->one_ns);
    steps->one_events = steps->sums.events;
}

int gmt_steps_cut(struct gmt_steps *steps, uint64_t end_ns, enum gmt_step_source source,
                  struct gmt_step_writer *writer)
{
    struct gmt_step_device before[GMT_STEP_DEVICES];
    struct gmt_step *step = &steps->step;
    end_ns = greater(end_ns, step->begin_ns);
    int error = gmt_steps_settle_idle(steps, end_ns);
    if (error != 0) {
        return error;
    }
    fill_devices(steps, before);
    if (steps->sums.events != steps->one_events) {
        count_step(steps, end_ns, source);
    }
    step->end_ns = end_ns;
    step->sums = &steps->sums;
    step->names = &steps->names;
    if (step->count != 0) {
        error = gmt_step_writer_put(writer, step);
    }
    gmt_step_sums_clear(&steps->sums);
    *step = (struct gmt_step){.begin_ns = end_ns};
    steps->one_ns = end_ns;
    steps->one_events = 0;
    memcpy(step->time, before, sizeof(before));
    for (unsigned i = 0; i <= GMT_STEP_DEVICES; i++) {
        step->memory[i].peak_bytes = gmt_live_memory_held(&steps->memory, device_at(i)).bytes;
    }
    return error;
}

/* A step of the program ends; its row does where it is long enough. */
static int end_step(struct gmt_steps *steps, uint64_t end_ns, enum gmt_step_source source,
                    struct gmt_step_writer *writer)
{
    count_step(steps, end_ns, source);
    return end_ns >= steps->step.begin_ns + GMT_STEP_LEAST_NS
               ? gmt_steps_cut(steps, end_ns, source, writer)
               : 0;
}

/* Slices that have ended before `ns`; where nothing happened there are none. */
static int cut_slices(struct gmt_steps *steps, uint64_t ns, struct gmt_step_writer *writer)
{
    struct gmt_step *step = &steps->step;
    int error = 0;
    while (error == 0 && ns > step->begin_ns && ns - step->begin_ns > steps->slice_ns) {
        uint64_t slices = steps->sums.events != 0 ? 1 : (ns - step->begin_ns) / steps->slice_ns;
        error = gmt_steps_cut(steps, step->begin_ns + slices * steps->slice_ns, GMT_STEP_SLICE,
                              writer);
    }
    return error;
}

/* Is a thread the one whose steps are taken? */
static bool is_leading(struct gmt_steps *steps, uint32_t thread, uint64_t ns)
{
    bool leads = steps->thread == thread || steps->thread == 0 ||
                 ns - steps->thread_ns > steps->slice_ns;
    if (leads) {
        steps->thread = thread;
        steps->thread_ns = ns;
    }
    return leads;
}

static void note_length(struct gmt_steps *steps, uint64_t ns)
{
    steps->slice_ns = greater(GMT_STEP_SLICE_NS, 4 * ns);
}

/* ---- events ----------------------------------------------------------------------------------- */

static struct gmt_step_collective count_collective(struct gmt_steps *steps,
                                                   enum gmt_collective_source source,
                                                   const struct gmt_step_event *event,
                                                   uint32_t device)
{
    return (struct gmt_step_collective){.position = ++steps->collectives[source],
                                        .begin_ns = event->begin_ns,
                                        .end_ns = event->end_ns,
                                        .stream = event->stream,
                                        .name = event->name,
                                        .device = device};
}

static void note_collective(struct gmt_steps *steps, enum gmt_collective_source source,
                            const struct gmt_step_event *event, uint32_t device)
{
    struct gmt_step_collective collective = count_collective(steps, source, event, device);
    gmt_step_sums_collective(&steps->sums, source, &collective);
}

/* A kernel of NCCL on a device, as the operation that it belongs to. */
static void note_kernel(struct gmt_steps *steps, const struct gmt_step_event *op)
{
    struct gmt_step_collective collective = count_collective(steps, GMT_COLLECTIVE_DEVICE, op,
                                                             op->device);
    const struct gmt_step_collective *of = gmt_step_launches_find(&steps->launches, op->call,
                                                                  collective.position);
    if (of != NULL) {
        gmt_step_collective_say(&collective, of);
    }
    gmt_step_sums_collective(&steps->sums, GMT_COLLECTIVE_DEVICE, &collective);
}

/* A range of NCCL's domain. */
static void note_nccl(struct gmt_steps *steps, const struct gmt_step_event *event,
                      const struct gmt_range_names *names)
{
    uint64_t number;
    const struct gmt_step_communicator *communicator = gmt_step_communicators_take(
        &steps->communicators, names->name, &names->payload, &number);
    bool grouped = gmt_step_communicators_group(&steps->communicators, names->name, event->thread);
    if (!gmt_step_is_operation(names->name, &names->payload)) {
        if (!grouped && strcmp(names->name, "ncclGroupEnd") == 0) {
            gmt_step_launches_group(&steps->launches, event->thread, event->begin_ns, event->end_ns,
                                    &steps->sums);
        }
        return;
    }
    struct gmt_step_collective collective = count_collective(steps, GMT_COLLECTIVE_RANGE, event,
                                                             UINT32_MAX);
    collective.communicator = names->payload.value[GMT_RANGE_COMMUNICATOR];
    collective.bytes = names->payload.value[GMT_RANGE_BYTES];
    collective.said = names->payload.known;
    collective.number = number;
    collective.grouped = grouped;
    collective.ranks = communicator != NULL ? communicator->ranks : 0;
    gmt_step_launches_operation(&steps->launches, event->thread, &collective, &steps->sums);
    gmt_step_sums_collective(&steps->sums, GMT_COLLECTIVE_RANGE, &collective);
}

static int take_range(struct gmt_steps *steps, const struct gmt_step_event *event,
                      struct gmt_step_writer *writer)
{
    struct gmt_step_event known = *event;
    struct gmt_range_names names = {.payload = gmt_step_event_payload(event)};
    if (event->name != 0 || event->domain != 0) {
        const struct gmt_step_name *name = gmt_step_names_get(&steps->names, event->name);
        const struct gmt_step_name *domain = gmt_step_names_get(&steps->names, event->domain);
        (void)strncpy(names.name, name != NULL ? name->text : "", sizeof(names.name) - 1);
        (void)strncpy(names.domain, domain != NULL ? domain->text : "", sizeof(names.domain) - 1);
    } else if (gmt_open_ranges_take(&steps->open, (uint32_t)event->key, &names)) {
        known.name = gmt_step_names_put(&steps->names, names.name, sizeof(names.name));
    }
    if (strcmp(names.domain, "NCCL") == 0) {
        note_nccl(steps, &known, &names);
        steps->sums.events++;
    }
    struct gmt_step_range range = {.begin_ns = event->begin_ns,
                                   .end_ns = event->end_ns,
                                   .thread = event->thread,
                                   .depth = event->depth,
                                   .kind = event->kind,
                                   .names = &names};
    if (!gmt_step_finder_range(steps->finder, &range) ||
        (!steps->has_name && !is_leading(steps, event->thread, event->end_ns))) {
        return 0;
    }
    steps->sums.events++;
    uint64_t ns = event->end_ns > event->begin_ns ? event->end_ns - event->begin_ns : 1;
    steps->step.name = steps->step.count == 0 || steps->step.name == known.name ? known.name : 0;
    steps->step.range_ns += ns;
    note_length(steps, ns);
    return end_step(steps, event->end_ns, GMT_STEP_RANGE, writer);
}

/* A launch may begin the next step. */
static int look_for_pattern(struct gmt_steps *steps, const struct gmt_step_event *event,
                            struct gmt_step_writer *writer)
{
    uint64_t step_ns;
    unsigned slot;
    if (!gmt_step_finder_launch(steps->finder, event->thread, event->key, event->begin_ns, &step_ns,
                                &slot) ||
        !is_leading(steps, event->thread, event->end_ns)) {
        return 0;
    }
    note_length(steps, step_ns);
    return end_step(steps, event->begin_ns, GMT_STEP_PATTERN, writer);
}

static int take_memory(struct gmt_steps *steps, const struct gmt_step_event *event)
{
    bool is_host = event->kind == GMT_STEP_PAGE_LOCKING;
    int error = 0;
    if (event->type == GMT_STEP_EVENT_FREED) {
        return gmt_live_memory_freed(&steps->memory, (uint32_t)event->key);
    }
    error = gmt_live_memory_allocated(&steps->memory, (uint32_t)event->key,
                                      is_host ? GMT_ALLOC_HOST : GMT_ALLOC_DEVICE,
                                      (uint16_t)event->context, event->bytes);
    uint32_t device = is_host ? GMT_LIVE_HOST_MEMORY
                              : gmt_live_memory_device(&steps->memory, event->context);
    device = device == UINT32_MAX && !is_host ? 0 : device;
    unsigned place = device < GMT_STEP_DEVICES ? device
                     : is_host                 ? GMT_STEP_DEVICES
                                               : GMT_STEP_DEVICES - 1;
    uint64_t bytes = gmt_live_memory_held(&steps->memory, device_at(place)).bytes;
    steps->step.memory[place].peak_bytes = greater(steps->step.memory[place].peak_bytes, bytes);
    return error;
}

static int take_call(struct gmt_steps *steps, const struct gmt_step_event *event,
                     struct gmt_step_writer *writer)
{
    struct gmt_step_event call = *event;
    bool counts = (event->flags & GMT_STEP_COUNTS) != 0;
    bool is_kernel = event->kind == GMT_STEP_KERNEL;
    call.name = event->kernel < steps->kernel_count ? steps->kernels[event->kernel] : 0;
    const struct gmt_step_name *name = gmt_step_names_get(&steps->names, call.name);
    int error = counts && (is_kernel || event->kind == GMT_STEP_GRAPH)
                    ? look_for_pattern(steps, event, writer)
                    : 0;
    if (is_kernel && name != NULL && name->is_collective) {
        call.kind = GMT_STEP_COLLECTIVE;
    } else if (event->kind == GMT_STEP_OTHER &&
               cause_of(steps, event->kind, event->key) == GMT_LIVE_LOADING) {
        call.kind = GMT_STEP_MODULE_LOADING;
    } else if (event->type == GMT_STEP_EVENT_FREED &&
               gmt_live_memory_is_host(&steps->memory, (uint32_t)event->key)) {
        call.kind = GMT_STEP_PAGE_UNLOCKING;
    }
    if (error == 0 && event->type != GMT_STEP_EVENT_CALL) {
        error = take_memory(steps, event);
    }
    if (error == 0 && counts) {
        if (call.kind == GMT_STEP_COLLECTIVE) {
            note_collective(steps, GMT_COLLECTIVE_LAUNCH, &call,
                            gmt_live_memory_device(&steps->memory, call.context));
            gmt_step_launches_note(&steps->launches, call.call, call.thread, call.begin_ns,
                                   call.end_ns);
        }
        gmt_step_sums_call(&steps->sums, &call);
        steps->sums.events++;
    }
    return error;
}

static void take_op(struct gmt_steps *steps, const struct gmt_step_event *event)
{
    struct gmt_step_event op = *event;
    const struct gmt_step_name *name = gmt_step_names_get(&steps->names, event->name);
    if (event->kind == GMT_STEP_KERNEL && name != NULL && name->is_collective) {
        op.kind = GMT_STEP_COLLECTIVE;
        note_kernel(steps, event);
    }
    gmt_step_sums_op(&steps->sums, &op);
    steps->sums.events++;
}

int gmt_steps_take(struct gmt_steps *steps, const struct gmt_step_event *event,
                   struct gmt_step_writer *writer)
{
    int error = cut_slices(steps, event->end_ns, writer);
    steps->last_ns = greater(steps->last_ns, event->end_ns);
    if (error != 0) {
        return error;
    }
    switch (event->type) {
    case GMT_STEP_EVENT_RANGE: return take_range(steps, event, writer);
    case GMT_STEP_EVENT_OP: take_op(steps, event); return 0;
    default: return take_call(steps, event, writer);
    }
}
