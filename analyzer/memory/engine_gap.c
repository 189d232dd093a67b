/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a stream hands over from the copy engine to a kernel, or back. */
#include "analyzer/memory/engine_gap.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"

/* One operation of the device. */
struct step {
    int32_t stream;
    bool kernel;
    size_t index;         /* of the copy or the launch */
    int64_t submitted_ns; /* the host's call had returned */
    int64_t start_ns, end_ns;
};

/* Operations by their numbers: copies first, then launches. */
static struct step step_at(const struct gmt_timeline *tl, int64_t number)
{
    size_t index = (size_t)number;

    if (index < tl->copy_count) {
        const struct gmt_tl_copy *copy = &tl->copies[index];

        return (struct step){
            copy->call.stream,  false, index, copy->call.end_ns, copy->device_start_ns,
            copy->device_end_ns};
    }
    const struct gmt_tl_launch *launch = &tl->launches[index - tl->copy_count];

    return (struct step){
        launch->call.stream,  true, index, launch->call.end_ns, launch->device_start_ns,
        launch->device_end_ns};
}

/* The numbers of what the device has timed, by stream and start; how many. */
static size_t collect(const struct gmt_timeline *tl, int64_t (*order)[2])
{
    size_t n = 0;

    for (size_t i = 0; i < tl->copy_count + tl->launch_count; i++) {
        struct step step = step_at(tl, (int64_t)i);

        if (step.start_ns != GMT_NO_TIME && step.end_ns != GMT_NO_TIME) {
            order[n][0] = step.start_ns;
            order[n++][1] = (int64_t)i;
        }
    }
    gmt_sort_pairs(order, n);
    for (size_t i = 0; i < n; i++) {
        order[i][0] = step_at(tl, order[i][1]).stream;
    }
    gmt_sort_pairs(order, n);
    return n;
}

int gmt_engine_gaps(const struct gmt_timeline *tl, double *of_copy)
{
    int64_t(*order)[2] = calloc(tl->copy_count + tl->launch_count + 1, sizeof(*order));
    struct step a = {.stream = -1}, b;

    if (order == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        of_copy[i] = 0;
    }
    size_t n = collect(tl, order);
    for (size_t i = 0; i < n; i++, a = b) {
        b = step_at(tl, order[i][1]);
        double still_ns = i > 0 ? (double)(b.start_ns - a.end_ns) : 0;

        if (a.stream != b.stream || a.kernel == b.kernel || b.submitted_ns > a.end_ns ||
            still_ns <= 0 || still_ns > GMT_ENGINE_GAP_MOST_NS ||
            gmt_intervals_overlap(tl->off, tl->off_count,
                                  (struct gmt_interval){a.end_ns, b.start_ns}) > 0) {
            continue;
        }
        of_copy[a.kernel ? b.index : a.index] += still_ns;
    }
    free(order);
    return 0;
}
