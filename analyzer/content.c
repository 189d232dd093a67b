/* SPDX-License-Identifier: Apache-2.0 */
/* Follows copies, memsets, kernels and waits through a trace, and what device memory holds after each. */
#include "analyzer/content.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/content_events.h"
#include "analyzer/thresholds.h"

/* A range of an allocation, told by one copy. */
struct place {
    int64_t offset, bytes;
    int32_t copy; /* that filled or read it */
    int32_t doubt_class;
    bool doubtful;
    int64_t serial; /* of the event that told */
};

/* What a buffer of the host was last filled with by a copy from a device. */
struct arrival {
    uint64_t address;
    int64_t bytes;
    int32_t copy;
};

struct memory {
    int64_t id;
    uint64_t address;
    struct place *places; /* disjoint, by offset */
    size_t count, capacity;
    /* Page-locked memory: the last work handed to a stream that may write to it. */
    int64_t pending_serial, pending_stream;
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
    int64_t unknown, unknown_stream;             /* the last launch of unknown arguments */
    bool failed;
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

/* ---- places ----------------------------------------------------------------------------------- */

/* Index of the first place that ends behind `offset`. */
static size_t first_behind(const struct memory *memory, int64_t offset)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->places[middle].offset + memory->places[middle].bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct place *find_place(struct memory *memory, int64_t offset, int64_t bytes)
{
    size_t at = first_behind(memory, offset);

    return at < memory->count && memory->places[at].offset == offset &&
                   memory->places[at].bytes == bytes
               ? &memory->places[at]
               : NULL;
}

/* Nothing is known of [offset, offset + bytes) any more. */
static void forget(struct memory *memory, int64_t offset, int64_t bytes)
{
    size_t from = first_behind(memory, offset), to = from;

    while (to < memory->count && memory->places[to].offset < offset + bytes)
        to++;
    memmove(memory->places + from, memory->places + to,
            (memory->count - to) * sizeof(*memory->places));
    memory->count -= to - from;
}

static void remember(struct scan *scan, struct memory *memory, int64_t offset, int64_t bytes,
                     int32_t copy)
{
    forget(memory, offset, bytes);
    if (memory->count == GMT_CONTENT_PLACES)
        memory->count =
            0; /* pieces of a pool: what is not looked up soon is not worth the search */
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity != 0 ? 2 * memory->capacity : 4;
        struct place *places = realloc(memory->places, capacity * sizeof(*places));

        if (places == NULL) {
            scan->failed = true;
            return;
        }
        memory->places = places;
        memory->capacity = capacity;
    }
    size_t at = first_behind(memory, offset);
    memmove(memory->places + at + 1, memory->places + at,
            (memory->count - at) * sizeof(*memory->places));
    memory->places[at] = (struct place){offset, bytes, copy, -1, false, scan->serial};
    memory->count++;
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

/* May work of `stream`, handed to it by event `serial`, still be under way? */
static bool is_pending(const struct scan *scan, int64_t serial, int64_t stream)
{
    bool known = stream >= 0 && stream < GMT_CONTENT_STREAMS;

    return serial > scan->wait_all && (!known || serial > scan->wait[stream]);
}

/* An asynchronous copy reads page-locked memory when its turn comes: unless nothing that was handed to
 * a stream before may still write there, its fingerprint is not that of what it carried. */
static void check_source(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    const struct memory *memory = find_memory(scan, copy->src_allocation);

    if (copy->blocking || copy->host_class != GMT_CLASS_PINNED)
        return;
    if (is_pending(scan, scan->unknown, scan->unknown_stream) ||
        (memory != NULL && is_pending(scan, memory->pending_serial, memory->pending_stream)))
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

static void may_write(const struct scan *scan, struct memory *memory, int64_t stream)
{
    memory->pending_serial = scan->serial;
    memory->pending_stream = stream;
}

/* Where in an allocation an address lies; -1: not there, whatever a damaged trace says. */
static int64_t offset_in(const struct memory *memory, uint64_t address)
{
    uint64_t offset = address - memory->address;

    return memory->address != 0 && offset <= GMT_CONTENT_MOST_BYTES ? (int64_t)offset : -1;
}

/* `bytes` < 0: of unknown extent. */
static void written(struct memory *memory, uint64_t address, int64_t bytes)
{
    int64_t offset = memory != NULL ? offset_in(memory, address) : -1;

    if (memory == NULL)
        return;
    if (offset >= 0 && bytes >= 0 && bytes <= GMT_CONTENT_MOST_BYTES)
        forget(memory, offset, bytes);
    else
        memory->count = 0;
}

static void upload(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct gmt_copy_content *content = &scan->contents[i];
    struct memory *to = find_memory(scan, copy->dst_allocation);

    check_source(scan, i);
    const struct arrival *arrival = arrival_slot(scan, copy->src);
    if (copy->linear && copy->src != 0 && arrival->address != 0 && arrival->bytes == copy->bytes) {
        content->source = arrival->copy;
        content->trip = gmt_print_compare(&scan->contents[arrival->copy].print, &content->print);
    }
    if (to == NULL)
        return;
    int64_t offset = offset_in(to, copy->dst);
    if (!copy->linear || offset < 0) {
        to->count = 0;
        return;
    }
    const struct place *place = find_place(to, offset, copy->bytes);
    if (place != NULL) {
        content->before = place->copy;
        content->place = gmt_print_compare(&scan->contents[place->copy].print, &content->print);
        content->doubtful = place->doubtful || place->serial < scan->unknown;
        content->doubt_class = place->serial < scan->unknown ? -1 : place->doubt_class;
    }
    remember(scan, to, offset, copy->bytes, (int32_t)i);
}

static void download(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];
    struct memory *from = find_memory(scan, copy->src_allocation);
    struct memory *host = find_memory(scan, copy->dst_allocation);

    if (!copy->blocking && host != NULL)
        may_write(scan, host, copy->call.stream);
    if (copy->dst != 0) {
        struct arrival *arrival = arrival_slot(scan, copy->dst);

        *arrival = (struct arrival){copy->dst, copy->linear ? copy->bytes : -1, (int32_t)i};
    }
    /* It tells what the place holds, whoever wrote it. */
    if (from != NULL && copy->linear && scan->contents[i].print.whole >= 0 &&
        offset_in(from, copy->src) >= 0)
        remember(scan, from, offset_in(from, copy->src), copy->bytes, (int32_t)i);
}

static void copied(struct scan *scan, size_t i)
{
    const struct gmt_tl_copy *copy = &scan->timeline->copies[i];

    if (copy->direction == GMT_COPY_H2D)
        upload(scan, i);
    else if (copy->direction == GMT_COPY_D2H)
        download(scan, i);
    else
        written(find_memory(scan, copy->dst_allocation), copy->dst,
                copy->linear ? copy->bytes : -1);
    if (copy->blocking)
        waited(scan, copy->call.stream);
}

/* Nothing tells how far behind its pointer a kernel goes, but it does not go before it. */
static void launched_with(struct scan *scan, const struct gmt_tl_launch *launch,
                          const struct gmt_argument *argument)
{
    struct memory *memory = find_memory(scan, argument->allocation);

    if (memory == NULL)
        return;
    may_write(scan, memory, launch->call.stream);
    if (memory->count == 0)
        return;
    enum gmt_write write = gmt_writers_ask(&scan->writers, launch->class_index, argument);
    size_t from = first_behind(memory, argument->offset);
    if (write == GMT_WRITE_YES)
        memory->count = from;
    for (size_t i = from; write == GMT_WRITE_MAYBE && i < memory->count; i++) {
        memory->places[i].doubtful = true;
        memory->places[i].doubt_class = launch->class_index;
    }
}

static void launched(struct scan *scan, const struct gmt_tl_launch *launch)
{
    size_t count = 0;
    const struct gmt_argument *arguments = gmt_writers_arguments(&scan->writers,
                                                                 launch->argument_set, &count);

    for (size_t i = 0; launch->argument_set > 0 && i < count; i++)
        launched_with(scan, launch, &arguments[i]);
    if (!launch->arguments_complete) {
        scan->unknown = scan->serial;
        scan->unknown_stream = launch->call.stream;
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
    case GMT_EVENT_MEMSET:
        written(find_memory(scan, event->allocation), event->address, event->bytes);
        break;
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

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
            scan->memories[scan->memory_count++] = (struct memory){
                .id = tl->allocations[i].call.id, .address = tl->allocations[i].address};
        for (size_t i = 0; i < host_count; i++)
            scan->memories[scan->memory_count++] = (struct memory){.id = host[i].id,
                                                                   .address = host[i].address};
        qsort(scan->memories, scan->memory_count, sizeof(*scan->memories), compare_memories);
    }
    free(host);
    for (size_t i = 0; scan->contents != NULL && i < tl->copy_count; i++)
        scan->contents[i] = (struct gmt_copy_content){
            .print = {.whole = -1}, .before = -1, .source = -1, .doubt_class = -1};
    if (rc == 0 && scan->contents != NULL)
        rc = gmt_content_prints(tl, scan->contents);
    if (rc == 0)
        rc = gmt_writers_load(&scan->writers, tl);
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
        free(scan.memories[i].places);
    gmt_writers_free(&scan.writers);
    free(scan.memories);
    free(scan.arrivals);
    if (rc != 0 || scan.failed) {
        free(scan.contents);
        return NULL;
    }
    return scan.contents;
}
