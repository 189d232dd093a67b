/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes over the records: what each is about, then which of those about the same thing still holds. */
#include "libtrace/store/recording/ring_sift_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/layout.h"

static uint64_t call_ns(const struct sift *sift, const struct gmt_ring_record *record)
{
    return gmt_timebase_ns(sift->time, ((const struct gmt_call *)record->data)->begin_ticks);
}

static uint64_t side_ns(const struct sift *sift, const struct gmt_ring_record *record)
{
    return gmt_timebase_ns(sift->time, ((const struct gmt_side_head *)record->data)->ticks);
}

/* ---- the first pass --------------------------------------------------------------------------- */

static uint64_t side_ticks(const void *data)
{
    return ((const struct gmt_side_head *)data)->ticks;
}

static uint64_t node_ticks(const void *data)
{
    return ((const struct gmt_graph_node *)data)->since_ticks;
}

static void take_memory(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_call *call = record->data;
    const struct gmt_alloc *alloc = (const void *)(call + 1);
    uint64_t ns = call_ns(sift, record);
    if (call->result != 0 || alloc->id == 0) {
        record->verdict = gmt_sift_in_or(sift, ns, GMT_RING_DROPPED);
        return;
    }
    record->verdict = gmt_sift_in_or(sift, ns, GMT_RING_HOLDS);
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_MEMORY, &alloc->id, sizeof(alloc->id));
    size_t *place = record->type == GMT_REC_ALLOC ? &pair->first : &pair->second;
    if (*place != 0) {
        record->verdict = GMT_RING_DROPPED; /* the same record once more */
        return;
    }
    *place = i + 1;
}

static void take_range(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_user_range *range = record->data;
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_RANGE, &range->id, sizeof(range->id));
    if (range->end_ticks == 0) {
        record->verdict = GMT_RING_HOLDS;
        pair->first = i + 1;
        return;
    }
    bool is_whole = ((const char *)(range + 1))[0] !=
                    '\0'; /* it was not written while it was open */
    uint64_t end_ns = gmt_timebase_ns(sift->time, range->end_ticks);
    record->verdict = gmt_sift_in_or(sift, end_ns, is_whole ? GMT_RING_DROPPED : GMT_RING_HOLDS);
    pair->second = i + 1;
}

static void take_graph(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_graph *graph = record->data;
    uint64_t ns = gmt_timebase_ns(sift->time, graph->since_ticks);
    record->verdict = gmt_sift_in_or(sift, ns, GMT_RING_HOLDS);
    if (graph->id != 0) {
        gmt_sift_pair(sift, ABOUT_GRAPH, &graph->id, sizeof(graph->id))->first = i + 1;
    }
    if (ns >= sift->begin_ns) {
        return;
    }
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_HANDLE, &graph->handle,
                                           sizeof(graph->handle));
    size_t *place = graph->id != 0 ? &pair->first : &pair->second;
    const struct gmt_graph *before = *place != 0 ? gmt_sift_data(sift, *place) : NULL;
    if (before == NULL || before->since_ticks <= graph->since_ticks) {
        *place = i + 1;
    }
}

static void take_node(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_graph_node *node = record->data;
    uint64_t ns = gmt_timebase_ns(sift->time, node->since_ticks);
    record->verdict = gmt_sift_in_or(sift, ns, GMT_RING_HOLDS);
    if (ns < sift->begin_ns && (node->is_update != 0 || node->turned != 0)) {
        const uint64_t key[] = {node->graph, node->node, node->turned != 0};
        gmt_sift_keep_latest(sift, gmt_sift_pair(sift, ABOUT_NODE, key, sizeof(key)), i,
                             node->since_ticks, node_ticks);
    }
}

static void take_stream(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_stream *stream = record->data;
    const uint64_t key[] = {stream->handle, stream->context, stream->thread};
    record->verdict = gmt_sift_in_or(sift, side_ns(sift, record), GMT_RING_HOLDS);
    if (record->verdict == GMT_RING_HOLDS) {
        gmt_sift_keep_latest(sift, gmt_sift_pair(sift, ABOUT_STREAM, key, sizeof(key)), i,
                             stream->head.ticks, side_ticks);
    }
}

static void take_gap(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_device_gap *gap = record->data;
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_GAP, &gap->id, sizeof(gap->id));
    record->verdict = GMT_RING_HOLDS;
    *(gap->end_ns == 0 ? &pair->first : &pair->second) = i + 1;
}

static void take_named(struct sift *sift, size_t i, struct gmt_ring_record *record,
                       enum subject subject, const void *key, size_t bytes)
{
    record->verdict = GMT_RING_HOLDS;
    gmt_sift_keep_latest(sift, gmt_sift_pair(sift, subject, key, bytes), i,
                         side_ticks(record->data), side_ticks);
}

static void take_process(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    struct sift_pair *pair = gmt_sift_pair(sift, ABOUT_PROCESS, "", 0);
    record->verdict = pair->first == 0 ? GMT_RING_HOLDS : GMT_RING_DROPPED;
    pair->first = pair->first == 0 ? i + 1 : pair->first;
}

/* Of equal handles the latest; those of memory that is not known hold no longer than the window. */
static void take_export(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_export *exported = record->data;
    record->verdict = gmt_sift_in_or(sift, side_ns(sift, record),
                                     exported->alloc != 0 ? GMT_RING_HOLDS : GMT_RING_DROPPED);
    if (record->verdict == GMT_RING_HOLDS) {
        gmt_sift_keep_latest(
            sift, gmt_sift_pair(sift, ABOUT_EXPORT, &exported->hash, sizeof(exported->hash)), i,
            exported->head.ticks, side_ticks);
    }
}

static void take_launch(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_launch *launch = (const void *)((const struct gmt_call *)record->data + 1);
    record->verdict = gmt_sift_in_or(sift, call_ns(sift, record), GMT_RING_OUTSIDE);
    if (record->verdict == GMT_RING_IN) {
        gmt_sift_pair(sift, ABOUT_LAUNCH, &launch->launch_seq, sizeof(launch->launch_seq))->first =
            i + 1;
    }
}

/* What describes something, and holds for ever. A recorder that was killed between two steps leaves it
 * twice. */
static void take_other(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    uint64_t id = 0;
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES;
    int known = gmt_intern_id(&sift->keys, record->data, bytes, i, &id);
    sift->error = known < 0 ? known : sift->error;
    record->verdict = known == 1 ? GMT_RING_DROPPED : GMT_RING_HOLDS;
}

/* How much of a record is looked at here; one that is shorter goes to the ingest, which counts it. */
static size_t fixed_bytes(unsigned type)
{
    switch (type) {
    case GMT_REC_ALLOC:
    case GMT_REC_FREE:
    case GMT_REC_LAUNCH: return sizeof(struct gmt_call) + GMT_SLOT_BYTES;
    case GMT_REC_GRAPH_NODE: return sizeof(struct gmt_graph_node);
    case GMT_REC_DEVICE_OP: return sizeof(struct gmt_device_op);
    default: return GMT_SLOT_BYTES;
    }
}

static void take(struct sift *sift, size_t i)
{
    struct gmt_ring_record *record = &sift->content->records[i];
    const void *data = record->data;
    if ((size_t)record->slots * GMT_SLOT_BYTES < fixed_bytes(record->type)) {
        record->verdict = GMT_RING_IN;
        return;
    }
    switch (record->type) {
    case GMT_REC_NONE:
    case GMT_REC_COUNTERS: /* what launches have: when all of these are known */
    case GMT_REC_INSTRUCTION:
    case GMT_REC_SASS_INSTRUCTION:
    case GMT_REC_FOOTPRINT:
    case GMT_REC_RACE: record->verdict = GMT_RING_DROPPED; return;
    case GMT_REC_CALL:
    case GMT_REC_SYNC:
    case GMT_REC_ENCODE:
        record->verdict = gmt_sift_in_or(sift, call_ns(sift, record), GMT_RING_DROPPED);
        return;
    case GMT_REC_TRANSFER:
    case GMT_REC_MEMSET:
        record->verdict = gmt_sift_in_or(sift, call_ns(sift, record), GMT_RING_OUTSIDE);
        return;
    case GMT_REC_LAUNCH: take_launch(sift, i, record); return;
    case GMT_REC_ALLOC:
    case GMT_REC_FREE: take_memory(sift, i, record); return;
    case GMT_REC_RANGE: take_range(sift, i, record); return;
    case GMT_REC_HEAP:
    case GMT_REC_REGION: gmt_sift_take_region(sift, i, record); return;
    case GMT_REC_EXPORT: take_export(sift, i, record); return;
    case GMT_REC_GRAPH: take_graph(sift, i, record); return;
    case GMT_REC_GRAPH_NODE: take_node(sift, i, record); return;
    case GMT_REC_STREAM: take_stream(sift, i, record); return;
    case GMT_REC_DEVICE_GAP: take_gap(sift, i, record); return;
    case GMT_REC_PROCESS: take_process(sift, i, record); return;
    case GMT_REC_DEVICE:
        take_named(sift, i, record, ABOUT_DEVICE, &((const struct gmt_device *)data)->ordinal, 4);
        return;
    case GMT_REC_CAPABILITY: {
        const char *name = (const char *)data + sizeof(struct gmt_capability);
        size_t room = (size_t)record->slots * GMT_SLOT_BYTES - sizeof(struct gmt_capability);
        take_named(sift, i, record, ABOUT_CAPABILITY, name, strnlen(name, room));
        return;
    }
    case GMT_REC_LOSS:
        record->verdict = gmt_sift_in_or(sift, side_ns(sift, record), GMT_RING_DROPPED);
        return;
    case GMT_REC_OWN_TIME:
        record->verdict = gmt_sift_in_or(sift, ((const struct gmt_own_time *)data)->begin_ns,
                                         GMT_RING_DROPPED);
        return;
    case GMT_REC_OVERHEAD:
        record->verdict = gmt_sift_in_or(sift, ((const struct gmt_overhead *)data)->begin_ns,
                                         GMT_RING_DROPPED);
        return;
    case GMT_REC_MANAGED_OP:
        record->verdict = gmt_sift_in_or(sift, ((const struct gmt_managed_op *)data)->start_ns,
                                         GMT_RING_DROPPED);
        return;
    case GMT_REC_DEVICE_OP:
        record->verdict = gmt_sift_in_or(
            sift, ((const struct gmt_device_op *)data)->start_ns + GMT_RING_MARGIN_NS,
            GMT_RING_DROPPED);
        return;
    default: take_other(sift, i, record); return;
    }
}

/* ---- the second pass -------------------------------------------------------------------------- */

/* An executable graph that has ended, or was described anew, before the window. */
static bool is_past(struct sift *sift, const struct gmt_graph *graph, size_t *end)
{
    struct sift_pair *handle = gmt_sift_pair(sift, ABOUT_HANDLE, &graph->handle,
                                             sizeof(graph->handle));
    const struct gmt_graph *latest = handle->first != 0 ? gmt_sift_data(sift, handle->first) : NULL;
    *end = handle->second;
    if (*end != 0) {
        const struct gmt_graph *ended = gmt_sift_data(sift, *end);
        if (ended->since_ticks >= graph->since_ticks) {
            handle->is_needed = true; /* the end has met its graph */
            return true;
        }
    }
    return latest != NULL && latest->since_ticks > graph->since_ticks && latest->made != graph->id;
}

static void settle_graph(struct sift *sift, struct gmt_ring_record *record)
{
    const struct gmt_graph *graph = record->data;
    size_t end;
    if (graph->id != 0 && record->verdict == GMT_RING_HOLDS && is_past(sift, graph, &end)) {
        record->verdict = GMT_RING_DROPPED;
        gmt_sift_pair(sift, ABOUT_GRAPH, &graph->id, sizeof(graph->id))->is_needed =
            true; /* none of it */
    }
}

static void settle_graph_end(struct sift *sift, size_t i, struct gmt_ring_record *record)
{
    const struct gmt_graph *graph = record->data;
    if (graph->id == 0 && record->verdict == GMT_RING_HOLDS) {
        struct sift_pair *handle = gmt_sift_pair(sift, ABOUT_HANDLE, &graph->handle,
                                                 sizeof(graph->handle));
        if (handle->is_needed || handle->second != i + 1) {
            record->verdict = GMT_RING_DROPPED;
        }
    }
}

static void settle_node(struct sift *sift, struct gmt_ring_record *record)
{
    const struct gmt_graph_node *node = record->data;
    if (gmt_sift_pair(sift, ABOUT_GRAPH, &node->graph, sizeof(node->graph))->is_needed) {
        record->verdict = GMT_RING_DROPPED;
    }
}

/* The first of both says that something began, the second, before the window, that it ended. */
static void settle_pair(struct sift *sift, const struct sift_pair *pair)
{
    struct gmt_ring_record *second = pair->second != 0 ? &sift->content->records[pair->second - 1]
                                                       : NULL;
    if (pair->first != 0 && second != NULL && second->verdict == GMT_RING_HOLDS) {
        gmt_sift_drop(sift, pair->first);
        gmt_sift_drop(sift, pair->second);
    }
}

/* A handle is none when its memory was released. */
static void settle_export(struct sift *sift, struct gmt_ring_record *record)
{
    const struct gmt_export *exported = record->data;
    size_t freed =
        gmt_sift_pair(sift, ABOUT_MEMORY, &exported->alloc, sizeof(exported->alloc))->second;
    if (record->verdict == GMT_RING_HOLDS && freed != 0 &&
        sift->content->records[freed - 1].verdict != GMT_RING_IN) {
        record->verdict = GMT_RING_DROPPED;
    }
}

static void settle_gap(struct sift *sift, const struct sift_pair *pair)
{
    const struct gmt_device_gap *ended = pair->second != 0 ? gmt_sift_data(sift, pair->second)
                                                           : NULL;
    if (ended != NULL && ended->end_ns < sift->begin_ns) {
        gmt_sift_drop(sift, pair->first);
        gmt_sift_drop(sift, pair->second);
    }
}

static void settle(struct sift *sift, size_t i)
{
    struct gmt_ring_record *record = &sift->content->records[i];
    const void *data = record->data;
    if ((size_t)record->slots * GMT_SLOT_BYTES < fixed_bytes(record->type)) {
        return;
    }
    switch (record->type) {
    case GMT_REC_ALLOC: {
        uint32_t id =
            ((const struct gmt_alloc *)(const void *)((const struct gmt_call *)data + 1))->id;
        settle_pair(sift, gmt_sift_pair(sift, ABOUT_MEMORY, &id, sizeof(id)));
        return;
    }
    case GMT_REC_RANGE: {
        uint32_t id = ((const struct gmt_user_range *)data)->id;
        settle_pair(sift, gmt_sift_pair(sift, ABOUT_RANGE, &id, sizeof(id)));
        return;
    }
    case GMT_REC_HEAP:
    case GMT_REC_REGION: gmt_sift_settle_region(sift, record); return;
    case GMT_REC_EXPORT: settle_export(sift, record); return;
    case GMT_REC_DEVICE_GAP: {
        uint32_t id = ((const struct gmt_device_gap *)data)->id;
        settle_gap(sift, gmt_sift_pair(sift, ABOUT_GAP, &id, sizeof(id)));
        return;
    }
    case GMT_REC_GRAPH: settle_graph(sift, record); return;
    case GMT_REC_COUNTERS:
    case GMT_REC_INSTRUCTION:
    case GMT_REC_SASS_INSTRUCTION:
    case GMT_REC_FOOTPRINT:
    case GMT_REC_RACE: {
        uint32_t launch; /* the first member behind the head of all of them */
        memcpy(&launch, (const uint8_t *)data + sizeof(struct gmt_side_head), sizeof(launch));
        bool is_in = gmt_sift_pair(sift, ABOUT_LAUNCH, &launch, sizeof(launch))->first != 0;
        record->verdict = is_in ? GMT_RING_IN : GMT_RING_DROPPED;
        return;
    }
    default: return;
    }
}

int gmt_ring_sift(struct gmt_ring_content *content, struct gmt_timebase *time, uint64_t begin_ns)
{
    struct sift sift = {.content = content, .time = time, .begin_ns = begin_ns};
    for (size_t i = 0; i < content->count && sift.error == 0; i++) {
        take(&sift, i);
    }
    for (size_t i = 0; i < content->count && sift.error == 0; i++) {
        settle(&sift, i);
    }
    for (size_t i = 0; i < content->count && sift.error == 0; i++) {
        struct gmt_ring_record *record = &content->records[i];
        if (record->type == GMT_REC_GRAPH) {
            settle_graph_end(&sift, i, record);
        } else if (record->type == GMT_REC_GRAPH_NODE) {
            settle_node(&sift, record);
        } else if (record->type == GMT_REC_REGION) {
            gmt_sift_settle_name(&sift, record);
        }
    }
    gmt_intern_free(&sift.keys);
    free(sift.pairs);
    return sift.error;
}

uint64_t gmt_ring_last_ns(const struct gmt_ring_content *content, struct gmt_timebase *time)
{
    uint64_t last = 0;
    for (size_t i = 0; i < content->count; i++) {
        const struct gmt_ring_record *record = &content->records[i];
        bool is_call = record->type >= GMT_REC_CALL && record->type <= GMT_REC_ENCODE;
        uint64_t ticks = is_call ? ((const struct gmt_call *)record->data)->end_ticks
                                 : ((const struct gmt_side_head *)record->data)->ticks;
        last = ticks > last ? ticks : last;
    }
    return last != 0 ? gmt_timebase_ns(time, last) : 0;
}
