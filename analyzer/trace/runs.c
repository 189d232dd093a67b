/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runs of copies: sorted by call site, cut where a launch lies between, or may lie. */
#include "analyzer/trace/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/trace/unseen.h"

/* A copy with what decides which run it belongs to. */
struct candidate {
    uint64_t site;
    size_t index;
    size_t launches_before; /* of its thread; and where calls were left out */
    int32_t api, thread, stream;
    uint8_t direction, host_class;
};

static int compare_kinds(const struct candidate *x, const struct candidate *y)
{
    if (x->site != y->site) {
        return x->site < y->site ? -1 : 1;
    }
    if (x->api != y->api) {
        return x->api < y->api ? -1 : 1;
    }
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    if (x->direction != y->direction) {
        return x->direction < y->direction ? -1 : 1;
    }
    if (x->host_class != y->host_class) {
        return x->host_class < y->host_class ? -1 : 1;
    }
    return (x->launches_before > y->launches_before) - (x->launches_before < y->launches_before);
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = compare_kinds(x, y);

    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int64_t stride_of(uint64_t from, uint64_t to, int64_t seen, bool first)
{
    int64_t stride = from != 0 && to != 0 ? (int64_t)(to - from) : 0;

    return first || seen == stride ? stride : 0;
}

static uint64_t device_address(const struct gmt_tl_copy *copy)
{
    return copy->direction == GMT_DIR_H2D ? copy->dst : copy->src;
}

static void describe(const struct gmt_timeline *tl, const struct candidate *members, size_t n,
                     struct gmt_run *run)
{
    *run = (struct gmt_run){
        .first = members[0].index, .count = n, .equal_sizes = true, .one_place = true};
    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i].index];

        run->bytes += (double)copy->bytes;
        run->cost_ns += gmt_copy_cost_ns(tl, copy);
        if ((double)copy->bytes > run->largest_bytes) {
            run->largest_bytes = (double)copy->bytes;
        }
        if (i == 0) {
            continue;
        }
        const struct gmt_tl_copy *before = &tl->copies[members[i - 1].index];
        run->equal_sizes &= copy->bytes == before->bytes;
        run->one_place &= device_address(copy) != 0 &&
                          device_address(copy) == device_address(before);
        run->dst_stride = stride_of(before->dst, copy->dst, run->dst_stride, i == 1);
        run->src_stride = stride_of(before->src, copy->src, run->src_stride, i == 1);
    }
}

bool gmt_run_is_rows(const struct gmt_run *run)
{
    double row = run->largest_bytes;

    return run->equal_sizes && run->dst_stride > 0 && run->src_stride > 0 &&
           (double)run->dst_stride >= row && (double)run->src_stride >= row &&
           ((double)run->dst_stride > row || (double)run->src_stride > row);
}

/*
 * Splits members where the row pattern breaks, so that two images copied row by row in a loop are
 * two runs. Returns how many of them belong to the first run.
 */
static size_t same_pattern(const struct gmt_timeline *tl, const struct candidate *members, size_t n)
{
    int64_t dst = 0, src = 0;

    for (size_t i = 1; i < n; i++) {
        const struct gmt_tl_copy *a = &tl->copies[members[i - 1].index];
        const struct gmt_tl_copy *b = &tl->copies[members[i].index];

        if (a->dst == 0 || a->src == 0 || b->dst == 0 || b->src == 0) {
            return n;
        }
        int64_t d = (int64_t)(b->dst - a->dst), s = (int64_t)(b->src - a->src);
        if (i == 1) {
            dst = d;
            src = s;
        } else if (d != dst || s != src || a->bytes != b->bytes) {
            /* A pattern this long is one of its own; anything shorter is chance. */
            return i >= GMT_RUN_MIN_COPIES ? i : n;
        }
    }
    return n;
}

int gmt_runs_find(struct gmt_timeline *tl, struct gmt_runs *runs)
{
    struct candidate *all = calloc(tl->copy_count + 1, sizeof(*all));
    int32_t max_thread = 0;
    size_t *launches = NULL, n = 0, next = 0, cuts = 0;
    const struct gmt_unseen *unseen = tl->unseen;
    int rc = -ENOMEM;

    *runs = (struct gmt_runs){0};
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].call.thread > max_thread) {
            max_thread = tl->launches[i].call.thread;
        }
    }
    launches = calloc((size_t)max_thread + 1, sizeof(*launches));
    runs->runs = calloc(tl->copy_count / GMT_RUN_MIN_COPIES + 1, sizeof(*runs->runs));
    if (all == NULL || launches == NULL || runs->runs == NULL) {
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        for (; next < tl->launch_count && tl->launches[next].call.begin_ns <= copy->call.begin_ns;
             next++) {
            if (tl->launches[next].call.thread >= 0) {
                launches[tl->launches[next].call.thread]++;
            }
        }
        while (unseen != NULL && cuts < unseen->cut_count &&
               unseen->cuts[cuts] <= copy->call.begin_ns) {
            cuts++;
        }
        if (!copy->linear || copy->bytes <= 0 ||
            (copy->direction != GMT_DIR_H2D && copy->direction != GMT_DIR_D2H)) {
            continue;
        }
        int32_t thread = copy->call.thread;
        all[n++] = (struct candidate){
            .site = copy->call.site,
            .index = i,
            .launches_before = cuts + (thread >= 0 && thread <= max_thread ? launches[thread] : 0),
            .api = copy->call.api,
            .thread = thread,
            .stream = copy->call.stream,
            .direction = copy->direction,
            .host_class = copy->host_class};
    }
    qsort(all, n, sizeof(*all), compare_candidates);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && compare_kinds(&all[begin], &all[end]) == 0; end++) {
        }
        end = begin + same_pattern(tl, all + begin, end - begin);
        if (end - begin < GMT_RUN_MIN_COPIES) {
            continue;
        }
        for (size_t i = begin; i < end; i++) {
            tl->copies[all[i].index].run = (int32_t)runs->count;
        }
        describe(tl, all + begin, end - begin, &runs->runs[runs->count++]);
    }
    rc = 0;
out:
    free(all);
    free(launches);
    return rc;
}

void gmt_runs_free(struct gmt_runs *runs)
{
    free(runs->runs);
    *runs = (struct gmt_runs){0};
}
