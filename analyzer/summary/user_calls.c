/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread runs the user's code while a thread of a library has no frame of it (user_calls.h). */
#include "analyzer/summary/user_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"

int gmt_user_calls_make(struct gmt_user_calls *made, const struct gmt_host_calls *calls,
                        const struct gmt_stack_frames *frames)
{
    size_t room = calls->count + 1;

    *made = (struct gmt_user_calls){.calls = calls};
    if (calls->count >= UINT32_MAX) {
        return -ENOMEM;
    }
    made->users = calloc(room, sizeof(*made->users));
    made->rows = malloc(room * sizeof(*made->rows));
    made->threads = malloc(room * sizeof(*made->threads));
    if (made->users == NULL || made->rows == NULL || made->threads == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < calls->count; i++) {
        made->users[i] = gmt_stack_has_own(frames, calls->rows[i].stack_id);
        if (made->users[i]) {
            made->threads[made->count][0] = calls->rows[i].thread;
            made->threads[made->count][1] = (int64_t)i;
            made->rows[made->count++] = (uint32_t)i;
        }
    }
    gmt_sort_pairs(made->threads, made->count);
    return 0;
}

void gmt_user_calls_free(struct gmt_user_calls *made)
{
    free(made->users);
    free(made->rows);
    free(made->threads);
    *made = (struct gmt_user_calls){.calls = NULL};
}

/* Position among the rows of the first that begins at a time or later. */
static size_t next_row(const struct gmt_user_calls *user_calls, int64_t at_ns)
{
    size_t low = 0, high = user_calls->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (user_calls->calls->rows[user_calls->rows[middle]].begin_ns < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The one before a call, or after it (step 1), in its thread; SIZE_MAX: none. */
static size_t neighbour(const struct gmt_user_calls *user_calls, size_t call, int step)
{
    int64_t thread = user_calls->calls->rows[call].thread;
    size_t low = 0, high = user_calls->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const int64_t *row = user_calls->threads[middle];

        if (row[0] < thread || (row[0] == thread && row[1] < (int64_t)call)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t at = step > 0 ? low + 1 : low - 1; /* below 0: as large as can be */
    return at < user_calls->count && user_calls->threads[at][0] == thread
               ? (size_t)user_calls->threads[at][1]
               : SIZE_MAX;
}

static bool is_users(const struct gmt_user_calls *user_calls, size_t call)
{
    return call < user_calls->calls->count && user_calls->users[call];
}

void gmt_user_calls_put(const struct gmt_user_calls *user_calls, struct gmt_idle_cause *cause)
{
    bool shutdown = cause->part == GMT_TIME_SHUTDOWN;

    if (user_calls->count == 0 ||
        (cause->part != GMT_TIME_HOST && cause->part != GMT_TIME_START_UP && !shutdown) ||
        is_users(user_calls, cause->call) || is_users(user_calls, cause->until)) {
        return;
    }
    size_t next = next_row(user_calls, cause->begin_ns);
    size_t after = next < user_calls->count ? user_calls->rows[next] : SIZE_MAX;
    size_t last = next > 0 ? user_calls->rows[next - 1] : SIZE_MAX;
    size_t before = after != SIZE_MAX ? neighbour(user_calls, after, -1) : SIZE_MAX;

    if (before == SIZE_MAX && last != SIZE_MAX) {
        before = last;
        after = neighbour(user_calls, last, 1);
    }
    if (before != SIZE_MAX && (after != SIZE_MAX || shutdown)) {
        cause->call = before;
        cause->until = after;
    }
}
