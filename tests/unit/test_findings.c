/* SPDX-License-Identifier: Apache-2.0 */
/* The one saving of all findings together, on the merged timeline. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/base/intervals.h"
#include "analyzer/findings/joints.h"
#include "libtrace/base/arena.h"

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

static struct gmt_finding of_kernel(struct gmt_interval *claim, const char *kernel,
                                    enum gmt_touches touches, double saving_ns)
{
    struct gmt_finding made = finding(claim, 1, saving_ns);

    made.where.kernel = kernel;
    made.touches = touches;
    return made;
}

Test(combined, gives_a_fix_its_share_of_what_another_one_leaves)
{
    struct gmt_interval all[] = {{0, 100}};
    struct gmt_finding findings[] = {of_kernel(all, "k", GMT_TOUCHES_BANKS, 40),
                                     of_kernel(all, "k", GMT_TOUCHES_LOADS, 50),
                                     of_kernel(all, "k", GMT_TOUCHES_LOADS, 30)};
    struct gmt_saving saving;

    cr_assert_float_eq(combined(findings, 3), 70, 1e-9);
    cr_assert_eq(gmt_findings_combine(findings, 3, 1000, &saving), 0);
    cr_assert_float_eq(saving.low_ns, 25, 1e-9);
    cr_assert_float_eq(saving.high_ns, 90, 1e-9);
}

Test(combined, joins_neither_other_kernels_nor_what_replaces_the_launch)
{
    struct gmt_interval all[] = {{0, 100}};
    struct gmt_finding others[] = {of_kernel(all, "k", GMT_TOUCHES_LOADS, 50),
                                   of_kernel(all, "m", GMT_TOUCHES_BANKS, 40)};
    struct gmt_finding whole[] = {of_kernel(all, "k", GMT_TOUCHES_LOADS, 50),
                                  of_kernel(all, "k", GMT_TOUCHES_ALL, 40)};

    cr_assert_float_eq(combined(others, 2), 50, 1e-9);
    cr_assert_float_eq(combined(whole, 2), 50, 1e-9);
}

Test(joints, name_kernels_with_several_problems_and_the_share_of_each)
{
    struct gmt_interval first[] = {{0, 100}}, second[] = {{200, 300}};
    struct gmt_finding findings[] = {of_kernel(second, "alone", GMT_TOUCHES_LOADS, 90),
                                     of_kernel(first, "k", GMT_TOUCHES_LOADS, 60),
                                     of_kernel(first, "k", GMT_TOUCHES_BANKS, 20)};
    struct gmt_kernel_row kernels[] = {{.name = "k", .device_ns = 60},
                                       {.name = "alone", .device_ns = 100},
                                       {.name = "k", .device_ns = 40}};
    struct gmt_arena arena = {0};
    struct gmt_report report = {.arena = &arena,
                                .findings = findings,
                                .finding_count = 3,
                                .kernels = kernels,
                                .kernel_count = 3,
                                .wall_ns = 1000};

    cr_assert_eq(gmt_joints_fill(&report), 0);
    cr_assert_eq(report.joint_count, 1);
    const struct gmt_joint *joint = &report.joints[0];
    cr_assert_str_eq(joint->kernel, "k");
    cr_assert_eq(joint->cost_ns, 100);
    cr_assert_float_eq(joint->saving.best_ns, 68, 1e-9);
    cr_assert_eq(joint->part_count, 2);
    cr_assert_eq(joint->parts[0].finding, 1);
    cr_assert_float_eq(joint->parts[0].share, 0.75, 1e-9);
    cr_assert_float_eq(joint->parts[1].share, 0.25, 1e-9);
    gmt_arena_free(&arena);
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
