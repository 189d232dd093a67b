/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the rows of a trace: order, kernel times, end of the run. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/managed_ops.h"
#include "analyzer/trace/timeline.h"

/* Of at least one; their order changes. */
static double median_of(int64_t *times, size_t n)
{
    int64_t below = gmt_sort_select(times, n, (n - 1) / 2), above = INT64_MAX;
    size_t until = 0; /* how many are no larger */

    for (size_t i = 0; i < n; i++) {
        until += times[i] <= below;
        above = times[i] > below && times[i] < above ? times[i] : above;
    }
    return ((double)below + (double)(until > n / 2 ? below : above)) / 2;
}

/* The class's mean stands for launches that were made while records were off: so far the sum is an estimate, by a sample of its
 * launches. The others' times scatter around their mean, and so do these around theirs. */
static void note_estimates(const struct gmt_timeline *tl, struct gmt_tl_class *class,
                           const int64_t *times, size_t n)
{
    int64_t untimed = class->launches - class->timed - (class->measured - class->repeated);
    double sum = 0, squares = 0, all = (double)n;

    if (tl->off_count == 0 || untimed <= 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sum += (double)times[i];
    }
    for (size_t i = 0; i < n; i++) {
        squares += ((double)times[i] - sum / all) * ((double)times[i] - sum / all);
    }
    class->estimated = untimed;
    double variance = n > 1 ? squares / (all - 1) : NAN, many = (double)untimed;
    class->estimated_error_ns = 1.96 * many * sqrt(variance * (1 / all + 1 / many));
}

double gmt_class_typical_launches(const struct gmt_tl_class *class)
{
    double n = (double)class->launches;

    return class->median_ns > 0 && isfinite(class->total_ns)
               ? fmin(class->total_ns / class->median_ns, GMT_TYPICAL_MOST * n)
               : n;
}

/* The times that are known, and one for each launch of which none is: the mean where records were off now and then, so that those
 * that are there are a sample; else, where a few launches were measured in place of timed, the median. */
static double total_of(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                       const int64_t *times, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += (double)times[i];
    }
    double usual_ns = tl->off_count > 0 ? sum / (double)n : class->median_ns;
    return sum + usual_ns * (double)(class->launches - (int64_t)n);
}

/* Time without faults, which are added to the class. */
static int64_t without_faults(struct gmt_tl_class *class, int64_t ns, double faults_ns)
{
    class->faults_ns += faults_ns;
    return ns - (int64_t)faults_ns;
}

/* What is left of a kernel is too little to reason with. */
static void judge_faults(const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->class_index >= 0 && launch->device_end_ns == GMT_NO_TIME) {
            tl->classes[launch->class_index].faults_ns += launch->faults_ns;
        }
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        struct gmt_tl_class *class = &tl->classes[c];
        double own_ns = isnan(class->total_ns) ? 0 : class->total_ns;

        class->is_faults = class->faults_ns > 0 && class->faults_ns >= own_ns;
    }
}

/* Median over launches with a device time, in graphs too, per class, and the sums that follow. */
static int derive_kernel_times(struct gmt_timeline *tl)
{
    int64_t *times = calloc(tl->launch_count + tl->node_count + 1, sizeof(*times));
    size_t *first = calloc(tl->class_count + 1, sizeof(*first));
    int rc = -ENOMEM;

    if (times == NULL || first == NULL) {
        goto out;
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        tl->classes[c].alone = 0;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->class_index < 0) {
            continue;
        }
        struct gmt_tl_class *class = &tl->classes[launch->class_index];
        if (class->alone++ == 0) {
            class->first_launch = i;
        }
        class->measured += launch->measured || launch->repeated;
        class->repeated += launch->repeated;
        class->timed += !launch->measured && launch->device_end_ns != GMT_NO_TIME;
    }
    size_t at = 0;
    for (size_t c = 0; c < tl->class_count; c++) {
        struct gmt_tl_class *class = &tl->classes[c];

        class->launches = class->alone + class->in_graphs + class->steps;
        class->measured += class->steps;
        /* Nothing is said of what did not run: in a range of the run, say. */
        for (size_t m = 0; class->launches == 0 && m < GMT_METRICS; m++) {
            class->counter[m] = NAN;
        }
        first[c] = at;
        for (int64_t i = 0; i < class->in_graphs; i++) {
            struct gmt_interval ran = {class->nodes[i].device_start_ns,
                                       class->nodes[i].device_end_ns};

            times[at++] = without_faults(class, ran.end_ns - ran.begin_ns,
                                         gmt_faults_within(tl, ran));
        }
        at += (size_t) class->timed;
        class->timed = class->in_graphs;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->class_index < 0 || launch->measured || launch->device_end_ns == GMT_NO_TIME) {
            continue;
        }
        struct gmt_tl_class *class = &tl->classes[launch->class_index];
        times[first[launch->class_index] + (size_t) class->timed++] = without_faults(
            class, launch->device_end_ns - launch->device_start_ns, launch->faults_ns);
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        struct gmt_tl_class *class = &tl->classes[c];
        size_t n = (size_t) class->timed;

        if (n == 0) {
            continue;
        }
        class->median_ns = median_of(times + first[c], n);
        class->total_ns = total_of(tl, class, times + first[c], n);
        note_estimates(tl, class, times + first[c], n);
    }
    judge_faults(tl);
    rc = 0;
out:
    free(times);
    free(first);
    return rc;
}

/* Which launches are of which class, without looking at all of them for each. */
static int derive_class_order(struct gmt_timeline *tl)
{
    size_t at = 0;

    tl->by_class = calloc(tl->launch_count + 1, sizeof(*tl->by_class));
    if (tl->by_class == NULL || tl->launch_count > UINT32_MAX) {
        return -ENOMEM;
    }
    for (size_t c = 0; c < tl->class_count; c++) {
        tl->classes[c].of_class = tl->by_class + at;
        at += (size_t)tl->classes[c].alone;
        tl->classes[c].alone = 0;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        struct gmt_tl_class *class = tl->launches[i].class_index >= 0
                                         ? &tl->classes[tl->launches[i].class_index]
                                         : NULL;

        if (class != NULL) {
            class->of_class[class->alone++] = (uint32_t)i;
        }
    }
    return 0;
}

/* Only launches of graphs are looked up by their id. */
static int derive_launch_ids(struct gmt_timeline *tl)
{
    if (tl->node_count == 0) {
        return 0;
    }
    tl->launch_ids = calloc(tl->launch_count + 1, sizeof(*tl->launch_ids));
    if (tl->launch_ids == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        tl->launch_ids[i][0] = tl->launches[i].call.id;
        tl->launch_ids[i][1] = (int64_t)i;
    }
    gmt_sort_pairs(tl->launch_ids, tl->launch_count);
    return 0;
}

static int derive_pending(struct gmt_timeline *tl)
{
    int64_t busy_until = INT64_MIN;

    tl->pending = calloc(tl->launch_count + 1, sizeof(*tl->pending));
    if (tl->pending == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[i];

        if (launch->device_end_ns == GMT_NO_TIME) {
            continue;
        }
        if (launch->device_end_ns > busy_until) {
            busy_until = launch->device_end_ns;
        }
        tl->pending[tl->pending_count++] = (struct gmt_tl_pending){launch->call.begin_ns,
                                                                   busy_until};
    }
    return 0;
}

/* For every copy: they are asked for again and again. */
static void derive_waits(struct gmt_timeline *tl)
{
    size_t next = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];

        while (next < tl->pending_count && tl->pending[next].begin_ns <= copy->call.begin_ns) {
            next++;
        }
        int64_t busy_until = next > 0 ? tl->pending[next - 1].busy_until_ns : INT64_MIN;
        copy->wait_ns = busy_until > copy->call.begin_ns ? busy_until - copy->call.begin_ns : 0;
    }
}

/* Whether a copy may have had to wait for a kernel: for traces without device times. */
static void derive_after_launch(struct gmt_timeline *tl)
{
    size_t next = 0;
    bool launched = false;

    for (size_t i = 0; i < tl->copy_count; i++) {
        struct gmt_tl_copy *copy = &tl->copies[i];

        for (; next < tl->launch_count && tl->launches[next].call.begin_ns <= copy->call.begin_ns;
             next++) {
            launched = true;
        }
        copy->after_launch = launched;
        if (copy->blocking) {
            launched = false;
        }
    }
}

static void derive_span(struct gmt_timeline *tl)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;

    for (size_t i = 0; i < tl->copy_count; i++) {
        if (tl->copies[i].call.end_ns > end) {
            end = tl->copies[i].call.end_ns;
        }
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        if (tl->launches[i].call.end_ns > end) {
            end = tl->launches[i].call.end_ns;
        }
    }
    if (tl->busy_count > 0 && tl->busy[tl->busy_count - 1].end_ns > end) {
        end = tl->busy[tl->busy_count - 1].end_ns;
    }
    if (tl->copy_count > 0) {
        begin = tl->copies[0].call.begin_ns;
    }
    if (tl->launch_count > 0 && tl->launches[0].call.begin_ns < begin) {
        begin = tl->launches[0].call.begin_ns;
    }
    if (tl->start_ns == GMT_NO_TIME) {
        tl->start_ns = begin == INT64_MAX ? 0 : begin;
    }
    if (tl->end_ns == GMT_NO_TIME || tl->end_ns < tl->start_ns) {
        tl->end_ns = end > tl->start_ns ? end : tl->start_ns;
    }
}

int gmt_timeline_derive(struct gmt_timeline *tl)
{
    int rc = gmt_managed_ops_load(tl);

    derive_span(tl);
    if (rc == 0) {
        rc = gmt_timeline_load_off(tl);
    }
    if (rc == 0) {
        rc = derive_kernel_times(tl);
    }
    if (rc == 0) {
        rc = derive_launch_ids(tl);
    }
    if (rc == 0) {
        rc = derive_pending(tl);
    }
    if (rc == 0) {
        rc = derive_class_order(tl);
    }
    if (rc == 0) {
        rc = gmt_cover_keep_kernels(tl);
    }
    derive_waits(tl);
    derive_after_launch(tl);
    gmt_timeline_mark_gaps(tl);
    return rc;
}
