/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the program whose launches come one by one with code of the host between them: what GM507 leaves to GM512. */
#include "analyzer/rules/common/host_loops.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"

static struct gmt_host_loop *loop_of(struct gmt_host_loops *loops,
                                     const struct gmt_host_stretch *stretch)
{
    const struct gmt_tl_call *call = &loops->analysis->timeline->launches[stretch->first].call;
    /* The function; the frame where it has no name; else the site. */
    uint64_t key = call->site * 4 + 2;

    if (stretch->has_place) {
        key = stretch->place.function != 0 ? (uint64_t)stretch->place.function * 4
                                           : (uint64_t)stretch->place.frames[0] * 4 + 1;
    }
    if (loops->last < loops->count && loops->rows[loops->last].key == key) {
        return &loops->rows[loops->last];
    }
    for (loops->last = 0; loops->last < loops->count; loops->last++) {
        if (loops->rows[loops->last].key == key) {
            return &loops->rows[loops->last];
        }
    }
    if (loops->count == loops->room) {
        size_t room = loops->room > 0 ? 2 * loops->room : 16;
        struct gmt_host_loop *rows = realloc(loops->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return NULL;
        }
        loops->rows = rows;
        loops->room = room;
    }
    loops->rows[loops->count] = (struct gmt_host_loop){.key = key,
                                                       .has_place = stretch->has_place,
                                                       .first = stretch->first,
                                                       .position = stretch->place.positions[0]};
    return &loops->rows[loops->count++];
}

static int add_interval(struct gmt_interval **rows, size_t *count, size_t *room,
                        struct gmt_interval interval)
{
    if (*count == *room) {
        size_t more = *room > 0 ? 2 * *room : 64;
        struct gmt_interval *grown = realloc(*rows, more * sizeof(*grown));

        if (grown == NULL) {
            return -ENOMEM;
        }
        *rows = grown;
        *room = more;
    }
    (*rows)[(*count)++] = interval;
    return 0;
}

static void add_stretch(void *user, const struct gmt_host_stretch *stretch)
{
    struct gmt_host_loops *loops = user;

    /* What a bare loop of launches takes is GM507's. */
    if (loops->rc != 0 ||
        stretch->period_ns <= stretch->links * gmt_host_bare_period_ns(loops->analysis->model)) {
        return;
    }
    struct gmt_host_loop *loop = loop_of(loops, stretch);
    if (loop == NULL) {
        loops->rc = -ENOMEM;
        return;
    }
    loop->stretches++;
    loop->launches += stretch->launches;
    loop->links += stretch->links;
    loop->late += stretch->late;
    loop->kernel_ns += stretch->kernel_ns;
    loop->idle_ns += stretch->idle_ns;
    loop->period_ns += stretch->period_ns;
    loop->code_ns += stretch->code_ns;
    loop->best_ns += stretch->best_ns;
    loop->low_ns += stretch->low_ns;
    loops->rc = add_interval(&loop->spans, &loop->span_count, &loop->span_room, stretch->span);
    for (size_t i = 0; loops->rc == 0 && i < stretch->wait_count; i++) {
        loops->rc = add_interval(&loop->waits, &loop->wait_count, &loop->wait_room,
                                 stretch->waits[i]);
    }
}

static int find_loops(struct gmt_analysis *analysis, struct gmt_host_loops *loops)
{
    *loops = (struct gmt_host_loops){.analysis = analysis};
    int rc = gmt_host_stretches_find(analysis, add_stretch, loops);

    /* Stretches come thread by thread. */
    for (size_t i = 0; i < loops->count; i++) {
        struct gmt_host_loop *loop = &loops->rows[i];

        loop->span_count = gmt_intervals_merge(loop->spans, loop->span_count);
    }
    return rc != 0 ? rc : loops->rc;
}

const struct gmt_host_loops *gmt_analysis_host_loops(struct gmt_analysis *analysis)
{
    struct gmt_host_loops *loops = analysis->host_loops;

    if (loops != NULL) {
        return loops;
    }
    loops = malloc(sizeof(*loops));
    if (loops != NULL && find_loops(analysis, loops) != 0) {
        gmt_host_loops_free(loops);
        free(loops);
        loops = NULL;
    }
    analysis->host_loops = loops;
    return loops;
}

void gmt_host_loops_free(struct gmt_host_loops *loops)
{
    for (size_t i = 0; i < loops->count; i++) {
        free(loops->rows[i].waits);
        free(loops->rows[i].spans);
    }
    free(loops->rows);
    *loops = (struct gmt_host_loops){.rows = NULL};
}

bool gmt_host_loop_waits(const struct gmt_host_loop *loop)
{
    return loop->links >= GMT_HOST_LINKS_MIN && loop->late >= GMT_HOST_LATE_SHARE * loop->links &&
           loop->idle_ns >= GMT_HOST_IDLE_SHARE * (loop->idle_ns + loop->kernel_ns);
}
