/* SPDX-License-Identifier: Apache-2.0 */
/* Follows copies, memsets, kernels and waits through a trace, and what device memory holds after each. */
#include "analyzer/content.h"

#include <stdlib.h>

#include "analyzer/content_events.h"
#include "analyzer/content_places.h"
#include "analyzer/thresholds.h"

/* What a buffer of the host was last filled with by a copy from a device. */
struct arrival {
    uint64_t address;
    int64_t bytes;
    int32_t copy;
};

/* Work handed to a stream that nobody is known to have waited for. */
struct pending {
    int64_t serial, stream; /* serial 0: none; stream -1: of several */
};

struct memory {
    int64_t id;
    uint64_t address;
    int64_t free_ns;
    struct gmt_places places;
    struct pending writes; /* the last ones */
    bool foreign;          /* others write to it, too */
    bool handed;           /* some launch gets a pointer into it */
};

struct scan {
    const struct gmt_timeline *timeline;
    struct gmt_copy_content *contents;
    struct gmt_writers writers;
    struct memory *memories; /* by id */
    size_t memory_count;
    struct arrival *arrivals; /* hashed by address */
    size_t arrival_slots;
    int64_t serial;                              /* number of the event; never 0 */
    int64_t wait_all, wait[GMT_CONTENT_STREAMS]; /* the last ones */
    struct pending anything; /* launches of unknown arguments, and work of the host in streams */
    int64_t unknown;         /* the last event that may have written anywhere */
    int32_t unknown_doubt;   /* and what it was */
    bool shared, failed;
};

static int compare_memories(const void *a, const void *b)
{
    const struct memory *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct memory *find_memory(const struct scan *scan, int64_t id)
{
    struct memory key = {.id = id};

    return id <= 0 || scan->memory_count == 0
               ? NULL
               : bsearch(&key, scan->memories, scan->memory_count, sizeof(key), compare_memories);
}

enum gmt_content_known gmt_print_compare(const struct gmt_print *a, const struct gmt_print *b)
{
    if (a->whole < 0 || b->whole < 0 || a->whole != b->whole || a->bytes_hashed != b->bytes_hashed)
        return GMT_CONTENT_UNKNOWN;
    return a->high == b->high && a->low == b->low ? GMT_CONTENT_SAME : GMT_CONTENT_OTHER;
}

bool gmt_content_is_round_trip(const struct gmt_timeline *timeline,
                               const struct gmt_copy_content *contents, size_t i)
{
    const struct gmt_copy_content *content = &contents[i];
    bool again = content->place == GMT_CONTENT_SAME &&
                 timeline->copies[content->before].direction == GMT_COPY_H2D;

    return content->trip == GMT_CONTENT_SAME && !again;
}

/* ---- buffers of the host ---------------------------------------------------------------------- */

static struct arrival *arrival_slot(const struct scan *scan, uint64_t address)
{
    size_t at = (size_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (at %= scan->arrival_slots;
         scan->arrivals[at].address != 0 && scan->arrivals[at].address != address;)
        at = (at + 1) % scan->arrival_slots;
    return &scan->arrivals[at];
}

static bool is_pending(const struct scan *scan, const struct pending *work)
{
    bool known = work->stream >= 0 && work->stream < GMT_CONTENT_STREAMS;

    return work->serial > scan->wait_all && (!known || work->serial > scan->wait[work->stream]);
}

static void hand_over(const struct scan *scan, struct pending *work, int64_t stream)
{
    if (is_pending(scan, work) && work->stream != stream)
        stream = -1;
    *work = (struct pending){scan->serial, stream};
}

/* An asynchronous copy reads page-locked memory when its turn comes: unless nothing that was handed to
 * a stream before may still write there, its fingerprint is not that of what it carried. */
static void check_source(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    const struct memory *memory = find_memory(scan, copy->src_allocation);

    if (copy->blocking || copy->host_class != GMT_CLASS_PINNED)
        return;
    if (is_pending(scan, &scan->anything) || (memory != NULL && is_pending(scan, &memory->writes)))
        scan->contents[i].print.whole = -1;
}

/* ---- events ----------------------------------------------------------------------------------- */

static void waited(struct scan *scan, int64_t stream)
{
    if (stream < 0)
        scan->wait_all = scan->serial;
    else if (stream < GMT_CONTENT_STREAMS)
        scan->wait[stream] = scan->serial;
}

/* Where in an allocation an address lies; -1: not there, whatever a damaged trace says. */
static int64_t offset_in(const struct memory *memory, uint64_t address)
{
    uint64_t offset = address - memory->address;

    return memory->address != 0 && offset <= GMT_CONTENT_MOST_BYTES ? (int64_t)offset : -1;
}

/* `bytes` < 0: of unknown extent. */
static void written(struct scan *scan, struct memory *memory, uint64_t address, int64_t bytes,
                    int64_t stream)
{
    int64_t offset = memory != NULL ? offset_in(memory, address) : -1;

    if (memory == NULL)
        return;
    hand_over(scan, &memory->writes, stream);
    if (offset >= 0 && bytes >= 0 && bytes <= GMT_CONTENT_MOST_BYTES)
        gmt_places_forget(&memory->places, offset, bytes);
    else
        memory->places.count = 0;
}

/* What may have written there since the place was told. */
static int32_t doubt_of(const struct scan *scan, const struct memory *memory,
                        const struct gmt_place *place)
{
    if (scan->shared)
        return GMT_DOUBT_SHARED;
    if (place->serial < scan->unknown)
        return scan->unknown_doubt;
    if (place->doubt == GMT_DOUBT_NONE && !memory->handed && scan->timeline->launch_count > 0)
        return GMT_DOUBT_INDIRECT;
    return place->doubt;
}

/* What copy `i` told. Earlier writes of another stream, unless they were waited for, may come later. */
static void remember(struct scan *scan, struct memory *memory, uint64_t address, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    bool racing = is_pending(scan, &memory->writes) && memory->writes.stream != copy->call.stream;
    struct gmt_place place = {.offset = offset_in(memory, address),
                              .bytes = copy->bytes,
                              .copy = (int32_t)i,
                              .doubt = racing ? GMT_DOUBT_STREAM : GMT_DOUBT_NONE,
                              .serial = scan->serial};

    if (!gmt_places_remember(&memory->places, &place))
        scan->failed = true;
}

/* The source was filled by a copy from a device: do the bytes still lie where that one read them? What
 * was freed or written over meanwhile was parked on the host: no round trip. */
static void check_trip(struct scan *scan, size_t i, int32_t down)
{
    const struct gmt_tl_copy *from = &scan->timeline->copies[down];
    struct gmt_copy_content *content = &scan->contents[i];
    struct memory *memory = find_memory(scan, from->src_allocation);

    content->source = down;
    content->trip = gmt_print_compare(&scan->contents[down].print, &content->print);
    if (content->trip != GMT_CONTENT_SAME)
        return;
    if (memory == NULL || memory->foreign || offset_in(memory, from->src) < 0) {
        content->trip_doubt = GMT_DOUBT_UNSEEN;
        return;
    }
    const struct gmt_place *place = gmt_places_find(&memory->places, offset_in(memory, from->src),
                                                    from->bytes);
    if (place == NULL || memory->free_ns <= scan->timeline->copies[i].call.begin_ns ||
        gmt_print_compare(&scan->contents[place->copy].print, &content->print) != GMT_CONTENT_SAME)
        content->trip = GMT_CONTENT_OTHER;
    else
        content->trip_doubt = doubt_of(scan, memory, place);
}

static void upload(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_copy_content *content = &scan->contents[i];
    struct memory *to = find_memory(scan, copy->dst_allocation);

    check_source(scan, i);
    const struct arrival *arrival = arrival_slot(scan, copy->src);
    if (copy->linear && copy->src != 0 && arrival->address != 0 && arrival->bytes == copy->bytes)
        check_trip(scan, i, arrival->copy);
    if (to == NULL || to->foreign)
        return;
    int64_t offset = offset_in(to, copy->dst);
    if (!copy->linear || offset < 0) {
        written(scan, to, copy->dst, -1, copy->call.stream);
        return;
    }
    const struct gmt_place *place = gmt_places_find(&to->places, offset, copy->bytes);
    if (place != NULL) {
        content->before = place->copy;
        content->place = gmt_print_compare(&scan->contents[place->copy].print, &content->print);
        content->place_doubt = doubt_of(scan, to, place);
    }
    remember(scan, to, copy->dst, i);
    if (!copy->blocking)
        hand_over(scan, &to->writes, copy->call.stream);
}

static void download(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct memory *from = find_memory(scan, copy->src_allocation);
    struct memory *host = find_memory(scan, copy->dst_allocation);

    if (!copy->blocking && host != NULL)
        hand_over(scan, &host->writes, copy->call.stream);
    if (copy->dst != 0) {
        struct arrival *arrival = arrival_slot(scan, copy->dst);

        *arrival = (struct arrival){copy->dst, copy->linear ? copy->bytes : -1, (int32_t)i};
    }
    /* It tells what the place holds, whoever wrote it. */
    if (from != NULL && !from->foreign && copy->linear && scan->contents[i].print.whole >= 0 &&
        offset_in(from, copy->src) >= 0)
        remember(scan, from, copy->src, i);
}

static void copied(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];

    if (copy->direction == GMT_COPY_H2D)
        upload(scan, i);
    else if (copy->direction == GMT_COPY_D2H)
        download(scan, i);
    else
        written(scan, find_memory(scan, copy->dst_allocation), copy->dst,
                copy->linear ? copy->bytes : -1, copy->call.stream);
    if (copy->blocking)
        waited(scan, copy->call.stream);
}

/* Nothing tells how far behind its pointer a kernel goes, but it does not go before it. */
static void launched_with(struct scan *scan, const struct gmt_tl_launch *launch,
                          const struct gmt_pointer_argument *argument)
{
    struct memory *memory = find_memory(scan, argument->allocation);
    enum gmt_write write = gmt_writers_ask(&scan->writers, launch->class_index, argument);

    if (memory == NULL || write == GMT_WRITE_NO)
        return;
    hand_over(scan, &memory->writes, launch->call.stream);
    size_t from = gmt_places_behind(&memory->places, argument->offset);
    if (write == GMT_WRITE_YES)
        memory->places.count = from;
    for (size_t i = from; i < memory->places.count; i++)
        memory->places.rows[i].doubt = launch->class_index >= 0 ? launch->class_index + 1
                                                                : GMT_DOUBT_ARGUMENTS;
}

static void launched(struct scan *scan, const struct gmt_tl_launch *launch)
{
    size_t count = 0;
    const struct gmt_pointer_argument *arguments = gmt_writers_arguments(
        &scan->writers, launch->argument_set, &count);

    for (size_t i = 0; launch->argument_set > 0 && i < count; i++)
        launched_with(scan, launch, &arguments[i]);
    if (!launch->arguments_complete || launch->class_index < 0 ||
        scan->writers.classes[launch->class_index].open_ended) {
        scan->unknown = scan->serial;
        scan->unknown_doubt = GMT_DOUBT_ARGUMENTS;
        hand_over(scan, &scan->anything, launch->call.stream);
    }
}

static void on_event(void *data, const struct gmt_content_event *event)
{
    struct scan *scan = data;

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
    case GMT_EVENT_MEMSET:
        written(scan, find_memory(scan, event->allocation), event->address, event->bytes,
                event->stream);
        break;
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

static struct memory memory_of(const struct gmt_tl_allocation *allocation)
{
    return (struct memory){
        .id = allocation->call.id,
        .address = allocation->address,
        .free_ns = allocation->free_begin_ns != GMT_NO_TIME ? allocation->free_begin_ns : INT64_MAX,
        /* managed, another process's, another API's */
        .foreign = allocation->kind == 'm' || allocation->kind == 'i' || allocation->kind == 'x',
    };
}

static int begin(struct scan *scan)
{
    const struct gmt_timeline *tl = scan->timeline;
    struct gmt_host_memory *host = NULL;
    size_t host_count = 0;
    int rc = gmt_content_host_memory(tl, &host, &host_count);

    scan->memories = calloc(tl->allocation_count + host_count + 1, sizeof(*scan->memories));
    scan->arrival_slots = 2 * tl->copy_count + 1;
    scan->arrivals = calloc(scan->arrival_slots, sizeof(*scan->arrivals));
    if (rc == 0 && scan->memories != NULL) {
        for (size_t i = 0; i < tl->allocation_count; i++)
            scan->memories[scan->memory_count++] = memory_of(&tl->allocations[i]);
        for (size_t i = 0; i < host_count; i++)
            scan->memories[scan->memory_count++] = (struct memory){
                .id = host[i].id, .address = host[i].address, .free_ns = INT64_MAX};
        qsort(scan->memories, scan->memory_count, sizeof(*scan->memories), compare_memories);
    }
    free(host);
    for (size_t i = 0; scan->contents != NULL && i < tl->copy_count; i++)
        scan->contents[i] = (struct gmt_copy_content){
            .print = {.whole = -1}, .before = -1, .source = -1};
    if (rc == 0 && scan->contents != NULL)
        rc = gmt_content_prints(tl, scan->contents);
    if (rc == 0)
        rc = gmt_writers_load(&scan->writers, tl);
    for (size_t i = 0; rc == 0 && i < scan->writers.argument_count; i++) {
        struct memory *memory = find_memory(scan, scan->writers.arguments[i].allocation);

        if (memory != NULL)
            memory->handed = true;
    }
    return scan->memories == NULL || scan->arrivals == NULL || scan->contents == NULL ? -1 : rc;
}

struct gmt_copy_content *gmt_contents_find(const struct gmt_timeline *timeline)
{
    struct scan scan = {.timeline = timeline};

    scan.contents = calloc(timeline->copy_count + 1, sizeof(*scan.contents));
    int rc = begin(&scan);
    if (rc == 0)
        rc = gmt_content_events(timeline, on_event, &scan);
    for (size_t i = 0; i < scan.memory_count; i++)
        free(scan.memories[i].places.rows);
    gmt_writers_free(&scan.writers);
    free(scan.memories);
    free(scan.arrivals);
    if (rc != 0 || scan.failed) {
        free(scan.contents);
        return NULL;
    }
    return scan.contents;
}
