/* SPDX-License-Identifier: Apache-2.0 */
/* The one saving of all findings together, on the merged timeline. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/intervals.h"

static struct gmt_finding finding(struct gmt_interval *claims, size_t n, double saving_ns)
{
    return (struct gmt_finding){
        .claims = claims, .claim_count = n, .saving = {saving_ns / 2, saving_ns, saving_ns, NAN}};
}

static double combined(const struct gmt_finding *findings, size_t n)
{
    struct gmt_saving saving;

    cr_assert_eq(gmt_findings_combine(findings, n, 1000, &saving), 0);
    cr_assert(saving.low_ns <= saving.best_ns && saving.best_ns <= saving.high_ns);
    cr_assert_float_eq(saving.share, saving.best_ns / 1000, 1e-9);
    return saving.best_ns;
}

Test(combined, of_nothing_is_nothing)
{
    cr_assert_eq(combined(NULL, 0), 0);
}

Test(combined, adds_what_lies_apart)
{
    struct gmt_interval a[] = {{0, 100}}, b[] = {{200, 300}};
    struct gmt_finding findings[] = {finding(a, 1, 50), finding(b, 1, 80)};

    cr_assert_float_eq(combined(findings, 2), 130, 1e-9);
}

Test(combined, counts_the_same_time_once)
{
    struct gmt_interval a[] = {{0, 100}}, b[] = {{0, 100}};
    struct gmt_finding findings[] = {finding(a, 1, 50), finding(b, 1, 80)};

    cr_assert_float_eq(combined(findings, 2), 80, 1e-9);
}

Test(combined, splits_partial_overlaps)
{
    struct gmt_interval a[] = {{0, 100}}, b[] = {{50, 150}};
    struct gmt_finding findings[] = {finding(a, 1, 50), finding(b, 1, 100)};

    /* Half of the first, all of the second. */
    cr_assert_float_eq(combined(findings, 2), 125, 1e-9);
}

Test(combined, never_exceeds_what_is_claimed)
{
    struct gmt_interval a[] = {{0, 10}, {20, 30}}, b[] = {{5, 25}};
    struct gmt_finding findings[] = {finding(a, 2, 5000), finding(b, 1, 5000)};

    cr_assert_float_eq(combined(findings, 2), 30, 1e-9);
}

Test(combined, leaves_out_what_has_no_price)
{
    struct gmt_interval a[] = {{0, 100}}, b[] = {{0, 100}};
    struct gmt_finding findings[] = {finding(a, 1, 50), finding(b, 1, NAN)};

    cr_assert_float_eq(combined(findings, 2), 50, 1e-9);
}

Test(intervals, merge_sorts_joins_and_drops_empty_ones)
{
    struct gmt_interval all[] = {{50, 60}, {0, 10}, {10, 20}, {15, 18}, {30, 30}};

    cr_assert_eq(gmt_intervals_merge(all, 5), 2);
    cr_assert_eq(all[0].begin_ns, 0);
    cr_assert_eq(all[0].end_ns, 20);
    cr_assert_eq(all[1].begin_ns, 50);
    cr_assert_float_eq(gmt_intervals_length(all, 2), 30, 1e-9);
}
