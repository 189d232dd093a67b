/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a memory snapshot: from the plain data of a pickle to checked records. */
#include "analyzer/snapshot/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/snapshot/pickle.h"

/* No address or size of a GPU is beyond; sums of sizes stay below 63 bits. */
#define MOST_ADDRESS (INT64_C(1) << 57)
#define MOST_SIZE (INT64_C(1) << 39)

static int complain(struct gmt_snapshot_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int complain(struct gmt_snapshot_reader *r, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(r->message, r->message_bytes, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/* A whole number of a record; `fallback` where it has no such key. */
static int64_t integer_or(const struct gmt_snapshot_reader *r,
                          const struct gmt_pickle_value *record, const char *key, int64_t fallback)
{
    const struct gmt_pickle_value *value = gmt_pickle_get(r->pickle, record, key);

    return value != NULL && value->type == GMT_PICKLE_INTEGER ? value->integer : fallback;
}

/* false: the record has none, or it can be none. */
static bool address(const struct gmt_snapshot_reader *r, const struct gmt_pickle_value *record,
                    const char *key, uint64_t *value)
{
    int64_t integer = integer_or(r, record, key, -1);

    *value = (uint64_t)integer;
    return integer >= 0 && integer <= MOST_ADDRESS;
}

static bool size(const struct gmt_snapshot_reader *r, const struct gmt_pickle_value *record,
                 const char *key, uint64_t *value)
{
    return address(r, record, key, value) && *value <= (uint64_t)MOST_SIZE;
}

/* ---- segments ------------------------------------------------------------------------------------ */

static int read_state(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *record,
                      uint8_t *state)
{
    static const struct {
        const char *name;
        uint8_t state;
    } states[] = {{"active_allocated", GMT_BLOCK_ACTIVE},
                  {"inactive", GMT_BLOCK_INACTIVE},
                  {"active_pending_free", GMT_BLOCK_PENDING},
                  {"active_awaiting_free", GMT_BLOCK_PENDING}};
    const struct gmt_pickle_value *value = gmt_pickle_get(r->pickle, record, "state");

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (gmt_pickle_is_text(value, states[i].name)) {
            *state = states[i].state;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_blocks(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *blocks,
                       size_t number, struct gmt_snapshot_segment *segment)
{
    struct gmt_torch_snapshot *s = r->snapshot;
    uint64_t at = segment->address;

    segment->first_block = s->block_count;
    segment->block_count = gmt_pickle_length(blocks);
    for (size_t i = 0; i < segment->block_count; i++) {
        const struct gmt_pickle_value *record = gmt_pickle_item(r->pickle, blocks, i);
        struct gmt_snapshot_block *block = &s->blocks[s->block_count];

        *block = (struct gmt_snapshot_block){.address = at};
        if (!size(r, record, "size", &block->size) || read_state(r, record, &block->state) != 0) {
            return complain(r, "segments[%zu].blocks[%zu] has no size or no state", number, i);
        }
        if (block->state != GMT_BLOCK_INACTIVE) {
            if (!size(r, record, "requested_size", &block->requested) ||
                block->requested > block->size) {
                block->requested = block->size; /* versions before 2.1 have none */
            }
            block->place = gmt_snapshot_place(r, record);
        } else {
            block->place = GMT_SNAPSHOT_NO_PLACE;
        }
        if (block->size > segment->size - (at - segment->address)) {
            return complain(r, "the blocks of segments[%zu] are larger than it", number);
        }
        at += block->size;
        s->block_count++;
    }
    if (at != segment->address + segment->size) {
        return complain(r, "the blocks of segments[%zu] are smaller than it", number);
    }
    return 0;
}

static int read_segment(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *record,
                        size_t number)
{
    struct gmt_torch_snapshot *s = r->snapshot;
    struct gmt_snapshot_segment *segment = &s->segments[s->segment_count];
    const struct gmt_pickle_value *pool = gmt_pickle_get(r->pickle, record, "segment_pool_id");
    const struct gmt_pickle_value *expandable = gmt_pickle_get(r->pickle, record, "is_expandable");

    *segment = (struct gmt_snapshot_segment){
        .stream = integer_or(r, record, "stream", 0),
        .device = integer_or(r, record, "device", 0),
        .small = gmt_pickle_is_text(gmt_pickle_get(r->pickle, record, "segment_type"), "small"),
        .expandable = expandable != NULL && expandable->type == GMT_PICKLE_BOOL &&
                      expandable->integer != 0};
    if (!address(r, record, "address", &segment->address) ||
        !size(r, record, "total_size", &segment->size)) {
        return complain(r, "segments[%zu] has no address or no total_size", number);
    }
    if (segment->device < 0 || segment->device >= GMT_SNAPSHOT_MOST_DEVICES) {
        return complain(r, "segments[%zu] is of device %" PRId64, number, segment->device);
    }
    for (size_t i = 0; i < gmt_pickle_length(pool) && i < 2; i++) {
        const struct gmt_pickle_value *part = gmt_pickle_item(r->pickle, pool, i);

        segment->private_pool |= part->type == GMT_PICKLE_INTEGER && part->integer != 0;
    }
    s->segment_count++;
    return read_blocks(r, gmt_pickle_get(r->pickle, record, "blocks"), number, segment);
}

static int compare_segments(const void *a, const void *b)
{
    const struct gmt_snapshot_segment *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static int read_segments(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *segments)
{
    struct gmt_torch_snapshot *s = r->snapshot;
    size_t count = gmt_pickle_length(segments), blocks = 0;

    for (size_t i = 0; i < count && blocks <= GMT_SNAPSHOT_MOST_RECORDS; i++) {
        const struct gmt_pickle_value *segment = gmt_pickle_item(r->pickle, segments, i);

        blocks += gmt_pickle_length(gmt_pickle_get(r->pickle, segment, "blocks"));
    }
    if (count > GMT_SNAPSHOT_MOST_RECORDS || blocks > GMT_SNAPSHOT_MOST_RECORDS) {
        return complain(r, "more than %d segments or blocks", GMT_SNAPSHOT_MOST_RECORDS);
    }
    s->segments = gmt_arena_alloc(&s->arena, (count + 1) * sizeof(*s->segments));
    s->blocks = gmt_arena_alloc(&s->arena, (blocks + 1) * sizeof(*s->blocks));
    if (s->segments == NULL || s->blocks == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int rc = read_segment(r, gmt_pickle_item(r->pickle, segments, i), i);

        if (rc != 0) {
            return rc;
        }
    }
    if (count > 1) {
        qsort(s->segments, count, sizeof(*s->segments), compare_segments);
    }
    for (size_t i = 1; i < count; i++) {
        if (s->segments[i - 1].address + s->segments[i - 1].size > s->segments[i].address) {
            return complain(r, "two segments overlap at 0x%" PRIx64, s->segments[i].address);
        }
    }
    return 0;
}

/* ---- history ------------------------------------------------------------------------------------- */

static uint8_t action_of(const struct gmt_pickle_value *value)
{
    static const char *const names[] = {
        [GMT_SNAPSHOT_ALLOC] = "alloc",
        [GMT_SNAPSHOT_FREE_REQUESTED] = "free_requested",
        [GMT_SNAPSHOT_FREE_COMPLETED] = "free_completed",
        [GMT_SNAPSHOT_SEGMENT_ALLOC] = "segment_alloc",
        [GMT_SNAPSHOT_SEGMENT_FREE] = "segment_free",
        [GMT_SNAPSHOT_SEGMENT_MAP] = "segment_map",
        [GMT_SNAPSHOT_SEGMENT_UNMAP] = "segment_unmap",
        [GMT_SNAPSHOT_TAKEN] = "snapshot",
        [GMT_SNAPSHOT_OOM] = "oom",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (gmt_pickle_is_text(value, names[i])) {
            return (uint8_t)i;
        }
    }
    return GMT_SNAPSHOT_OTHER;
}

static int read_event(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *record,
                      size_t device, size_t number)
{
    struct gmt_torch_snapshot *s = r->snapshot;
    struct gmt_snapshot_event *event = &s->events[s->event_count];
    const struct gmt_pickle_value *action = gmt_pickle_get(r->pickle, record, "action");

    if (action == NULL || action->type != GMT_PICKLE_TEXT) {
        return complain(r, "device_traces[%zu][%zu] has no action", device, number);
    }
    *event = (struct gmt_snapshot_event){.action = action_of(action),
                                         .stream = integer_or(r, record, "stream", 0),
                                         .time_us = integer_or(r, record, "time_us", INT64_MIN),
                                         .place = gmt_snapshot_place(r, record)};
    const char *key = event->action == GMT_SNAPSHOT_OOM ? "device_free" : "addr";
    bool whole = address(r, record, key, &event->address) && size(r, record, "size", &event->size);
    if (event->action == GMT_SNAPSHOT_OTHER) {
        s->unknown_actions++;
    } else if (!whole && event->action != GMT_SNAPSHOT_TAKEN) {
        return complain(r, "device_traces[%zu][%zu] has no %s or no size", device, number, key);
    }
    s->event_count++;
    return 0;
}

static int read_history(struct gmt_snapshot_reader *r, const struct gmt_pickle_value *traces)
{
    struct gmt_torch_snapshot *s = r->snapshot;
    size_t devices = gmt_pickle_length(traces), events = 0;

    if (devices > GMT_SNAPSHOT_MOST_DEVICES) {
        return complain(r, "device_traces has %zu devices", devices);
    }
    for (size_t i = 0; i < devices; i++) {
        events += gmt_pickle_length(gmt_pickle_item(r->pickle, traces, i));
    }
    if (events > GMT_SNAPSHOT_MOST_RECORDS) {
        return complain(r, "more than %d events", GMT_SNAPSHOT_MOST_RECORDS);
    }
    s->events = gmt_arena_alloc(&s->arena, (events + 1) * sizeof(*s->events));
    if (s->events == NULL) {
        return -ENOMEM;
    }
    for (; s->device_count < devices; s->device_events[++s->device_count] = s->event_count) {
        const struct gmt_pickle_value *trace = gmt_pickle_item(r->pickle, traces, s->device_count);

        for (size_t i = 0; i < gmt_pickle_length(trace); i++) {
            int rc = read_event(r, gmt_pickle_item(r->pickle, trace, i), s->device_count, i);

            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* ---- files --------------------------------------------------------------------------------------- */

static int read_records(struct gmt_snapshot_reader *r)
{
    const struct gmt_pickle_value *root = gmt_pickle_root(r->pickle);
    const struct gmt_pickle_value *segments = gmt_pickle_get(r->pickle, root, "segments");

    if (segments == NULL || segments->type != GMT_PICKLE_LIST) {
        return complain(r, "a pickle, but no memory snapshot: it has no list \"segments\"");
    }
    gmt_snapshot_settings(r, gmt_pickle_get(r->pickle, root, "allocator_settings"));
    int rc = read_segments(r, segments);

    if (rc == 0) {
        rc = read_history(r, gmt_pickle_get(r->pickle, root, "device_traces"));
    }
    return rc == 0 && r->snapshot->arena.failed ? -ENOMEM : rc;
}

int gmt_snapshot_read(struct gmt_torch_snapshot *snapshot, const unsigned char *data,
                      size_t data_bytes, char *message, size_t bytes)
{
    struct gmt_pickle pickle;
    struct gmt_snapshot_reader reader = {
        .pickle = &pickle, .snapshot = snapshot, .message = message, .message_bytes = bytes};
    int rc = gmt_pickle_read(&pickle, data, data_bytes, message, bytes);

    *snapshot = (struct gmt_torch_snapshot){0};
    if (rc == 0) {
        reader.place_of = calloc(pickle.count, sizeof(*reader.place_of));
        rc = reader.place_of != NULL ? read_records(&reader) : -ENOMEM;
    }
    if (rc == -ENOMEM) {
        snprintf(message, bytes, "not enough memory");
    }
    free(reader.place_of);
    free(reader.place_table);
    gmt_pickle_free(&pickle);
    return rc;
}

/* The whole of a regular file, malloc'ed. */
static int read_file(int fd, unsigned char **data, size_t *bytes)
{
    struct stat status;
    size_t used = 0;

    if (fstat(fd, &status) != 0) {
        return -errno;
    }
    if (!S_ISREG(status.st_mode)) {
        return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
    }
    if (status.st_size > GMT_PICKLE_MOST_BYTES) {
        return -EFBIG;
    }
    *data = malloc((size_t)status.st_size + 1);
    if (*data == NULL) {
        return -ENOMEM;
    }
    while (used < (size_t)status.st_size) {
        ssize_t now = read(fd, *data + used, (size_t)status.st_size - used);

        if (now < 0 && errno == EINTR) {
            continue;
        }
        if (now < 0) {
            return -errno;
        }
        if (now == 0) {
            break;
        }
        used += (size_t)now;
    }
    *bytes = used;
    return 0;
}

int gmt_snapshot_load(struct gmt_torch_snapshot *snapshot, const char *path, char *message,
                      size_t bytes)
{
    unsigned char *data = NULL;
    size_t data_bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = fd >= 0 ? read_file(fd, &data, &data_bytes) : -errno;

    *snapshot = (struct gmt_torch_snapshot){0};
    if (fd >= 0) {
        close(fd);
    }
    if (rc == -EFBIG) {
        snprintf(message, bytes, "larger than 1 GiB");
    } else if (rc == -EINVAL) {
        snprintf(message, bytes, "not a regular file");
    } else if (rc != 0) {
        snprintf(message, bytes, "%s", strerror(-rc));
    } else {
        rc = gmt_snapshot_read(snapshot, data, data_bytes, message, bytes);
    }
    free(data);
    return rc;
}

void gmt_snapshot_free(struct gmt_torch_snapshot *snapshot)
{
    gmt_arena_free(&snapshot->arena);
    *snapshot = (struct gmt_torch_snapshot){0};
}
