/* SPDX-License-Identifier: Apache-2.0 */
/* Follows copies, memsets, kernels and waits through a trace, and what device memory holds after each. */
#include "analyzer/memory/content.h"

#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/memory/content_events.h"
#include "analyzer/memory/content_scan.h"
#include "analyzer/trace/sharing.h"

bool gmt_content_is_round_trip(const struct gmt_timeline *timeline,
                               const struct gmt_copy_content *contents, size_t i)
{
    const struct gmt_copy_content *content = &contents[i];
    bool again = content->place == GMT_CONTENT_SAME &&
                 timeline->copies[content->before].direction == GMT_DIR_H2D;

    return content->trip == GMT_CONTENT_SAME && !again;
}

/* ---- buffers of the host ---------------------------------------------------------------------- */

static struct gmt_content_arrival *arrival_slot(const struct gmt_content_scan *scan,
                                                uint64_t address)
{
    size_t at = (size_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (at %= scan->arrival_slots;
         scan->arrivals[at].address != 0 && scan->arrivals[at].address != address;) {
        at = (at + 1) % scan->arrival_slots;
    }
    return &scan->arrivals[at];
}

static void hand_over(const struct gmt_content_scan *scan, struct gmt_content_pending *work,
                      int64_t stream)
{
    if (gmt_content_is_pending(scan, work) && work->stream != stream) {
        stream = -1;
    }
    *work = (struct gmt_content_pending){scan->serial, stream};
}

/* An asynchronous copy reads page-locked memory when its turn comes: unless nothing that was handed to
 * a stream before may still write there, its fingerprint is not that of what it carried. */
static void check_source(struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    const struct gmt_content_memory *memory = gmt_content_memory_find(scan, copy->src_allocation);

    if (copy->blocking || copy->host_class != GMT_MEM_PINNED) {
        return;
    }
    if (gmt_content_is_pending(scan, &scan->anything) ||
        (memory != NULL && gmt_content_is_pending(scan, &memory->writes))) {
        scan->contents[i].print.whole = -1;
        if (scan->contents[i].print.skipped == GMT_PRINT_OVER_BUDGET) {
            scan->contents[i].print.skipped = GMT_PRINT_ASYNCHRONOUS; /* no hash would be right */
        }
    }
}

/* ---- events ----------------------------------------------------------------------------------- */

static void waited(struct gmt_content_scan *scan, int64_t stream)
{
    if (stream < 0) {
        scan->wait_all = scan->serial;
    } else if (stream < GMT_CONTENT_STREAMS) {
        scan->wait[stream] = scan->serial;
    }
}

/* `bytes` < 0: of unknown extent. */
static void written(struct gmt_content_scan *scan, struct gmt_content_memory *memory,
                    uint64_t address, int64_t bytes, int64_t stream)
{
    int64_t offset = memory != NULL ? gmt_content_offset_in(memory, address) : -1;

    if (memory == NULL) {
        return;
    }
    memory->filled = true;
    hand_over(scan, &memory->writes, stream);
    if (offset >= 0 && bytes >= 0 && bytes <= GMT_CONTENT_MOST_BYTES) {
        gmt_content_ranges_forget(&memory->places, offset, bytes);
        gmt_content_ranges_forget(&memory->reads, offset, bytes);
    } else {
        memory->places.count = 0;
        memory->reads.count = 0;
    }
}

/* What is known from copy `i`; of a download without a fingerprint, that it read the place. Earlier writes of
 * another stream, unless they were waited for, may come later. */
static void remember(struct gmt_content_scan *scan, struct gmt_content_memory *memory,
                     uint64_t address, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    bool racing = gmt_content_is_pending(scan, &memory->writes) &&
                  memory->writes.stream != copy->call.stream;
    struct gmt_content_range place = {.offset = gmt_content_offset_in(memory, address),
                                      .bytes = copy->bytes,
                                      .copy = (int32_t)i,
                                      .doubt = racing ? GMT_DOUBT_STREAM : GMT_DOUBT_NONE,
                                      .serial = scan->serial};

    gmt_content_ranges_forget(&memory->reads, place.offset, place.bytes);
    bool hashed = copy->direction == GMT_DIR_H2D || scan->contents[i].print.whole >= 0;
    if (!gmt_content_ranges_remember(hashed ? &memory->places : &memory->reads, &place)) {
        scan->failed = true;
    }
    gmt_content_note_print(scan, i);
}

/* Whether upload `i` brings bytes back, as they were, to memory like that which they left, and at the same
 * place of it: the first bytes there, but for others of the same memory. */
static bool is_parked(const struct gmt_content_scan *scan, size_t i,
                      const struct gmt_content_memory *from, const struct gmt_content_range *place)
{
    const struct gmt_tl_copy *up = &scan->timeline->copies[i];
    const struct gmt_tl_copy *down = &scan->timeline->copies[scan->contents[i].source];
    const struct gmt_content_memory *to = gmt_content_memory_find(scan, up->dst_allocation);

    return to != NULL && to != from && !to->foreign && !to->filled &&
           (to->parked_from == 0 || to->parked_from == from->id) &&
           gmt_content_offset_in(to, up->dst) >= 0 &&
           gmt_content_offset_in(to, up->dst) == gmt_content_offset_in(from, down->src) &&
           gmt_content_doubt_of(scan, from, place) == GMT_DOUBT_NONE;
}

/* But for what they are, whether the bytes of `down` came back while they lay where it had read them. */
static bool is_open_trip(struct gmt_content_scan *scan, size_t i, int32_t down,
                         const struct gmt_content_memory *memory)
{
    const struct gmt_tl_copy *from = &scan->timeline->copies[down];
    const struct gmt_print *print = &scan->contents[down].print;
    struct gmt_copy_content *content = &scan->contents[i];

    if (!gmt_prints_lack_time(print, &content->print) || memory == NULL || memory->foreign ||
        gmt_content_offset_in(memory, from->src) < 0 ||
        memory->free_ns <= scan->timeline->copies[i].call.begin_ns) {
        return false;
    }
    const struct gmt_content_range *place = gmt_content_ranges_find(
        print->whole >= 0 ? &memory->places : &memory->reads,
        gmt_content_offset_in(memory, from->src), from->bytes);
    if (place == NULL || place->copy != down) {
        return false;
    }
    content->trip_doubt = gmt_content_doubt_of(scan, memory, place);
    return true;
}

/* The source was filled by a copy from a device: do the bytes still lie where that one read them? What
 * was freed or written over meanwhile was parked on the host: no round trip. */
static void check_trip(struct gmt_content_scan *scan, size_t i, int32_t down)
{
    const struct gmt_tl_copy *from = &scan->timeline->copies[down];
    struct gmt_copy_content *content = &scan->contents[i];
    struct gmt_content_memory *memory = gmt_content_memory_find(scan, from->src_allocation);

    content->source = down;
    content->trip = gmt_print_compare(&scan->contents[down].print, &content->print);
    if (content->trip != GMT_CONTENT_SAME) {
        content->trip_open = is_open_trip(scan, i, down, memory);
        return;
    }
    if (memory == NULL || memory->foreign || gmt_content_offset_in(memory, from->src) < 0) {
        content->trip_doubt = GMT_DOUBT_UNSEEN;
        return;
    }
    const struct gmt_content_range *place = gmt_content_ranges_find(
        &memory->places, gmt_content_offset_in(memory, from->src), from->bytes);
    bool there = place != NULL && gmt_print_compare(&scan->contents[place->copy].print,
                                                    &content->print) == GMT_CONTENT_SAME;
    bool freed = memory->free_ns <= scan->timeline->copies[i].call.begin_ns;
    content->parked = there && freed && is_parked(scan, i, memory, place);
    if (!there || freed) {
        content->trip = GMT_CONTENT_OTHER;
    } else {
        content->trip_doubt = gmt_content_doubt_of(scan, memory, place);
    }
}

static void upload(struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_copy_content *content = &scan->contents[i];
    struct gmt_content_memory *to = gmt_content_memory_find(scan, copy->dst_allocation);

    check_source(scan, i);
    const struct gmt_content_arrival *arrival = arrival_slot(scan, copy->src);
    if (copy->linear && copy->src != 0 && arrival->address != 0 && arrival->bytes == copy->bytes) {
        check_trip(scan, i, arrival->copy);
    }
    gmt_content_note_host(scan, i, copy->src);
    if (to == NULL || to->foreign) {
        return;
    }
    int64_t offset = gmt_content_offset_in(to, copy->dst);
    if (!copy->linear || offset < 0) {
        written(scan, to, copy->dst, -1, copy->call.stream);
        return;
    }
    const struct gmt_content_range *place = gmt_content_ranges_find(&to->places, offset,
                                                                    copy->bytes);
    if (place != NULL) {
        content->before = place->copy;
        content->place = gmt_print_compare(&scan->contents[place->copy].print, &content->print);
        content->place_doubt = gmt_content_doubt_of(scan, to, place);
    }
    if (content->place != GMT_CONTENT_SAME) {
        gmt_content_find_twin(scan, i);
    }
    if (content->parked) {
        to->parked_from = scan->timeline->copies[content->source].src_allocation;
    } else {
        to->filled = true;
    }
    remember(scan, to, copy->dst, i);
    if (!copy->blocking) {
        hand_over(scan, &to->writes, copy->call.stream);
    }
}

/* Does a copy to the host bring the bytes that its source is known to hold, from earlier copies? */
static void check_source_place(struct gmt_content_scan *scan, size_t i,
                               struct gmt_content_memory *from)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_copy_content *content = &scan->contents[i];
    const struct gmt_content_range *place = gmt_content_ranges_find(
        &from->places, gmt_content_offset_in(from, copy->src), copy->bytes);

    if (place == NULL || copy->bytes <= 0) {
        return;
    }
    content->before = place->copy;
    content->there = gmt_print_compare(&scan->contents[place->copy].print, &content->print);
    content->place_doubt = gmt_content_doubt_of(scan, from, place);
    if (content->place_doubt == GMT_DOUBT_NONE && gmt_content_is_pending(scan, &from->writes) &&
        from->writes.stream != copy->call.stream) {
        content->place_doubt = GMT_DOUBT_STREAM;
    }
    from->unseen |= content->place_doubt == GMT_DOUBT_NONE && content->there == GMT_CONTENT_OTHER;
    content->host = gmt_content_host_holds(scan, i);
}

static void download(struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_content_memory *from = gmt_content_memory_find(scan, copy->src_allocation);
    struct gmt_content_memory *host = gmt_content_memory_find(scan, copy->dst_allocation);

    if (!copy->blocking && host != NULL) {
        hand_over(scan, &host->writes, copy->call.stream);
    }
    if (copy->dst != 0) {
        struct gmt_content_arrival *arrival = arrival_slot(scan, copy->dst);

        *arrival = (struct gmt_content_arrival){copy->dst, copy->linear ? copy->bytes : -1,
                                                (int32_t)i};
    }
    if (from != NULL && !from->foreign && copy->linear &&
        gmt_content_offset_in(from, copy->src) >= 0) {
        check_source_place(scan, i, from);
    }
    gmt_content_note_host(scan, i, copy->dst);
    /* It shows what the place holds, whoever wrote it. */
    if (from != NULL && !from->foreign && copy->linear &&
        (scan->contents[i].print.whole >= 0 ||
         scan->contents[i].print.skipped == GMT_PRINT_OVER_BUDGET) &&
        gmt_content_offset_in(from, copy->src) >= 0) {
        remember(scan, from, copy->src, i);
    }
}

static void copied(struct gmt_content_scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];

    if (copy->direction == GMT_DIR_H2D) {
        upload(scan, i);
    } else if (copy->direction == GMT_DIR_D2H) {
        download(scan, i);
    } else {
        written(scan, gmt_content_memory_find(scan, copy->dst_allocation), copy->dst,
                copy->linear ? copy->bytes : -1, copy->call.stream);
    }
    if (copy->direction == GMT_DIR_H2H || copy->direction == GMT_DIR_UNKNOWN) {
        scan->host.count = 0;
    }
    if (copy->blocking) {
        waited(scan, copy->call.stream);
    }
}

static void doubt_behind(struct gmt_content_ranges *places, int64_t offset, enum gmt_write write,
                         int32_t doubt)
{
    size_t from = gmt_content_ranges_behind(places, offset);

    if (write == GMT_WRITE_YES) {
        places->count = from;
    }
    for (size_t i = from; i < places->count; i++) {
        places->rows[i].doubt = doubt;
    }
}

/* It is not known how far behind its pointer a kernel goes, but it does not go before it. */
static void launched_with(struct gmt_content_scan *scan, const struct gmt_tl_launch *launch,
                          const struct gmt_pointer_argument *argument)
{
    struct gmt_content_memory *memory = gmt_content_memory_find(scan, argument->allocation);
    enum gmt_write write = gmt_writers_ask(&scan->writers, launch->class_index, argument);

    if (memory == NULL || write == GMT_WRITE_NO) {
        return;
    }
    memory->filled = true;
    hand_over(scan, &memory->writes, launch->call.stream);
    int32_t doubt = launch->class_index >= 0 ? launch->class_index + 1 : GMT_DOUBT_ARGUMENTS;
    doubt_behind(&memory->places, argument->offset, write, doubt);
    doubt_behind(&memory->reads, argument->offset, write, doubt);
}

static void launched(struct gmt_content_scan *scan, const struct gmt_tl_launch *launch)
{
    size_t count = 0;
    const struct gmt_pointer_argument *arguments = gmt_writers_arguments(
        &scan->writers, launch->argument_set, &count);

    for (size_t i = 0; launch->argument_set > 0 && i < count; i++) {
        launched_with(scan, launch, &arguments[i]);
    }
    if (!launch->arguments_complete || launch->class_index < 0 ||
        scan->writers.classes[launch->class_index].open_ended) {
        scan->unknown = scan->serial;
        scan->unknown_doubt = GMT_DOUBT_ARGUMENTS;
        hand_over(scan, &scan->anything, launch->call.stream);
    }
}

static void filled(struct gmt_content_scan *scan, const struct gmt_content_event *event)
{
    struct gmt_content_memory *memory = gmt_content_memory_find(scan, event->allocation);

    written(scan, memory, event->address, event->bytes, event->stream);
    if (memory == NULL || memory->host) {
        scan->host.count = 0;
    }
}

static void on_event(void *data, const struct gmt_content_event *event)
{
    struct gmt_content_scan *scan = data;

    scan->serial++;
    switch (event->kind) {
    case GMT_EVENT_COPY: copied(scan, event->index); break;
    case GMT_EVENT_LAUNCH: launched(scan, &scan->timeline->launches[event->index]); break;
    case GMT_EVENT_WAIT: waited(scan, event->stream); break;
    case GMT_EVENT_HOST_WORK: hand_over(scan, &scan->anything, event->stream); break;
    case GMT_EVENT_SHARED: scan->shared = true; break;
    case GMT_EVENT_UNSEEN:
        scan->unknown = scan->serial;
        scan->unknown_doubt = GMT_DOUBT_UNSEEN;
        break;
    case GMT_EVENT_VALUE:
        scan->unknown = scan->serial;
        scan->unknown_doubt = GMT_DOUBT_VALUE;
        break;
    case GMT_EVENT_MEMSET: filled(scan, event); break;
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

static struct gmt_content_memory memory_of(const struct gmt_tl_allocation *allocation)
{
    return (struct gmt_content_memory){
        .id = allocation->call.id,
        .address = allocation->address,
        .free_ns = allocation->free_begin_ns != GMT_NO_TIME ? allocation->free_begin_ns : INT64_MAX,
        /* managed, another process's, another API's */
        .foreign = allocation->kind == GMT_ALLOC_MANAGED ||
                   gmt_sharing_is_foreign(allocation->kind),
    };
}

static int begin(struct gmt_content_scan *scan)
{
    const struct gmt_timeline *tl = scan->timeline;
    struct gmt_host_memory *host = NULL;
    size_t host_count = 0;
    int rc = gmt_content_host_memory(tl, &host, &host_count);

    scan->memories = calloc(tl->allocation_count + host_count + 1, sizeof(*scan->memories));
    scan->arrival_slots = 2 * tl->copy_count + 1;
    scan->arrivals = calloc(scan->arrival_slots, sizeof(*scan->arrivals));
    scan->prints = calloc(scan->arrival_slots, sizeof(*scan->prints));
    if (rc == 0 && scan->memories != NULL) {
        for (size_t i = 0; i < tl->allocation_count; i++) {
            scan->memories[scan->memory_count++] = memory_of(&tl->allocations[i]);
        }
        for (size_t i = 0; i < host_count; i++) {
            scan->memories[scan->memory_count++] = (struct gmt_content_memory){
                .id = host[i].id,
                .address = host[i].address,
                .free_ns = host[i].free_ns != GMT_NO_TIME ? host[i].free_ns : INT64_MAX,
                .host = true};
        }
        gmt_content_memories_sort(scan);
    }
    free(host);
    for (size_t i = 0; scan->contents != NULL && i < tl->copy_count; i++) {
        scan->contents[i] = (struct gmt_copy_content){
            .print = {.whole = -1}, .before = -1, .source = -1, .twin = -1};
    }
    if (rc == 0 && scan->contents != NULL) {
        rc = gmt_content_prints(tl, scan->contents);
    }
    if (rc == 0) {
        rc = gmt_writers_load(&scan->writers, tl);
    }
    for (size_t i = 0; rc == 0 && i < scan->writers.argument_count; i++) {
        struct gmt_content_memory *memory = gmt_content_memory_find(
            scan, scan->writers.arguments[i].allocation);

        if (memory != NULL) {
            memory->handed = true;
        }
    }
    return scan->memories == NULL || scan->arrivals == NULL || scan->prints == NULL ||
                   scan->contents == NULL
               ? -1
               : rc;
}

/* Memory that is written by more than recorded calls may have changed since the last copy. */
static void doubt_unseen(struct gmt_content_scan *scan)
{
    const struct gmt_timeline *tl = scan->timeline;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_content_memory *from = tl->copies[i].direction == GMT_DIR_D2H
                                                    ? gmt_content_memory_find(
                                                          scan, tl->copies[i].src_allocation)
                                                    : NULL;

        if (from != NULL && from->unseen && scan->contents[i].place_doubt == GMT_DOUBT_NONE) {
            scan->contents[i].place_doubt = GMT_DOUBT_INDIRECT;
        }
    }
}

struct gmt_copy_content *gmt_contents_find(const struct gmt_timeline *timeline)
{
    struct gmt_content_scan scan = {.timeline = timeline};

    scan.contents = calloc(timeline->copy_count + 1, sizeof(*scan.contents));
    int rc = begin(&scan);
    if (rc == 0) {
        rc = gmt_content_events(timeline, on_event, &scan);
    }
    if (rc == 0) {
        doubt_unseen(&scan);
    }
    free(scan.host.rows);
    for (size_t i = 0; i < scan.memory_count; i++) {
        free(scan.memories[i].places.rows);
        free(scan.memories[i].reads.rows);
    }
    gmt_writers_free(&scan.writers);
    free(scan.memories);
    free(scan.arrivals);
    free(scan.prints);
    if (rc != 0 || scan.failed) {
        free(scan.contents);
        return NULL;
    }
    return scan.contents;
}
