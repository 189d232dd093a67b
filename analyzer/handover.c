/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a stream hands over from the copy engine to a kernel, or back. */
#include "analyzer/handover.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/thresholds.h"

#define IS_KERNEL SIZE_MAX

struct step {
    int32_t stream;
    int64_t submitted_ns; /* the host's call had returned */
    int64_t start_ns, end_ns;
    size_t copy; /* index of the copy, or IS_KERNEL */
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Whatever the device has timed, by stream and start; how many. */
static size_t collect(const struct gmt_timeline *tl, struct step *steps)
{
    size_t n = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        if (copy->device_end_ns != GMT_NO_TIME && copy->device_start_ns != GMT_NO_TIME)
            steps[n++] = (struct step){copy->call.stream, copy->call.end_ns, copy->device_start_ns,
                                       copy->device_end_ns, i};
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->device_end_ns != GMT_NO_TIME && launch->device_start_ns != GMT_NO_TIME)
            steps[n++] = (struct step){launch->call.stream, launch->call.end_ns,
                                       launch->device_start_ns, launch->device_end_ns, IS_KERNEL};
    }
    qsort(steps, n, sizeof(*steps), compare_steps);
    return n;
}

int gmt_handovers(const struct gmt_timeline *tl, double *of_copy)
{
    struct step *steps = calloc(tl->copy_count + tl->launch_count + 1, sizeof(*steps));

    if (steps == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < tl->copy_count; i++)
        of_copy[i] = 0;
    size_t n = collect(tl, steps);
    for (size_t i = 1; i < n; i++) {
        const struct step *a = &steps[i - 1], *b = &steps[i];
        double still_ns = (double)(b->start_ns - a->end_ns);

        if (a->stream != b->stream || (a->copy == IS_KERNEL) == (b->copy == IS_KERNEL) ||
            b->submitted_ns > a->end_ns || still_ns <= 0 || still_ns > GMT_HANDOVER_MOST_NS)
            continue;
        of_copy[a->copy == IS_KERNEL ? b->copy : a->copy] += still_ns;
    }
    free(steps);
    return 0;
}
