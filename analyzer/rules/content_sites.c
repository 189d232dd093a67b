/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that carried nothing new, summed up: what GM105 and GM106 have in common. */
#include "analyzer/rules/content_sites.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/intervals.h"
#include "reports/format.h"

int gmt_kernel_times_load(struct gmt_kernel_times *times, const struct gmt_timeline *tl)
{
    times->count = 0;
    times->intervals = calloc(tl->launch_count + 1, sizeof(*times->intervals));
    if (times->intervals == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->device_start_ns != GMT_NO_TIME && launch->device_end_ns != GMT_NO_TIME &&
            launch->device_end_ns > launch->device_start_ns)
            times->intervals[times->count++] = (struct gmt_interval){launch->device_start_ns,
                                                                     launch->device_end_ns};
    }
    times->count = gmt_intervals_merge(times->intervals, times->count);
    return 0;
}

static double overlap_ns(const struct gmt_kernel_times *times, struct gmt_interval with)
{
    size_t low = 0, high = times->count;
    double ns = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (times->intervals[middle].end_ns <= with.begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < times->count && times->intervals[low].begin_ns < with.end_ns; low++) {
        int64_t begin = times->intervals[low].begin_ns, end = times->intervals[low].end_ns;

        ns += (double)((end < with.end_ns ? end : with.end_ns) -
                       (begin > with.begin_ns ? begin : with.begin_ns));
    }
    return ns;
}

void gmt_copy_sum_add(struct gmt_copy_sum *sum, const struct gmt_timeline *tl,
                      const struct gmt_kernel_times *times, const struct gmt_tl_copy *copy)
{
    double cost_ns = gmt_copy_cost_ns(tl, copy);
    double hidden_ns = overlap_ns(times, gmt_copy_interval(tl, copy));

    sum->copies++;
    sum->bytes += (double)copy->bytes;
    sum->cost_ns += cost_ns;
    sum->hidden_ns += hidden_ns;
    sum->low_ns += copy->blocking ? cost_ns - hidden_ns : 0;
    sum->best_ns += copy->blocking ? cost_ns : cost_ns - hidden_ns;
}

const char *gmt_copy_sum_hidden(struct gmt_analysis *analysis, const struct gmt_copy_sum *sum)
{
    char text[GMT_FORMAT_BYTES];

    if (!(sum->cost_ns - sum->best_ns > 0))
        return "";
    return gmt_text(analysis, "; %s of it were hidden behind kernels and save nothing",
                    gmt_format_ns(text, sum->cost_ns - sum->best_ns));
}

const char *gmt_copy_place_sql(struct gmt_analysis *analysis, const struct gmt_tl_copy *copy,
                               const char *table)
{
    return copy->call.stack_id > 0
               ? gmt_text(analysis, "%s.stack_id = %" PRId64, table, copy->call.stack_id)
               : gmt_text(analysis, "%s.caller = %" PRId64, table, (int64_t)copy->call.caller);
}

struct member {
    uint64_t site;
    size_t index;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void gmt_copies_sort_by_site(const struct gmt_timeline *tl, size_t *members, size_t n)
{
    struct member *sorted = calloc(n + 1, sizeof(*sorted));

    if (sorted == NULL)
        return; /* in the order of time: more findings, all of them right */
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct member){tl->copies[members[i]].call.site, members[i]};
    qsort(sorted, n, sizeof(*sorted), compare_members);
    for (size_t i = 0; i < n; i++)
        members[i] = sorted[i].index;
    free(sorted);
}

static const char *why_open(char skipped)
{
    switch (skipped) {
    case 'o': return "hashing had used up its share of the time: --fingerprint-budget";
    case 'u': return "the host cannot read that memory, or only slowly";
    case 'a': return "asynchronous copies to page-locked memory have none";
    default: return "record with --fingerprints sampled or whole";
    }
}

enum gmt_outcome gmt_content_outcome(struct gmt_analysis *analysis, size_t compared, size_t open,
                                     char skipped, const char *what)
{
    if (compared + open == 0)
        return GMT_OUTCOME_NOT_APPLICABLE;
    if (open > compared)
        return gmt_could_not(analysis, "%zu of %zu %s without a fingerprint to compare: %s", open,
                             open + compared, what, why_open(skipped));
    return GMT_OUTCOME_PASS;
}
