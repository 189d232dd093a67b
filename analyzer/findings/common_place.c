/* SPDX-License-Identifier: Apache-2.0 */
/* The place that two calls have in common: the innermost function that was on the stack of both. */
#include "analyzer/findings/common_place.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/trace/query.h"

/* Room for one more of `count` in an array that doubles. */
static int reserve(void **array, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity) {
        return 0;
    }
    size_t more = *capacity > 0 ? 2 * *capacity : 256;
    void *grown = realloc(*array, more * bytes);

    if (grown == NULL) {
        return -ENOMEM;
    }
    *array = grown;
    *capacity = more;
    return 0;
}

static int load_stacks(struct gmt_stack_frames *frames, const struct gmt_timeline *tl)
{
    struct gmt_query query;
    size_t stack_room = 0, frame_room = 0;
    int rc = gmt_query_open(
        &query, tl->db, "SELECT stack_id, frame_id FROM stack_frame ORDER BY stack_id, position");

    while (rc == 0 && gmt_query_next(&query)) {
        int64_t stack = gmt_query_int(&query, 0);
        size_t n = frames->stack_count;

        if (n == 0 || frames->stacks[n - 1][0] != stack) {
            rc = reserve((void **)&frames->stacks, n + 1, &stack_room, sizeof(*frames->stacks));
            if (rc != 0) {
                break;
            }
            frames->stacks[n][0] = stack;
            frames->stacks[n][1] = (int64_t)frames->frame_count;
            frames->stack_count++;
        }
        rc = reserve((void **)&frames->frames, frames->frame_count, &frame_room,
                     sizeof(*frames->frames));
        if (rc == 0) {
            frames->frames[frames->frame_count++] = gmt_query_int(&query, 1);
        }
    }
    if (frames->stack_count > 0) {
        frames->stacks[frames->stack_count][1] = (int64_t)frames->frame_count;
    }
    return gmt_query_close(&query, rc);
}

static int load_kinds(struct gmt_stack_frames *frames, const struct gmt_timeline *tl)
{
    struct gmt_query query;
    size_t room = 0;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT f.id, f.function_id, v.function, v.file, v.module, v.line, "
                            "v.runtime FROM frame f JOIN v_frame v ON v.id = f.id ORDER BY f.id");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_report_frame frame = {.function = gmt_query_text_here(&query, 2),
                                         .file = gmt_query_text_here(&query, 3),
                                         .module = gmt_query_text_here(&query, 4),
                                         .line = gmt_query_count(&query, 5),
                                         .runtime = gmt_query_int(&query, 6) != 0};

        rc = reserve((void **)&frames->kinds, frames->kind_count, &room, sizeof(*frames->kinds));
        if (rc == 0) {
            frames->kinds[frames->kind_count++] = (struct gmt_frame_kind){
                .id = gmt_query_int(&query, 0),
                .function = gmt_query_int(&query, 1),
                .users = gmt_frame_is_users(&frame),
                .own = gmt_frame_is_own(&frame),
                .made = gmt_frame_is_made(&frame)};
        }
    }
    return gmt_query_close(&query, rc);
}

int gmt_stack_frames_load(struct gmt_stack_frames *frames, const struct gmt_timeline *tl)
{
    *frames = (struct gmt_stack_frames){.stacks = NULL};
    int rc = load_stacks(frames, tl);

    return rc == 0 ? load_kinds(frames, tl) : rc;
}

void gmt_stack_frames_free(struct gmt_stack_frames *frames)
{
    free(frames->stacks);
    free(frames->frames);
    free(frames->kinds);
    *frames = (struct gmt_stack_frames){.stacks = NULL};
}

/* Frames of a stack; *n: how many, 0 where it is not known. */
static const int64_t *frames_of(const struct gmt_stack_frames *frames, int64_t stack, size_t *n)
{
    size_t low = 0, high = frames->stack_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (frames->stacks[middle][0] < stack) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *n = 0;
    if (low == frames->stack_count || frames->stacks[low][0] != stack) {
        return NULL;
    }
    *n = (size_t)(frames->stacks[low + 1][1] - frames->stacks[low][1]);
    return frames->frames + frames->stacks[low][1];
}

static const struct gmt_frame_kind *kind_of(const struct gmt_stack_frames *frames, int64_t id)
{
    static const struct gmt_frame_kind unknown = {.id = 0};
    size_t low = 0, high = frames->kind_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (frames->kinds[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < frames->kind_count && frames->kinds[low].id == id ? &frames->kinds[low] : &unknown;
}

bool gmt_stack_has_own(const struct gmt_stack_frames *frames, int64_t stack)
{
    size_t n;
    const int64_t *rows = frames_of(frames, stack, &n);

    for (size_t i = 0; i < n; i++) {
        const struct gmt_frame_kind *kind = kind_of(frames, rows[i]);

        if (kind->users && kind->own) {
            return true;
        }
    }
    return false;
}

/* How many frames two stacks have in common, from the outermost on. */
static size_t common_frames(const int64_t *a, size_t n, const int64_t *b, size_t others)
{
    size_t least = n < others ? n : others, same = 0;

    while (same < least && a[n - 1 - same] == b[others - 1 - same]) {
        same++;
    }
    return same;
}

/*
 * Of a whole stack, how many frames are left without those further out than the outermost one of a stack that was cut; where
 * that is a function that calls itself, so that they have most in common. All, where it is none of them.
 */
static size_t frames_left(const int64_t *whole, size_t n, const int64_t *cut, size_t others)
{
    size_t left = n, most = 0;

    for (size_t i = n; i-- > 1;) {
        size_t same = whole[i - 1] == cut[others - 1] ? common_frames(whole, i, cut, others) : 0;

        if (same > most) {
            most = same;
            left = i;
        }
    }
    return left;
}

bool gmt_common_place_find(const struct gmt_stack_frames *frames, int64_t stack, int64_t other,
                           struct gmt_common_place *place)
{
    size_t n, others;
    const int64_t *a = frames_of(frames, stack, &n), *b = frames_of(frames, other, &others);
    bool found = false;

    if (frames->cut_are_same && n > 0 && others > 0 && a[n - 1] != b[others - 1]) {
        size_t left = frames_left(a, n, b, others);

        others = left == n ? frames_left(b, others, a, n) : others;
        n = left;
    }
    size_t least = n < others ? n : others, same = common_frames(a, n, b, others);
    /* The function that both calls left on different ways. */
    if (same < least) {
        int64_t function = kind_of(frames, a[n - 1 - same])->function;

        same += function != 0 && function == kind_of(frames, b[others - 1 - same])->function;
    }
    struct gmt_common_place inner = {0};
    bool made = false;
    for (size_t i = same; i > 0; i--) {
        const struct gmt_frame_kind *kind = kind_of(frames, a[n - i]);
        struct gmt_common_place at = {
            .function = kind->function,
            .frames = {a[n - i], b[others - i]},
            .positions = {n - i, others - i},
            .inner = inner.function,
            .inner_frames = {inner.frames[0], inner.frames[1]},
            .inner_positions = {inner.positions[0], inner.positions[1]},
        };

        if (!kind->users) {
            continue;
        }
        if (!kind->own && kind->made && inner.frames[0] == 0) {
            inner = at;
        }
        if (kind->own && (!found || kind->made)) {
            *place = at;
            return true;
        }
        if (!found || (kind->made && !made)) {
            *place = at;
        }
        found = true;
        made = made || kind->made;
    }
    return found;
}
