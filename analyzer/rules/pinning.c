/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the host ranges of copies, and prices pinning each of them. */
#include "analyzer/rules/pinning.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/price.h"
#include "analyzer/rules/copy_place.h"
#include "analyzer/thresholds.h"

static const struct gmt_timeline *sort_timeline; /* of the compare function below */

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = gmt_copy_host_address(&sort_timeline->copies[*(const size_t *)a]);
    uint64_t y = gmt_copy_host_address(&sort_timeline->copies[*(const size_t *)b]);

    return (x > y) - (x < y);
}

/* fmin and fmax ignore a NAN: what the model lacks does not decide. */
static void add_range(const struct gmt_model *model, double bytes, struct gmt_pinning *pinning)
{
    double registered = gmt_curve_at(&model->register_unregister, bytes);
    double allocated = gmt_curve_at(&model->pin_unpin, bytes);

    pinning->least_ns += gmt_known(fmin(registered, allocated));
    pinning->most_ns += gmt_known(fmax(registered, allocated));
    pinning->bytes += bytes;
    pinning->ranges++;
}

struct gmt_pinning gmt_pinning_cost(const struct gmt_analysis *analysis, size_t *members, size_t n)
{
    struct gmt_pinning pinning = {0};

    sort_timeline = analysis->timeline;
    qsort(members, n, sizeof(*members), compare_addresses);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t begin = gmt_copy_host_address(&analysis->timeline->copies[members[i]]);
        uint64_t limit = begin;

        for (end = i; end < n; end++) {
            const struct gmt_tl_copy *copy = &analysis->timeline->copies[members[end]];
            uint64_t from = gmt_copy_host_address(copy);

            if (from > limit + GMT_PAGE_BYTES)
                break;
            if (from + (uint64_t)copy->bytes > limit)
                limit = from + (uint64_t)copy->bytes;
        }
        add_range(analysis->model, (double)(limit - begin), &pinning);
    }
    return pinning;
}
