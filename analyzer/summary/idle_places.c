/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program was while a device was idle: pieces of idle time, summed up by cause and place. */
#include "analyzer/summary/idle_places.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/base_name.h"

/* Of a call without a stack: sites and ids of stacks are not mixed up. */
#define WITHOUT_STACK (UINT64_C(1) << 63)
/* Ids of functions and of frames are not mixed up either. */
#define OF_FUNCTION (UINT64_C(1) << 63)

static struct gmt_idle_index *slot_of(struct gmt_idle_index *slots, size_t capacity,
                                      const uint64_t key[static 4])
{
    uint64_t hash = key[2] ^ (key[3] * UINT64_C(0x94d049bb133111eb));

    hash = (key[0] +
            (key[1] ^ (hash * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd)) *
           UINT64_C(0xc4ceb9fe1a85ec53);

    size_t at = (size_t)(hash >> 32) & (capacity - 1);

    while (slots[at].value > 0 && memcmp(slots[at].key, key, sizeof(slots[at].key)) != 0) {
        at = (at + 1) & (capacity - 1);
    }
    return &slots[at];
}

/* The slot of a key, in which the caller puts a value where it has none. NULL: no memory. */
static struct gmt_idle_index *find(struct gmt_idle_hash *hash, const uint64_t key[static 4])
{
    if (2 * hash->count >= hash->capacity) {
        size_t capacity = hash->capacity > 0 ? 2 * hash->capacity : 256;
        struct gmt_idle_index *slots = calloc(capacity, sizeof(*slots));

        if (slots == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < hash->capacity; i++) {
            if (hash->slots[i].value > 0) {
                *slot_of(slots, capacity, hash->slots[i].key) = hash->slots[i];
            }
        }
        free(hash->slots);
        hash->slots = slots;
        hash->capacity = capacity;
    }
    struct gmt_idle_index *slot = slot_of(hash->slots, hash->capacity, key);
    if (slot->value == 0) {
        memcpy(slot->key, key, sizeof(slot->key));
        hash->count++;
    }
    return slot;
}

static uint64_t stack_key(const struct gmt_host_calls *calls, size_t call)
{
    if (call >= calls->count) {
        return 0;
    }
    const struct gmt_host_call *row = &calls->rows[call];
    return row->stack_id > 0 ? (uint64_t)row->stack_id : row->site | WITHOUT_STACK;
}

static bool is_between_calls(enum gmt_time_part part)
{
    return part == GMT_TIME_HOST || part == GMT_TIME_START_UP || part == GMT_TIME_SHUTDOWN;
}

/* The function of a library's that the user's function was in. */
static void put_inner(struct gmt_idle_place *place, const struct gmt_common_place *common)
{
    if (common->inner_frames[0] == 0) {
        return;
    }
    place->inner = common->inner_positions[0];
    place->inner_ran = common->inner_frames[0] != common->inner_frames[1];
    place->key[2] = place->inner_ran ? (uint64_t)common->inner | OF_FUNCTION
                                     : (uint64_t)common->inner_frames[0];
}

/* What makes the place of a piece. */
static struct gmt_idle_place place_of(const struct gmt_idle_places *places,
                                      const struct gmt_idle_cause *cause)
{
    const struct gmt_host_calls *calls = places->calls;
    struct gmt_idle_place place = {
        .part = cause->part, .call = cause->call, .until = cause->until, .inner = SIZE_MAX};
    struct gmt_common_place common;

    if (cause->call < calls->count && cause->until < calls->count &&
        gmt_common_place_find(places->frames, calls->rows[cause->call].stack_id,
                              calls->rows[cause->until].stack_id, &common)) {
        place.is_common = true;
        for (int i = 0; i < 2; i++) {
            place.key[i] = (uint64_t)common.frames[i];
            place.positions[i] = common.positions[i];
        }
        put_inner(&place, &common);
        return place;
    }
    /* What is between calls that have nothing in common is in neither. */
    if (!is_between_calls(cause->part) && cause->call < calls->count &&
        gmt_common_place_find(places->frames, calls->rows[cause->call].stack_id,
                              calls->rows[cause->call].stack_id, &common)) {
        put_inner(&place, &common);
    }
    place.key[0] = cause->call < calls->count ? calls->rows[cause->call].site | WITHOUT_STACK : 0;
    place.key[1] = cause->until < calls->count ? calls->rows[cause->until].site | WITHOUT_STACK : 0;
    return place;
}

/* Index of the place of that key, which is new where there is none. 0 or -ENOMEM. */
static int index_of(struct gmt_idle_places *places, const struct gmt_idle_place *place,
                    size_t *index)
{
    uint64_t key[4] = {(uint64_t)place->part, place->key[0], place->key[1], place->key[2]};
    struct gmt_idle_index *slot = find(&places->places, key);

    if (slot == NULL) {
        return -ENOMEM;
    }
    if (slot->value == 0) {
        if (places->count == places->room) {
            size_t room = places->room > 0 ? 2 * places->room : 64;
            struct gmt_idle_place *rows = realloc(places->rows, room * sizeof(*rows));

            if (rows == NULL) {
                places->places.count--;
                memset(slot, 0, sizeof(*slot));
                return -ENOMEM;
            }
            places->rows = rows;
            places->room = room;
        }
        places->rows[places->count++] = *place;
        slot->value = places->count;
    }
    *index = slot->value - 1;
    return 0;
}

int gmt_idle_places_add(struct gmt_idle_places *places, const struct gmt_idle_cause *cause,
                        size_t *place)
{
    bool between = is_between_calls(cause->part);
    uint64_t key[4] = {(uint64_t)cause->part, stack_key(places->calls, cause->call),
                       between ? stack_key(places->calls, cause->until) : 0, 0};
    struct gmt_idle_index *slot = find(&places->pairs, key);
    double ns = (double)(cause->end_ns - cause->begin_ns);

    if (slot == NULL) {
        return -ENOMEM;
    }
    if (slot->value == 0) {
        struct gmt_idle_place made = place_of(places, cause);
        int rc = index_of(places, &made, place);

        if (rc != 0) {
            places->pairs.count--;
            memset(slot, 0, sizeof(*slot));
            return rc;
        }
        slot->value = *place + 1;
    }
    *place = slot->value - 1;
    struct gmt_idle_place *row = &places->rows[*place];

    row->count++;
    row->time_ns += ns;
    row->longest_ns = fmax(row->longest_ns, ns);
    return 0;
}

void gmt_idle_places_free(struct gmt_idle_places *places)
{
    free(places->rows);
    free(places->places.slots);
    free(places->pairs.slots);
    *places = (struct gmt_idle_places){.rows = NULL};
}

static struct gmt_where where_in_stack(struct gmt_analysis *analysis,
                                       const struct gmt_host_call *call, size_t position)
{
    struct gmt_tl_call like = gmt_host_call_of_timeline(call);

    return gmt_where_of_frame(analysis, &like, position);
}

static struct gmt_where where_of(struct gmt_analysis *analysis,
                                 const struct gmt_idle_places *places,
                                 const struct gmt_idle_place *place, int side)
{
    size_t index = side == 0 ? place->call : place->until;

    if (index >= places->calls->count) {
        /* Calls are in the order of time: others were made before a thread's first one, unless it is the first of all. */
        const char *missing = side == 1           ? "the end of the run"
                              : place->until == 0 ? "the first call"
                                                  : "the start of its thread";

        return (struct gmt_where){.label = is_between_calls(place->part) ? missing : "not known"};
    }
    const struct gmt_host_call *call = &places->calls->rows[index];
    return place->is_common ? where_in_stack(analysis, call, place->positions[side])
                            : gmt_host_call_where(analysis, call);
}

/* "sdpa_attention.py:158"; of what went on from line to line the function */
static const char *inner_of(struct gmt_analysis *analysis, const struct gmt_idle_places *places,
                            const struct gmt_idle_place *place)
{
    if (place->inner == SIZE_MAX) {
        return NULL;
    }
    struct gmt_where where = where_in_stack(analysis, &places->calls->rows[place->call],
                                            place->inner);

    return place->inner_ran && where.file != NULL && where.function != NULL
               ? gmt_text(analysis, "%s:%s", gmt_base_name(where.file), where.function)
               : where.label;
}

struct gmt_call_place gmt_idle_place_name(struct gmt_analysis *analysis,
                                          const struct gmt_idle_places *places,
                                          const struct gmt_idle_place *place)
{
    struct gmt_call_place name = {.count = place->count,
                                  .time_ns = place->time_ns,
                                  .longest_ns = place->longest_ns,
                                  .inner = inner_of(analysis, places, place),
                                  .where = where_of(analysis, places, place, 0)};

    if (name.inner != NULL && strcmp(name.inner, name.where.label) == 0) {
        name.inner = NULL;
    }
    if (is_between_calls(place->part)) {
        const char *until = where_of(analysis, places, place, 1).label;

        /* A function without lines, or one line of a loop, is one place. */
        name.until = strcmp(until, name.where.label) != 0 ? until : NULL;
    }
    return name;
}
