/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of small independent kernels in one stream: what GM506 is about and others leave to it. */
#include "analyzer/rules/common/small_rows.h"

#include <stdlib.h>

#include "analyzer/base/thresholds.h"

/* Of a class, asked once and not for every launch. */
struct size_of_class {
    double share;     /* of the device that a launch fills */
    double device_ns; /* that a launch takes at the roof   */
};

static struct size_of_class *sizes_of_classes(const struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct size_of_class *sizes = calloc(tl->class_count + 1, sizeof(*sizes));

    for (size_t i = 0; sizes != NULL && i < tl->class_count; i++) {
        const struct gmt_tl_class *class = &tl->classes[i];

        sizes[i].share = class->timed > 0 ? gmt_shape_of(tl, class).waves : NAN;
        if (sizes[i].share <= GMT_SMALL_KERNEL_SHARE) {
            sizes[i].device_ns = gmt_price_roof(analysis->model, tl, class, 1).all_ns;
        }
    }
    return sizes;
}

static void add_launch(struct gmt_small_row *row, const struct gmt_tl_launch *launch,
                       const struct size_of_class *size)
{
    double t_ns = gmt_launch_time(launch), n = row->sizes.kernels;

    row->n++;
    row->sizes.share = (row->sizes.share * n + size->share) / (n + 1);
    row->sizes.kernels = n + 1;
    row->sizes.total_ns += t_ns;
    row->sizes.longest_ns = fmax(row->sizes.longest_ns, t_ns);
    row->sizes.device_ns += size->device_ns;
}

/* Whether launch i may join the row that ends just before it. */
static bool joins(const struct gmt_launch_rows *rows, const struct gmt_small_row *row, size_t i)
{
    const struct gmt_tl_launch *launch = gmt_launch_rows_at(rows, i);

    if (row->sizes.kernels >= GMT_CONCURRENT_KERNELS || rows->overlapped[rows->order[i]] ||
        !gmt_launch_rows_back_to_back(rows, i)) {
        return false;
    }
    for (size_t k = row->first; k < i; k++) {
        if (gmt_launch_rows_may_depend(rows, gmt_launch_rows_at(rows, k), launch)) {
            return false;
        }
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
    struct size_of_class *sizes = sizes_of_classes(analysis);
    struct gmt_small_row row = {.n = 0};

    for (size_t i = 0; sizes != NULL && i <= rows->n; i++) {
        const struct gmt_tl_launch *launch = i < rows->n ? gmt_launch_rows_at(rows, i) : NULL;
        bool small = launch != NULL && gmt_launch_time(launch) >= least_ns &&
                     sizes[launch->class_index].share <= GMT_SMALL_KERNEL_SHARE;

        if (row.n > 0 && !(small && joins(rows, &row, i))) {
            if (row.n >= GMT_ROW_MIN_KERNELS) {
                found(analysis, rows, &row, user);
            }
            row.n = 0;
        }
        if (row.n == 0) {
            row = (struct gmt_small_row){.first = i};
        }
        if (small) {
            add_launch(&row, launch, &sizes[launch->class_index]);
        }
    }
    if (sizes == NULL) {
        analysis->report->arena->failed = true;
    }
    free(sizes);
}

static void count_launches(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                           const struct gmt_small_row *row, void *user)
{
    int64_t *counts = user;

    (void)analysis;
    for (size_t i = row->first; i < row->first + row->n; i++) {
        counts[gmt_launch_rows_at(rows, i)->class_index]++;
    }
}

/* By class: whether it is left out. To be freed; NULL: no memory, or the trace cannot be read. */
static bool *classes_in_rows(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    int64_t *counts = calloc(tl->class_count + 1, sizeof(*counts));
    bool *most = calloc(tl->class_count + 1, sizeof(*most));
    const struct gmt_launch_rows *rows = gmt_analysis_launch_rows(analysis);

    if (counts == NULL || most == NULL || rows == NULL) {
        free(most);
        most = NULL;
    } else {
        gmt_small_rows_find(analysis, rows, count_launches, counts);
        for (size_t i = 0; i < tl->launch_count; i++) {
            if (rows->overlapped[i] && tl->launches[i].class_index >= 0) {
                counts[tl->launches[i].class_index]++;
            }
        }
        for (size_t i = 0; i < tl->class_count; i++) {
            counts[i] += tl->classes[i].beside;
        }
        for (size_t i = 0; i < tl->class_count; i++) {
            most[i] = counts[i] > 0 && 2 * counts[i] >= tl->classes[i].timed;
        }
    }
    free(counts);
    return most;
}

enum gmt_outcome gmt_check_outside_small_rows(struct gmt_analysis *analysis,
                                              void (*check)(struct gmt_analysis *analysis,
                                                            const struct gmt_tl_class *class))
{
    if (analysis->timeline->device.sm_count <= 0) {
        return gmt_could_not(analysis, "the trace does not have the number of multiprocessors");
    }
    bool *in_rows = classes_in_rows(analysis);
    if (in_rows == NULL) {
        return gmt_could_not(analysis, "the launches could not be read");
    }
    for (size_t i = 0; i < analysis->timeline->class_count; i++) {
        if (!in_rows[i]) {
            check(analysis, &analysis->timeline->classes[i]);
        }
    }
    free(in_rows);
    return GMT_OUTCOME_PASS;
}
