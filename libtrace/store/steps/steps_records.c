/* SPDX-License-Identifier: Apache-2.0 */
/* What records say, as events. */
#include "libtrace/store/steps/steps_records.h"

#include <stdlib.h>

#include "libtrace/store/db/names.h"
#include "libtrace/store/live/step_finder.h"
#include "libtrace/store/steps/step_kinds.h"

struct gmt_step_records {
    struct gmt_steps *steps;
    struct gmt_timebase *time;
};

struct gmt_step_records *gmt_step_records_open(struct gmt_steps *steps, struct gmt_timebase *time)
{
    struct gmt_step_records *records = calloc(1, sizeof(*records));
    if (records != NULL) {
        *records = (struct gmt_step_records){.steps = steps, .time = time};
    }
    return records;
}

void gmt_step_records_close(struct gmt_step_records *records)
{
    free(records);
}

/* ---- calls ------------------------------------------------------------------------------------ */

static bool counts(const struct gmt_call *call)
{
    return call->result == 0 && (call->flags & (GMT_CALL_CAPTURING | GMT_CALL_STEP)) == 0;
}

static void read_transfer(struct gmt_step_event *event, const struct gmt_call *call)
{
    const struct gmt_transfer *transfer = (const void *)(call + 1);
    unsigned direction = transfer->direction < GMT_DIR_COUNT ? transfer->direction
                                                             : GMT_DIR_UNKNOWN;
    event->kind = (uint8_t)(GMT_STEP_COPY_UNKNOWN + direction);
    event->bytes = call->bytes;
    event->flags |= (call->flags & GMT_CALL_BLOCKING) != 0 ? GMT_STEP_BLOCKING : 0;
    event->flags |= transfer->batch != 0 ? GMT_STEP_BATCHED : 0;
}

static void read_launch(struct gmt_step_event *event, const struct gmt_call *call)
{
    const struct gmt_launch *launch = (const void *)(call + 1);
    bool is_graph = launch->kind == GMT_LAUNCH_GRAPH;
    event->kind = is_graph ? GMT_STEP_GRAPH : GMT_STEP_KERNEL;
    event->kernel = is_graph ? 0 : launch->kernel;
    event->key = gmt_step_finder_key(is_graph ? launch->graph : launch->kernel, launch->grid,
                                     launch->block);
    event->stream = call->stream;
}

static void read_memory(struct gmt_step_event *event, const struct gmt_call *call, bool is_free)
{
    const struct gmt_alloc *alloc = (const void *)(call + 1);
    bool is_host = alloc->kind == GMT_ALLOC_HOST || alloc->kind == GMT_ALLOC_REGISTERED;
    if (call->result != 0 || alloc->id == 0) {
        return; /* a call like any other */
    }
    event->type = is_free ? GMT_STEP_EVENT_FREED : GMT_STEP_EVENT_ALLOCATED;
    event->kind = is_free ? GMT_STEP_FREE : is_host ? GMT_STEP_PAGE_LOCKING : GMT_STEP_ALLOCATION;
    event->key = alloc->id;
    event->bytes = is_free ? 0 : call->bytes;
    event->flags |= GMT_STEP_COUNTS; /* memory is there also where a graph is captured meanwhile */
}

static int add_call(struct gmt_step_records *records, unsigned type, const struct gmt_call *call,
                    struct gmt_step_writer *writer)
{
    uint64_t begin_ns = gmt_timebase_ns(records->time, call->begin_ticks);
    struct gmt_step_event event = {.type = GMT_STEP_EVENT_CALL,
                                   .kind = GMT_STEP_OTHER,
                                   .begin_ns = begin_ns,
                                   .end_ns = call->end_ticks > call->begin_ticks
                                                 ? gmt_timebase_ns(records->time, call->end_ticks)
                                                 : begin_ns,
                                   .key = call->api,
                                   .stack = call->stack,
                                   .thread = call->thread,
                                   .context = call->context,
                                   .flags = counts(call) ? GMT_STEP_COUNTS : 0};
    if ((call->flags & GMT_CALL_OUTSIDE) != 0) {
        return 0;
    }
    switch (type) {
    case GMT_REC_TRANSFER: read_transfer(&event, call); break;
    case GMT_REC_LAUNCH: read_launch(&event, call); break;
    case GMT_REC_ALLOC:
    case GMT_REC_FREE: read_memory(&event, call, type == GMT_REC_FREE); break;
    case GMT_REC_MEMSET:
        event.kind = GMT_STEP_MEMSET;
        event.bytes = call->bytes;
        break;
    case GMT_REC_SYNC:
        if (call->detail >= GMT_SYNC_STREAM && call->detail <= GMT_SYNC_DEVICE) {
            event.kind = (uint8_t)(GMT_STEP_WAIT_STREAM + call->detail - GMT_SYNC_STREAM);
        }
        break;
    default: break;
    }
    return gmt_steps_add(records->steps, &event, writer);
}

/* ---- the rest --------------------------------------------------------------------------------- */

static int add_op(struct gmt_step_records *records, const struct gmt_device_op *op, size_t room,
                  struct gmt_step_writer *writer)
{
    struct gmt_step_event event = {.type = GMT_STEP_EVENT_OP,
                                   .begin_ns = op->start_ns,
                                   .end_ns = op->end_ns,
                                   .device = op->device,
                                   .stream = op->cupti_stream};
    switch (op->kind) {
    case GMT_OP_KERNEL:
        event.kind = GMT_STEP_KERNEL;
        event.name = gmt_step_names_put(gmt_steps_names(records->steps), (const char *)(op + 1),
                                        room);
        break;
    case GMT_OP_COPY:
        event.kind = (uint8_t)(GMT_STEP_COPY_UNKNOWN + gmt_cupti_copy_direction(op->copy_kind));
        event.bytes = op->bytes;
        break;
    case GMT_OP_MEMSET:
        event.kind = GMT_STEP_MEMSET;
        event.bytes = op->bytes;
        break;
    default: return 0;
    }
    return gmt_steps_add(records->steps, &event, writer);
}

static int add_range(struct gmt_step_records *records, const struct gmt_user_range *range,
                     size_t room, struct gmt_step_writer *writer)
{
    struct gmt_range_names names;
    struct gmt_step_names *known = gmt_steps_names(records->steps);
    gmt_range_names_read(&names, (const char *)(range + 1), room);
    if (range->end_ticks == 0) {
        gmt_steps_range_opened(records->steps, range->id, &names);
        return 0;
    }
    if (names.name[0] == '\0' && names.domain[0] == '\0') {
        /* Not there: its first record may still come, through another thread's chunk. */
        (void)gmt_steps_range_taken(records->steps, range->id, &names);
    }
    struct gmt_step_event event = {
        .type = GMT_STEP_EVENT_RANGE,
        .kind = range->kind,
        .begin_ns = gmt_timebase_ns(records->time, range->begin_ticks),
        .end_ns = gmt_timebase_ns(records->time, range->end_ticks),
        .key = range->id,
        .thread = range->thread,
        .depth = range->depth,
        .name = gmt_step_names_put(known, names.name, sizeof(names.name)),
        .domain = gmt_step_names_put(known, names.domain, sizeof(names.domain))};
    gmt_step_event_set_payload(&event, &names.payload);
    return gmt_steps_add(records->steps, &event, writer);
}

static size_t fixed_bytes(unsigned type)
{
    switch (type) {
    case GMT_REC_ALLOC:
    case GMT_REC_FREE:
    case GMT_REC_TRANSFER:
    case GMT_REC_LAUNCH: return sizeof(struct gmt_call) + GMT_SLOT_BYTES;
    case GMT_REC_DEVICE_OP: return sizeof(struct gmt_device_op);
    case GMT_REC_KERNEL: return sizeof(struct gmt_kernel);
    case GMT_REC_RANGE: return sizeof(struct gmt_user_range) + 1;
    default: return GMT_SLOT_BYTES;
    }
}

int gmt_step_records_add(struct gmt_step_records *records, const struct gmt_spool_record *record,
                         struct gmt_step_writer *writer)
{
    const void *data = record->data;
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES, fixed = fixed_bytes(record->type);
    if (bytes < fixed) {
        return 0;
    }
    if (record->type >= GMT_REC_CALL && record->type <= GMT_REC_ENCODE) {
        return add_call(records, record->type, data, writer);
    }
    switch (record->type) {
    case GMT_REC_PROCESS:
        gmt_steps_begin(
            records->steps,
            gmt_timebase_ns(records->time, ((const struct gmt_process *)data)->head.ticks));
        return 0;
    case GMT_REC_API:
        gmt_steps_api(records->steps, ((const struct gmt_api *)data)->id,
                      ((const struct gmt_api *)data)->family);
        return 0;
    case GMT_REC_CONTEXT:
        return gmt_steps_context(records->steps, ((const struct gmt_context *)data)->id,
                                 ((const struct gmt_context *)data)->device);
    case GMT_REC_KERNEL:
        return gmt_steps_kernel(records->steps, ((const struct gmt_kernel *)data)->id,
                                (const char *)data + fixed, bytes - fixed);
    case GMT_REC_DEVICE_OP: return add_op(records, data, bytes - fixed, writer);
    case GMT_REC_RANGE:
        return add_range(records, data, bytes - sizeof(struct gmt_user_range), writer);
    default: return 0;
    }
}
