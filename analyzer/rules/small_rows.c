/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of small independent kernels in one stream: what GM506 is about and others leave to it. */
#include "analyzer/rules/small_rows.h"

#include <stdlib.h>

#include "analyzer/thresholds.h"

/* Share of the device that a launch fills, by class: asked once, not for every launch. */
static double *shares_of_classes(const struct gmt_timeline *tl)
{
    double *shares = calloc(tl->class_count + 1, sizeof(*shares));

    for (size_t i = 0; shares != NULL && i < tl->class_count; i++)
        shares[i] = tl->classes[i].timed > 0 ? gmt_shape_of(tl, &tl->classes[i]).waves : NAN;
    return shares;
}

static void add_launch(struct gmt_analysis *analysis, struct gmt_small_row *row,
                       const struct gmt_tl_launch *launch, double share)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_class *class = &tl->classes[launch->class_index];
    double t_ns = gmt_launch_time(launch), n = row->sizes.kernels;

    row->n++;
    row->sizes.share = (row->sizes.share * n + share) / (n + 1);
    row->sizes.kernels = n + 1;
    row->sizes.total_ns += t_ns;
    row->sizes.longest_ns = fmax(row->sizes.longest_ns, t_ns);
    row->sizes.device_ns += gmt_price_roof(analysis->model, tl, class, true).device_ns;
}

/* Whether launch i may join the row that ends just before it. */
static bool joins(const struct gmt_launch_rows *rows, const struct gmt_small_row *row, size_t i)
{
    const struct gmt_tl_launch *launch = gmt_launch_rows_at(rows, i);

    if (row->sizes.kernels >= GMT_CONCURRENT_KERNELS || rows->overlapped[rows->order[i]] ||
        !gmt_launch_rows_back_to_back(rows, i))
        return false;
    for (size_t k = row->first; k < i; k++) {
        if (gmt_launch_rows_may_depend(rows, gmt_launch_rows_at(rows, k), launch))
            return false;
    }
    return true;
}

void gmt_small_rows_find(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                         void (*found)(struct gmt_analysis *analysis,
                                       const struct gmt_launch_rows *rows,
                                       const struct gmt_small_row *row, void *user),
                         void *user)
{
    /* What is launched more slowly than it runs is GM507's. */
    double least_ns = fmax(GMT_KERNEL_LEAST_NS, gmt_known(analysis->model->launch_queued_ns));
    double *shares = shares_of_classes(analysis->timeline);
    struct gmt_small_row row = {.n = 0};

    for (size_t i = 0; shares != NULL && i <= rows->n; i++) {
        const struct gmt_tl_launch *launch = i < rows->n ? gmt_launch_rows_at(rows, i) : NULL;
        bool small = launch != NULL && gmt_launch_time(launch) >= least_ns &&
                     shares[launch->class_index] <= GMT_SMALL_KERNEL_SHARE;

        if (row.n > 0 && !(small && joins(rows, &row, i))) {
            if (row.n >= GMT_ROW_MIN_KERNELS)
                found(analysis, rows, &row, user);
            row.n = 0;
        }
        if (row.n == 0)
            row = (struct gmt_small_row){.first = i};
        if (small)
            add_launch(analysis, &row, launch, shares[launch->class_index]);
    }
    if (shares == NULL)
        analysis->report->arena->failed = true;
    free(shares);
}

static void count_launches(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                           const struct gmt_small_row *row, void *user)
{
    int64_t *counts = user;

    (void)analysis;
    for (size_t i = row->first; i < row->first + row->n; i++)
        counts[gmt_launch_rows_at(rows, i)->class_index]++;
}

/* By class: whether it is left out. To be freed; NULL: no memory, or the trace cannot be read. */
static bool *classes_in_rows(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    int64_t *counts = calloc(tl->class_count + 1, sizeof(*counts));
    bool *most = calloc(tl->class_count + 1, sizeof(*most));
    struct gmt_launch_rows rows = {.n = 0};

    if (counts == NULL || most == NULL || gmt_launch_rows_load(&rows, tl) != 0) {
        free(most);
        most = NULL;
    } else {
        gmt_small_rows_find(analysis, &rows, count_launches, counts);
        for (size_t i = 0; i < tl->launch_count; i++) {
            if (rows.overlapped[i] && tl->launches[i].class_index >= 0)
                counts[tl->launches[i].class_index]++;
        }
        for (size_t i = 0; i < tl->class_count; i++)
            most[i] = counts[i] > 0 && 2 * counts[i] >= tl->classes[i].timed;
    }
    gmt_launch_rows_free(&rows);
    free(counts);
    return most;
}

enum gmt_outcome gmt_check_outside_small_rows(struct gmt_analysis *analysis,
                                              void (*check)(struct gmt_analysis *analysis,
                                                            const struct gmt_tl_class *class))
{
    if (analysis->timeline->device.sm_count <= 0)
        return gmt_could_not(analysis,
                             "the trace does not tell how many multiprocessors there are");
    bool *in_rows = classes_in_rows(analysis);
    if (in_rows == NULL)
        return gmt_could_not(analysis, "the launches could not be read");
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        if (!in_rows[i])
            check(analysis, &analysis->timeline->classes[i]);
    }
    free(in_rows);
    return GMT_OUTCOME_PASS;
}
