/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of which it is not known what devices did: records of them were off (table device_gap), and what was begun then may still
 * have run when they were on again. Of a stream that is known to have ended by the start of the next operation in it that has a
 * record, or by a call that waited for it.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"

#define STREAMS_MOST (1 << 20) /* numbered one by one */

/* A call that put work into a stream, or one that waited for it. */
struct stream_step {
    int64_t begin_ns;
    int64_t
        known_ns;   /* when all before it in the stream had ended, as far as it says; GMT_NO_TIME */
    int32_t stream; /* 0: not known */
    int32_t context;
    bool works, all; /* the latter: it waited for all streams of its context */
};

struct steps {
    struct stream_step *rows;
    size_t count, room;
    int32_t *context_of;  /* by stream; 0: not known */
    bool *is_open;        /* by stream: it may have work without a record */
    size_t streams, open; /* the latter: how many are */
};

static int add(struct steps *steps, struct stream_step step)
{
    if (steps->count == steps->room) {
        size_t room = steps->room > 0 ? 2 * steps->room : 1024;
        struct stream_step *rows = realloc(steps->rows, room * sizeof(*rows));

        if (rows == NULL) {
            return -ENOMEM;
        }
        steps->rows = rows;
        steps->room = room;
    }
    if (step.stream < 0 || step.stream >= (int32_t)steps->streams) {
        step.stream = 0;
    }
    steps->rows[steps->count++] = step;
    return 0;
}

static int load_streams(struct steps *steps, sqlite3 *db)
{
    struct gmt_query query;
    int64_t most = 0;
    int rc = gmt_query_int64(db, "SELECT ifnull(max(id), 0) FROM stream", &most);

    if (rc != 0) {
        return rc;
    }
    steps->streams = most >= 0 && most < STREAMS_MOST ? (size_t)most + 1 : 1;
    steps->context_of = calloc(steps->streams, sizeof(*steps->context_of));
    steps->is_open = calloc(steps->streams, sizeof(*steps->is_open));
    if (steps->context_of == NULL || steps->is_open == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, db, "SELECT id, context_id FROM stream WHERE id > 0");
    while (rc == 0 && gmt_query_next(&query)) {
        size_t stream = (size_t)gmt_query_int(&query, 0);

        if (stream < steps->streams) {
            steps->context_of[stream] = gmt_query_id(&query, 1);
        }
    }
    return gmt_query_close(&query, rc);
}

/* Memsets and waits, which the timeline has no rows of. */
static int load_others(struct steps *steps, sqlite3 *db)
{
    static const char sql[] =
        "SELECT begin_ns, device_start_ns, stream_id, 0, 1, 0 FROM memset WHERE result = 0 AND "
        "capturing IN (0, 2, 3) UNION ALL "
        "SELECT begin_ns, end_ns, stream_id, context_id, 0, kind <> 'stream' FROM sync WHERE "
        "result = 0 AND capturing IN (0, 2, 3) AND kind <> 'event'";
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        rc = add(steps, (struct stream_step){.begin_ns = gmt_query_instant(&query, 0),
                                             .known_ns = gmt_query_time(&query, 1),
                                             .stream = gmt_query_id(&query, 2),
                                             .context = gmt_query_id(&query, 3),
                                             .works = gmt_query_int(&query, 4) != 0,
                                             .all = gmt_query_int(&query, 5) != 0});
    }
    return gmt_query_close(&query, rc);
}

static int compare_steps(const void *a, const void *b)
{
    const struct stream_step *x = a, *y = b;

    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int load(struct steps *steps, const struct gmt_timeline *tl)
{
    int rc = load_streams(steps, tl->db);

    if (rc == 0) {
        rc = load_others(steps, tl->db);
    }
    for (size_t i = 0; rc == 0 && i < tl->launch_count; i++) {
        rc = add(steps, (struct stream_step){tl->launches[i].call.begin_ns,
                                             tl->launches[i].device_start_ns,
                                             tl->launches[i].call.stream, 0, true, false});
    }
    for (size_t i = 0; rc == 0 && i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        bool drains = copy->blocking && copy->direction == GMT_DIR_D2H &&
                      copy->device_start_ns == GMT_NO_TIME;

        rc = add(steps, (struct stream_step){copy->call.begin_ns,
                                             drains ? copy->call.end_ns : copy->device_start_ns,
                                             copy->call.stream, 0, !drains, false});
    }
    if (rc == 0 && steps->count > 1) {
        qsort(steps->rows, steps->count, sizeof(*steps->rows), compare_steps);
    }
    return rc;
}

static void close_stream(struct steps *steps, size_t stream)
{
    steps->open -= steps->is_open[stream];
    steps->is_open[stream] = false;
}

/* What a call says of streams that are open; *known_ns: when what it closes had ended. */
static void look_at(struct steps *steps, const struct stream_step *step, int64_t *known_ns)
{
    size_t open = steps->open;

    if (step->known_ns == GMT_NO_TIME) {
        return;
    }
    if (step->stream > 0 && !step->all) {
        close_stream(steps, (size_t)step->stream);
    }
    for (size_t i = 0; step->all && steps->open > 0 && i < steps->streams; i++) {
        int32_t context = steps->context_of[i];

        if (context == step->context || context == 0 || step->context == 0) {
            close_stream(steps, i);
        }
    }
    if (steps->open < open && step->known_ns > *known_ns) {
        *known_ns = step->known_ns;
    }
}

/*
 * Extends each gap, which are by begin and apart, to when what was begun in it had ended: at the latest to the next one, where
 * what is still open stays so.
 */
static void extend(struct steps *steps, struct gmt_interval *gaps, size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t next_ns = i + 1 < count ? gaps[i + 1].begin_ns : INT64_MAX;
        int64_t until_ns = gaps[i].end_ns;

        for (; at < steps->count && steps->rows[at].begin_ns < gaps[i].begin_ns; at++) {
        }
        for (; at < steps->count && steps->rows[at].begin_ns <= gaps[i].end_ns; at++) {
            const struct stream_step *step = &steps->rows[at];

            if (step->works && step->known_ns == GMT_NO_TIME) {
                steps->open += !steps->is_open[step->stream];
                steps->is_open[step->stream] = true;
            } else {
                look_at(steps, step, &until_ns);
            }
        }
        for (; steps->open > 0 && at < steps->count && steps->rows[at].begin_ns < next_ns; at++) {
            look_at(steps, &steps->rows[at], &until_ns);
        }
        gaps[i].end_ns = steps->open > 0 ? next_ns : until_ns < next_ns ? until_ns : next_ns;
    }
}

static int load_gaps(struct gmt_timeline *tl, size_t *count)
{
    struct gmt_query query;
    size_t room = 0;
    int rc = gmt_timeline_open_gaps(tl, &query);

    *count = 0;
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t begin_ns = gmt_query_time(&query, 0), end_ns = gmt_query_time(&query, 1);

        if (begin_ns == GMT_NO_TIME) {
            continue;
        }
        if (*count == room) {
            struct gmt_interval *rows = realloc(tl->off, (2 * room + 64) * sizeof(*rows));

            if (rows == NULL) {
                rc = -ENOMEM;
                break;
            }
            tl->off = rows;
            room = 2 * room + 64;
        }
        end_ns = end_ns != GMT_NO_TIME ? end_ns : INT64_MAX;
        tl->off[(*count)++] = (struct gmt_interval){begin_ns,
                                                    end_ns > begin_ns ? end_ns : begin_ns};
    }
    return gmt_query_close(&query, rc);
}

/* Those that lie within the recording. */
static size_t clip(struct gmt_interval *rows, size_t count, const struct gmt_timeline *tl)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t begin_ns = rows[i].begin_ns > tl->start_ns ? rows[i].begin_ns : tl->start_ns;
        int64_t end_ns = rows[i].end_ns < tl->end_ns ? rows[i].end_ns : tl->end_ns;

        if (end_ns > begin_ns) {
            rows[kept++] = (struct gmt_interval){begin_ns, end_ns};
        }
    }
    return kept;
}

static int join_busy(struct gmt_timeline *tl)
{
    size_t count = tl->busy_count + tl->off_count;

    tl->maybe_busy = calloc(count + 1, sizeof(*tl->maybe_busy));
    if (tl->maybe_busy == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        tl->maybe_busy[i] = i < tl->busy_count ? tl->busy[i] : tl->off[i - tl->busy_count];
    }
    tl->maybe_busy_count = gmt_intervals_merge(tl->maybe_busy, count);
    return 0;
}

int gmt_timeline_load_off(struct gmt_timeline *tl)
{
    struct steps steps = {0};
    size_t count = 0;
    int rc = load_gaps(tl, &count);

    if (rc == 0 && count > 0) {
        count = gmt_intervals_merge(tl->off, count);
        rc = load(&steps, tl);
    }
    if (rc == 0 && count > 0) {
        extend(&steps, tl->off, count);
        count = clip(tl->off, count, tl);
    }
    tl->off_count = rc == 0 ? gmt_intervals_merge(tl->off, count) : 0;
    free(steps.rows);
    free(steps.context_of);
    free(steps.is_open);
    return rc == 0 ? join_busy(tl) : rc;
}
