/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in the order of their streams, and what their pointer arguments have in common. */
#include "analyzer/trace/launch_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/unseen.h"

static void set_pair(int64_t *pair, int64_t key, size_t index)
{
    pair[0] = key;
    pair[1] = (int64_t)index;
}

static void order_by_stream(struct gmt_launch_rows *rows, int64_t (*keys)[2])
{
    const struct gmt_timeline *tl = rows->timeline;

    for (size_t i = 0; i < rows->n; i++) {
        set_pair(keys[i], tl->launches[i].call.stream, i);
    }
    gmt_sort_pairs(keys, rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        rows->order[i] = (size_t)keys[i][1];
    }
}

/* A sweep over starts: whoever starts before the latest end so far overlaps with its owner. */
static void find_overlaps(struct gmt_launch_rows *rows, int64_t (*keys)[2])
{
    const struct gmt_timeline *tl = rows->timeline;
    int64_t until = INT64_MIN;
    size_t owner = 0;

    for (size_t i = 0; i < rows->n; i++) {
        set_pair(keys[i], tl->launches[i].device_start_ns, i);
    }
    gmt_sort_pairs(keys, rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        size_t index = (size_t)keys[i][1];
        const struct gmt_tl_launch *launch = &tl->launches[index];

        if (isnan(gmt_launch_time(launch))) {
            continue;
        }
        if (launch->device_start_ns < until) {
            rows->overlapped[index] = rows->overlapped[owner] = true;
        }
        if (launch->device_end_ns > until) {
            until = launch->device_end_ns;
            owner = index;
        }
    }
}

static int load_arguments(struct gmt_launch_rows *rows)
{
    struct gmt_query query;
    int64_t count = 0, known = 0;
    int rc = gmt_query_int64(rows->timeline->db, "SELECT count(*) FROM launch_argument", &count);

    if (rc == 0) {
        rc = gmt_query_int64(rows->timeline->db,
                             "SELECT EXISTS (SELECT 1 FROM launch WHERE arguments = 'complete')",
                             &known);
    }
    if (rc != 0) {
        return rc;
    }
    rows->arguments_known = known > 0;
    rows->arguments = calloc((size_t)count + 1, sizeof(*rows->arguments));
    if (rows->arguments == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, rows->timeline->db,
                        "SELECT set_id, allocation_id, allocation_offset, "
                        "coalesce(parameter, -1) FROM launch_argument ORDER BY 1, 2, 3, 4");
    while (rc == 0 && rows->argument_count < (size_t)count && gmt_query_next(&query)) {
        rows->arguments[rows->argument_count++] = (struct gmt_argument){
            gmt_query_int(&query, 0), gmt_query_int(&query, 1), gmt_query_int(&query, 2),
            gmt_query_int(&query, 3)};
    }
    return gmt_query_close(&query, rc);
}

/* The first argument of a set. */
static size_t first_of(const struct gmt_launch_rows *rows, int64_t set)
{
    size_t low = 0, high = rows->argument_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->arguments[middle].set < set) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

double gmt_launch_time(const struct gmt_tl_launch *launch)
{
    if (launch->class_index < 0 || launch->measured || launch->device_start_ns == GMT_NO_TIME ||
        launch->device_end_ns == GMT_NO_TIME) {
        return NAN;
    }
    return (double)(launch->device_end_ns - launch->device_start_ns);
}

/* The first copy that begins at `from` or later; *near: where to look first, and what was found. */
static size_t first_copy(const struct gmt_timeline *tl, int64_t from, size_t *near)
{
    size_t low = 0, high = tl->copy_count, step = 1;

    /* Launches of a stream ascend, so that the next answer is close behind the last one. */
    if (*near < high && tl->copies[*near].call.begin_ns < from) {
        low = *near + 1;
        while (low + step < high && tl->copies[low + step].call.begin_ns < from) {
            low += step + 1;
            step *= 2;
        }
        high = low + step < high ? low + step : high;
    } else if (*near < high && (*near == 0 || tl->copies[*near - 1].call.begin_ns < from)) {
        return *near;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tl->copies[middle].call.begin_ns < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *near = low;
    return low;
}

/* Whether a copy was called after from and before to. */
static bool copy_between(const struct gmt_timeline *tl, int64_t from, int64_t to, size_t *near)
{
    size_t first = first_copy(tl, from, near);

    return first < tl->copy_count && tl->copies[first].call.begin_ns < to;
}

/* On either side of a kernel that waits for its peers nothing can be fused, put beside it or into one launch with it. */
static bool communicates(const struct gmt_timeline *tl, const struct gmt_tl_launch *launch)
{
    return launch->class_index >= 0 && (size_t)launch->class_index < tl->class_count &&
           tl->classes[launch->class_index].communicates;
}

static bool find_follows(const struct gmt_launch_rows *rows, size_t i, size_t *near)
{
    const struct gmt_tl_launch *a = gmt_launch_rows_at(rows, i - 1),
                               *b = gmt_launch_rows_at(rows, i);

    if (a->call.stream != b->call.stream || a->class_index < 0 || b->class_index < 0 ||
        communicates(rows->timeline, a) || communicates(rows->timeline, b) ||
        copy_between(rows->timeline, a->call.begin_ns, b->call.begin_ns, near) ||
        gmt_unseen_between(rows->timeline->unseen, a->call.begin_ns, b->call.begin_ns)) {
        return false;
    }
    if (rows->timeline->simulated) {
        return true;
    }
    return !isnan(gmt_launch_time(a)) && !isnan(gmt_launch_time(b)) &&
           a->device_end_ns <= b->device_start_ns;
}

static void find_all_follows(struct gmt_launch_rows *rows)
{
    size_t near = 0;

    for (size_t i = 1; i < rows->n; i++) {
        rows->follows[i] = find_follows(rows, i, &near);
    }
}

int gmt_launch_rows_load(struct gmt_launch_rows *rows, const struct gmt_timeline *tl)
{
    int64_t(*keys)[2] = calloc(tl->launch_count + 1, sizeof(*keys));
    int rc = -ENOMEM;

    *rows = (struct gmt_launch_rows){.timeline = tl, .n = tl->launch_count};
    rows->order = calloc(rows->n + 1, sizeof(*rows->order));
    rows->overlapped = calloc(rows->n + 1, sizeof(*rows->overlapped));
    rows->follows = calloc(rows->n + 1, sizeof(*rows->follows));
    rows->first = calloc(rows->n + 1, sizeof(*rows->first));
    if (keys == NULL || rows->order == NULL || rows->overlapped == NULL || rows->follows == NULL ||
        rows->first == NULL) {
        goto out;
    }
    order_by_stream(rows, keys);
    find_overlaps(rows, keys);
    find_all_follows(rows);
    rc = load_arguments(rows);
    for (size_t i = 0; rc == 0 && i < rows->n; i++) {
        rows->first[i] = first_of(rows, tl->launches[i].argument_set);
    }
out:
    free(keys);
    return rc;
}

void gmt_launch_rows_free(struct gmt_launch_rows *rows)
{
    free(rows->order);
    free(rows->overlapped);
    free(rows->follows);
    free(rows->first);
    free(rows->arguments);
    *rows = (struct gmt_launch_rows){.n = 0};
}

bool gmt_launch_rows_follows(const struct gmt_launch_rows *rows, size_t i)
{
    return i < rows->n && rows->follows[i];
}

bool gmt_launch_rows_back_to_back(const struct gmt_launch_rows *rows, size_t i)
{
    if (!gmt_launch_rows_follows(rows, i)) {
        return false;
    }
    const struct gmt_tl_launch *a = gmt_launch_rows_at(rows, i - 1),
                               *b = gmt_launch_rows_at(rows, i);

    return b->call.begin_ns < a->device_end_ns &&
           (double)(b->device_start_ns - a->device_end_ns) < GMT_BACK_TO_BACK_NS;
}

static bool is_of(const struct gmt_launch_rows *rows, size_t argument, int64_t set)
{
    return argument < rows->argument_count && rows->arguments[argument].set == set;
}

/* Whether both were given one pointer; moved: as different parameters. */
static bool share(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *a,
                  const struct gmt_tl_launch *b, bool moved)
{
    const struct gmt_argument *all = rows->arguments;
    size_t start = rows->first[b - rows->timeline->launches];

    for (size_t i = rows->first[a - rows->timeline->launches]; is_of(rows, i, a->argument_set);
         i++) {
        for (size_t k = start; is_of(rows, k, b->argument_set); k++) {
            if (all[i].allocation == all[k].allocation && all[i].offset == all[k].offset &&
                (!moved || all[i].parameter != all[k].parameter)) {
                return true;
            }
        }
    }
    return false;
}

bool gmt_launch_rows_hand_over(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *a,
                               const struct gmt_tl_launch *b)
{
    return share(rows, a, b, true);
}

bool gmt_launch_rows_may_depend(const struct gmt_launch_rows *rows, const struct gmt_tl_launch *a,
                                const struct gmt_tl_launch *b)
{
    return a->argument_set == 0 || b->argument_set == 0 || share(rows, a, b, false);
}
