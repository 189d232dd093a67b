/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer rows for the page than a trace has calls: neighbours of one lane become one row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/page/page_parts.h"

/*
 * What rows must share to be merged. Sums by thread, stream, kind, direction and class of memory
 * stay exact in any case; as long as that suffices, those by kernel do, too, and by place.
 */
enum sharing { SHARE_PLACES, SHARE_KERNELS, SHARE_LANES };

struct lane {
    int64_t stack;
    int32_t api, thread, stream, kernel;
    uint8_t kind, direction, host_class, blocking;
};

/* The row of each lane that later ones may join. */
struct open_row {
    struct lane lane;
    size_t row; /* + 1; 0: a free slot */
};

struct lanes {
    struct open_row *slots;
    size_t slot_count, used;
};

static struct lane lane_of(const struct gmt_page_call *call, enum sharing sharing)
{
    struct lane lane;

    /* Padding takes part in hashes and comparisons. */
    memset(&lane, 0, sizeof(lane));
    lane.stack = sharing == SHARE_PLACES ? call->stack : 0;
    lane.api = sharing == SHARE_PLACES ? call->api : 0;
    lane.thread = call->thread;
    lane.stream = call->stream;
    lane.kernel = sharing != SHARE_LANES ? call->kernel : 0;
    lane.kind = call->kind;
    lane.direction = call->direction;
    lane.host_class = call->host_class;
    lane.blocking = call->blocking;
    return lane;
}

static struct open_row *find(struct lanes *lanes, const struct lane *lane)
{
    const unsigned char *bytes = (const unsigned char *)lane;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < sizeof(*lane); i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    size_t at = (hash ^ hash >> 32) & (lanes->slot_count - 1);
    /* lane_of leaves nothing of a lane undefined. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    while (lanes->slots[at].row != 0 && memcmp(&lanes->slots[at].lane, lane, sizeof(*lane)) != 0) {
        at = (at + 1) & (lanes->slot_count - 1);
    }
    return &lanes->slots[at];
}

static int grow(struct lanes *lanes)
{
    struct lanes larger = {.slot_count = lanes->slot_count > 0 ? 2 * lanes->slot_count : 1024,
                           .used = lanes->used};

    larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < lanes->slot_count; i++) {
        if (lanes->slots[i].row != 0) {
            *find(&larger, &lanes->slots[i].lane) = lanes->slots[i];
        }
    }
    free(lanes->slots);
    *lanes = larger;
    return 0;
}

/* Of what is not known, the sum is that of the rest. */
static void add(int64_t *sum, int64_t value)
{
    if (*sum == GMT_UNKNOWN) {
        *sum = value;
    } else if (value != GMT_UNKNOWN && __builtin_add_overflow(*sum, value, sum)) {
        *sum = INT64_MAX;
    }
}

static void absorb(struct gmt_page_call *into, const struct gmt_page_call *from)
{
    add(&into->host_ns, from->host_ns);
    add(&into->device_ns, from->device_ns);
    add(&into->bytes, from->bytes);
    into->count += from->count;
    if (from->device_start_ns != GMT_UNKNOWN &&
        (into->device_start_ns == GMT_UNKNOWN || from->device_start_ns < into->device_start_ns)) {
        into->device_start_ns = from->device_start_ns;
    }
    if (into->stack != from->stack) {
        into->stack = GMT_UNKNOWN;
    }
    if (into->api != from->api) {
        into->api = -1;
    }
    if (into->kernel != from->kernel) {
        into->kernel = -1;
    }
}

/* One pass; rows stay in the order of their begin. */
static int merge(struct gmt_page_call *calls, size_t *count, int64_t below_ns, enum sharing sharing)
{
    struct lanes lanes = {0};
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < *count; i++) {
        struct lane lane = lane_of(&calls[i], sharing);

        if (2 * lanes.used >= lanes.slot_count) {
            rc = grow(&lanes);
        }
        if (rc != 0) {
            break;
        }
        struct open_row *open = find(&lanes, &lane);
        if (open->row != 0) {
            struct gmt_page_call *into = &calls[open->row - 1];
            int64_t apart = gmt_page_difference(calls[i].begin_ns, into->begin_ns);

            if (apart != GMT_UNKNOWN && apart < below_ns) {
                absorb(into, &calls[i]);
                continue;
            }
        } else {
            lanes.used++;
        }
        calls[kept++] = calls[i];
        *open = (struct open_row){.lane = lane, .row = kept};
    }
    free(lanes.slots);
    if (rc == 0) {
        *count = kept;
    }
    return rc;
}

int gmt_page_merge_calls(struct gmt_page_call *calls, size_t *count, size_t limit,
                         int64_t *below_ns)
{
    *below_ns = 0;
    if (*count <= limit) {
        return 0;
    }
    int64_t span = gmt_page_difference(calls[*count - 1].begin_ns, calls[0].begin_ns);
    if (span == GMT_UNKNOWN || span < 0) {
        span = INT64_MAX / 4;
    }
    /* Wider until it suffices; what is shared is given up before rows get long. */
    const int64_t narrow = span / 1000000 + 1, fine = span / 100000 + 1;
    int64_t width = narrow;
    enum sharing sharing = SHARE_PLACES;
    int rc = 0;
    for (;;) {
        rc = merge(calls, count, width, sharing);
        *below_ns = width > *below_ns ? width : *below_ns;
        if (rc != 0 || *count <= limit || width > span) {
            break;
        }
        if (sharing != SHARE_LANES && width == fine) {
            sharing++;
            width = narrow;
        } else {
            width = sharing != SHARE_LANES && 2 * width > fine ? fine : 2 * width;
        }
    }
    return rc;
}
