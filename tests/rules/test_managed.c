/* SPDX-License-Identifier: Apache-2.0 */
/* GM114: what kernels wait for pages of managed memory, its price, and that no other rule prices it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_mapped.h"
#include "analyzer/trace/managed_ops.h"
#include "tests/rules/fixture.h"

#define RULE "GM114"
#define PIECE 16777216.0

static struct gmt_fixture fixture;

static void near(double value, double expected, const char *what)
{
    cr_expect(fabs(value - expected) <= 1e-6 * fabs(expected), "%s: %g, not %g", what, value,
              expected);
}

static double evidence(const struct gmt_finding *f, const char *name)
{
    return gmt_fixture_evidence(f, name);
}

/* Nine launches wait for sixteen faults, each 40 us, 10 us apart. */
Test(managed, waits_are_counted_from_the_first_fault_to_the_last_of_each_launch)
{
    gmt_fixture_load_positive(&fixture, RULE, "");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);

    near(evidence(f, "launches"), 9, "launches");
    near(evidence(f, "faults_time"), 9 * 790e3, "time of faults");
    near(evidence(f, "page_faults"), 9 * 16, "faults");
    near(evidence(f, "to_the_device"), 9 * PIECE, "bytes in");
    near(evidence(f, "to_the_host"), 9 * PIECE, "bytes out");
    near(evidence(f, "different_pages"), PIECE, "pages");
    near(evidence(f, "host_time"), 9 * 16 * 20e3, "time of the host");
    cr_expect_str_eq(f->where.label, "app.cu:42");
    cr_expect_not_null(strstr(f->headline, "the same pages 9.0 times"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "Let one processor work"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(managed, the_price_is_what_bulk_copies_would_not_take)
{
    gmt_fixture_load_positive(&fixture, RULE, "");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);
    double waited = 9 * (790e3 + 16 * 20e3), recording = 9 * 48 * 3500.0;
    double copies = 9 * (gmt_price_pinned_copy(&fixture.model, GMT_MAPPED_READ, PIECE) +
                         gmt_price_pinned_copy(&fixture.model, GMT_MAPPED_WRITE, PIECE));

    near(f->cost_ns, waited, "cost");
    near(evidence(f, "recording_them"), recording, "recording");
    near(evidence(f, "prefetching_them"), copies, "copies");
    near(f->saving.best_ns, waited - recording - copies, "best");
    near(f->saving.high_ns, waited - recording, "high");
    near(f->saving.low_ns, fmax(0, waited - recording - 2 * copies), "low");
    gmt_fixture_free(&fixture);
}

Test(managed, without_a_model_it_is_said_without_a_price)
{
    gmt_fixture_load_positive(&fixture, RULE, "");
    gmt_fixture_drop_model(&fixture);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);

    cr_expect(isnan(f->saving.best_ns));
    near(f->cost_ns, 9 * (790e3 + 16 * 20e3), "cost");
    gmt_fixture_free(&fixture);
}

/* Faults of 10 us that begin so many ns after the one before ends. */
static double waited_with_gaps_of(int gap_ns)
{
    char sql[400];

    snprintf(sql, sizeof(sql),
             "DELETE FROM managed_op WHERE kind <> 'gpu_fault'; UPDATE managed_op SET start_ns = "
             "start_ns - (address / 1048576 - 1) * (50000 - %d), end_ns = start_ns - (address / "
             "1048576 - 1) * (50000 - %d) + 10000",
             10000 + gap_ns, 10000 + gap_ns);
    gmt_fixture_load_positive(&fixture, RULE, sql);
    double ns = evidence(gmt_fixture_only(&fixture, RULE), "faults_time");
    gmt_fixture_free(&fixture);
    return ns / 9;
}

Test(managed, what_lies_between_two_faults_counts_where_it_is_short)
{
    near(waited_with_gaps_of(15000), 16 * 10e3 + 15 * 15e3, "gaps of 15 us");
    near(waited_with_gaps_of(30000), 16 * 10e3, "gaps of 30 us");
}

/* A third of the launches' pages never came before: each comes 1.5 or 3 times. */
static const char *headline_of_times(int times_by_two)
{
    static char headline[400];
    char sql[400];

    snprintf(sql, sizeof(sql),
             "UPDATE managed_op SET address = 1048576 * (1 + (id %% 1000) * 2 / %d) WHERE kind = "
             "'h2d'",
             times_by_two);
    gmt_fixture_load_positive(&fixture, RULE, sql);
    snprintf(headline, sizeof(headline), "%s", gmt_fixture_only(&fixture, RULE)->headline);
    gmt_fixture_free(&fixture);
    return headline;
}

Test(managed, pages_go_to_and_fro_when_they_come_twice_as_often_as_needed)
{
    cr_expect_not_null(strstr(headline_of_times(6), "the same pages 2.9"), "%s",
                       headline_of_times(6));
    cr_expect_null(strstr(headline_of_times(3), "the same pages"), "%s", headline_of_times(3));
}

/* Nothing comes from the host: pages are made on the device. */
Test(managed, a_first_touch_on_the_device_is_one_prefetch)
{
    gmt_fixture_load_positive(&fixture, RULE, "DELETE FROM managed_op WHERE kind <> 'gpu_fault'");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);

    near(evidence(f, "prefetching_them"),
         gmt_price_pinned_copy(&fixture.model, GMT_MAPPED_READ, PIECE), "one prefetch");
    cr_expect_not_null(strstr(f->headline, "are touched first there"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "Prefetch the memory"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

/* Launch 1 was measured. The second begins at 62,000,000. */
Test(managed, a_measured_launch_has_the_faults_until_the_next_one_begins)
{
    gmt_fixture_load_positive(
        &fixture, RULE,
        "DELETE FROM managed_op; INSERT INTO managed_op (kind, start_ns, end_ns, "
        "address) VALUES ('gpu_fault', 60100000, 62300000, 1048576)");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);

    near(evidence(f, "launches"), 2, "it and the next one");
    near(evidence(f, "faults_time"), 1900e3 + 290e3, "until the next one, and within that");
    gmt_fixture_free(&fixture);
}

/* A graph ran the class once more, for 2 ms, of which 1.5 ms were faults. */
Test(managed, kernels_in_graphs_wait_like_others)
{
    gmt_fixture_load_positive(
        &fixture, RULE,
        "DELETE FROM managed_op; INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, "
        "begin_ns, end_ns, result, stack_id, capturing, kind, seq, no_activity, arguments) VALUES "
        "(700, 3, 1, 1, 1, 80000000, 80005000, 0, 1, 0, 'graph', 700, 0, 'unknown'); INSERT INTO "
        "string VALUES (900, '_Z4workPfPKfi'); INSERT INTO device_op (kind, context_id, device_id, "
        "correlation, graph, start_ns, end_ns, kernel_name_id, grid_x, grid_y, grid_z, block_x, "
        "block_y, block_z, call_id) VALUES ('kernel', 1, 0, 700, 5, 80010000, 82010000, 900, "
        "100000, 1, 1, 256, 1, 1, 700); INSERT INTO managed_op (kind, start_ns, end_ns, address) "
        "VALUES ('gpu_fault', 80100000, 81600000, 1048576)");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, RULE);

    near(evidence(f, "launches"), 1, "the graph's");
    near(evidence(f, "faults_time"), 1500e3, "of the graph's");
    near(evidence(f, "page_faults"), 1, "faults");
    cr_expect_float_eq(fixture.timeline.classes[0].faults_ns, 1500e3, 1);
    gmt_fixture_free(&fixture);
}

static const struct gmt_rule_result *result_of(const char *rule)
{
    for (size_t i = 0; i < fixture.report.rule_count; i++) {
        if (strcmp(fixture.report.rules[i].id, rule) == 0) {
            return &fixture.report.rules[i];
        }
    }
    return NULL;
}

static void expect_unchecked(const char *sql, const char *why)
{
    gmt_fixture_load_positive(&fixture, RULE, sql);
    gmt_fixture_analyze(&fixture, RULE);
    const struct gmt_rule_result *result = result_of(RULE);
    cr_assert_not_null(result);
    cr_expect_eq(result->outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s: %d", sql, result->outcome);
    cr_expect(result->why != NULL && strstr(result->why, why) != NULL, "%s: %s", sql, result->why);
    gmt_fixture_free(&fixture);
}

Test(managed, says_why_it_could_not_check)
{
    expect_unchecked("DELETE FROM managed_op; DELETE FROM capability WHERE name = 'managed_memory'",
                     "were not recorded");
    expect_unchecked("DELETE FROM managed_op; UPDATE capability SET state = 'missing', detail = "
                     "'refused' WHERE name = 'managed_memory'",
                     "not all recorded: refused");
    expect_unchecked("DROP VIEW v_managed_op; DROP TABLE managed_op", "of a version that did not");
}

Test(managed, does_not_apply_without_such_memory)
{
    gmt_fixture_load_positive(&fixture, RULE,
                              "DELETE FROM managed_op; UPDATE allocation SET kind = 'device'");
    gmt_fixture_analyze(&fixture, RULE);
    cr_expect_eq(result_of(RULE)->outcome, GMT_OUTCOME_NOT_APPLICABLE);
    gmt_fixture_free(&fixture);
}

/* The next pages come while a kernel works on others. */
Test(managed, nobody_waits_for_a_prefetch_beside_a_kernel)
{
    gmt_fixture_load_positive(&fixture, RULE,
                              "DELETE FROM managed_op WHERE kind <> 'h2d'; UPDATE managed_op SET "
                              "cause = 'user'");
    gmt_fixture_analyze(&fixture, RULE);
    cr_expect_eq(result_of(RULE)->outcome, GMT_OUTCOME_PASS);
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0);
    cr_expect_float_eq(fixture.timeline.classes[0].faults_ns, 0, 0.5);
    gmt_fixture_free(&fixture);
}

/* ---- other rules -------------------------------------------------------------------------------- */

#define FAULTS(first, length) \
    "WITH RECURSIVE l(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM l WHERE i < 9) INSERT INTO " \
    "managed_op (kind, start_ns, end_ns, address) SELECT 'gpu_fault', 60010000 + i * 2000000 " \
    "+ " #first ", 60010000 + i * 2000000 + " #first " + " #length ", 1048576 FROM l"

Test(managed, faults_are_taken_out_of_the_time_that_rules_price)
{
    gmt_fixture_load_positive(&fixture, "GM504", "");
    double before = gmt_fixture_only(&fixture, "GM504")->saving.best_ns;
    double kernels = fixture.report.kernels[0].device_ns;
    gmt_fixture_free(&fixture);

    gmt_fixture_load_positive(&fixture, "GM504", FAULTS(100000, 400000));
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM504");
    cr_expect_float_eq(fixture.timeline.classes[0].median_ns, 600e3, 1);
    cr_expect_not(fixture.timeline.classes[0].is_faults);
    cr_expect_lt(f->saving.best_ns, 0.7 * before);
    /* The table of kernels has all of it: the median of ten launches, and the faults of nine. */
    near(fixture.report.kernels[0].device_ns, kernels - 400e3, "time in the table");
    gmt_fixture_free(&fixture);
}

/* All ten launches were measured, so that their time comes from their cycles, in which they wait, too. */
Test(managed, faults_are_taken_out_of_times_by_cycles)
{
    static const char measured[] =
        "UPDATE launch SET measured = 'hardware', no_activity = 1, device_start_ns = NULL, "
        "device_end_ns = NULL; ";
    char sql[800];

    gmt_fixture_load_positive(&fixture, "GM504", measured);
    gmt_fixture_analyze(&fixture, "GM504");
    cr_assert(fixture.timeline.classes[0].by_cycles);
    double before = fixture.timeline.classes[0].median_ns;
    gmt_fixture_free(&fixture);

    snprintf(sql, sizeof(sql), "%s%s", measured, FAULTS(100000, 400000));
    gmt_fixture_load_positive(&fixture, "GM504", sql);
    gmt_fixture_analyze(&fixture, "GM504");
    near(fixture.timeline.classes[0].median_ns, before - 9 * 400e3 / 10, "time of its own");
    cr_expect_not(fixture.timeline.classes[0].is_faults);
    gmt_fixture_free(&fixture);
}

/* 0.8 of its 1 ms: GM504 promised most of that. */
Test(managed, a_kernel_whose_time_is_faults_has_no_price_of_another_rule)
{
    gmt_fixture_load_positive(&fixture, "GM504", FAULTS(100000, 800000));
    gmt_fixture_analyze(&fixture, "GM504");
    cr_expect(fixture.timeline.classes[0].is_faults);
    cr_expect_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_expect(isnan(fixture.report.notes[0].saving.best_ns));
    cr_expect_not_null(strstr(fixture.report.notes[0].note_why, "page faults"), "%s",
                       fixture.report.notes[0].note_why);
    gmt_fixture_free(&fixture);
}
