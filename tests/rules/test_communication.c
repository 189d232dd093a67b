/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that wait for their peers: no rule says anything of them, and the report says why, once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/run/rules.h"
#include "libtrace/record/communication.h"
#include "tests/rules/fixture.h"

#define NCCL "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
#define RENAME "UPDATE kernel SET name = '" NCCL "', mangled = '" NCCL "'"

static size_t about_kernels(const struct gmt_finding *findings, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        count += findings[i].where.kernel != NULL;
    }
    return count;
}

static const struct gmt_gap *the_gap(const struct gmt_report *report)
{
    const struct gmt_gap *found = NULL;

    for (size_t i = 0; i < report->gap_count; i++) {
        if (strcmp(report->gaps[i].what, "communication") == 0) {
            cr_assert_null(found, "said more than once");
            found = &report->gaps[i];
        }
    }
    return found;
}

static size_t all_about_kernels(const struct gmt_report *report)
{
    return about_kernels(report->findings, report->finding_count) +
           about_kernels(report->notes, report->note_count);
}

/* What each rule finds in a kernel of the program's it does not find in one of NCCL's. */
Test(communication, no_rule_judges_a_kernel_that_waits_for_its_peers)
{
    size_t rules = 0;

    for (size_t i = 0; i < gmt_rule_count; i++) {
        const struct gmt_rule *rule = gmt_rules[i];
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, rule->id, "SELECT 1");
        gmt_fixture_analyze(&fixture, rule->id);
        size_t found = all_about_kernels(&fixture.report);
        cr_expect_null(the_gap(&fixture.report), "%s", rule->id);
        gmt_fixture_free(&fixture);
        if (found == 0) {
            continue;
        }
        rules++;
        gmt_fixture_load_positive(&fixture, rule->id, RENAME);
        gmt_fixture_analyze(&fixture, rule->id);
        cr_expect_eq(all_about_kernels(&fixture.report), 0, "%s: %s", rule->id,
                     gmt_fixture_found(&fixture.report));
        const struct gmt_gap *gap = the_gap(&fixture.report);
        cr_assert_not_null(gap, "%s", rule->id);
        cr_expect_not_null(strstr(gap->why, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "%s",
                           gap->why);
        cr_expect_not_null(strstr(gap->remedy, "gmanalyze fleet"), "%s", gap->remedy);
        gmt_fixture_free(&fixture);
    }
    cr_expect_geq(rules, 25, "%zu", rules);
}

/* Nor is it part of a row of kernels that could be fused, or launched together. */
Test(communication, nothing_is_fused_with_a_kernel_that_waits_for_its_peers)
{
    static const char *const others[] = {RENAME " WHERE id = 1", RENAME " WHERE id = 2"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load_positive(&fixture, "GM509", others[i]);
        gmt_fixture_analyze(&fixture, "GM509");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s",
                     others[i], gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

/* An array that both are given is misaligned for the other kernel all the same. */
Test(communication, what_other_kernels_are_given_too_is_judged_by_them)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(
        &fixture, "GM202",
        "INSERT INTO kernel (id, name, mangled, registers, static_shared_bytes, local_bytes, "
        "max_threads_per_block) VALUES (2, '" NCCL "', '" NCCL "', 32, 0, 0, 1024);"
        "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
        "block_z, dynamic_shared_bytes) VALUES (2, 2, 24, 1, 1, 544, 1, 1, 0);"
        "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, kind, seq, kernel_id, class_id, grid_x, grid_y, grid_z, "
        "block_x, block_y, block_z, dynamic_shared_bytes, no_activity, arguments, "
        "argument_set_id, device_start_ns, device_end_ns) VALUES (910001, 3, 1, 1, 1, 60020000, "
        "60022500, 0, 1, 0, 'kernel', 201, 2, 2, 24, 1, 1, 544, 1, 1, 0, 0, 'complete', 1, "
        "100000000, 190000000)");
    gmt_fixture_analyze(&fixture, "GM202");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_expect_null(strstr(fixture.report.findings[0].where.kernel, "nccl"));
    cr_expect_eq(gmt_fixture_evidence(&fixture.report.findings[0], "kernel_classes"), 1);
    gmt_fixture_free(&fixture);
}

Test(communication, kernels_are_known_by_parts_of_their_names)
{
#define PART(part) part,
    static const char *const parts[] = {GMT_COMMUNICATION_PARTS(PART)};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[256];

        (void)snprintf(name, sizeof(name), "void lib::%s_kernel<float, 8>(float*)", parts[i]);
        cr_expect(gmt_kernel_communicates(name), "%s", name);
    }
    cr_expect_not(gmt_kernel_communicates("void at::native::reduce_kernel<512, 1, float>(float)"));
    cr_expect_not(gmt_kernel_communicates("gather(float*)"));
}
