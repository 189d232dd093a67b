/* SPDX-License-Identifier: Apache-2.0 */
/* GM105 and GM106: what may have changed memory between two copies, and what nobody may count twice. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

static void analyze(const char *rule, const char *sql)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "fixtures/%s_positive", rule);
    gmt_fixture_load(&fixture, name);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_analyze(&fixture, rule);
}

static void expect_nothing(const char *rule, const char *sql, enum gmt_outcome outcome)
{
    analyze(rule, sql);
    cr_expect_eq(fixture.report.finding_count, 0, "%s: %s", sql,
                 gmt_fixture_found(&fixture.report));
    cr_expect_eq(fixture.report.rules[0].outcome, outcome, "%s: %d", sql,
                 (int)fixture.report.rules[0].outcome);
    gmt_fixture_free(&fixture);
}

/* One finding, `doubtful` copies of which are in doubt for the reason that its fix names. */
static void expect_doubt(const char *rule, const char *sql, double doubtful, const char *reason)
{
    analyze(rule, sql);
    cr_assert_eq(fixture.report.finding_count, 1, "%s: %s %s: %s", sql,
                 fixture.report.note_count > 0 ? fixture.report.notes[0].headline : "",
                 fixture.report.rules[0].why, gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    for (size_t i = 0; i < f->evidence_count; i++) {
        if (strncmp(f->evidence[i].name, "doubtful", 8) == 0) {
            cr_expect_float_eq(f->evidence[i].value, doubtful, 0, "%s: %g", sql,
                               f->evidence[i].value);
        }
    }
    cr_expect_eq(f->confidence, doubtful > 0 ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MEASURED,
                 "%s", sql);
    cr_expect(reason == NULL || strstr(f->fix, reason) != NULL, "%s: %s", sql, f->fix);
    gmt_fixture_free(&fixture);
}

#define MEMSET(AT, STREAM) \
    "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result," \
    "capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes) VALUES (777, 1, " \
    "1," \
    "1, " STREAM ", " AT ", " AT " + 1000, 0, 0, 16, 1048576, 7, 'device', 0, 1);"
#define WAIT(AT, STREAM) \
    "INSERT INTO sync (id, begin_ns, end_ns, result, capturing, stream_id, kind) VALUES " \
    "(778, " AT ", " AT " + 10, 0, 0, " STREAM ", 'stream');"

Test(content_doubt, knows_nothing_of_memory_that_was_freed_and_allocated_again)
{
    /* Each upload goes to an allocation of its own, all of them at the same address. */
    expect_nothing("GM105",
                   "INSERT INTO allocation (id, kind, address, bytes, begin_ns, end_ns, "
                   "free_begin_ns, free_end_ns) SELECT id + 100, 'device', 1048576, 16777216, "
                   "begin_ns - 10, begin_ns - 5, begin_ns + 900000, begin_ns + 900001 FROM "
                   "transfer; UPDATE transfer SET dst_allocation_id = id + 100",
                   GMT_OUTCOME_NOT_APPLICABLE);
}

Test(content_doubt, knows_nothing_of_ranges_that_overlap)
{
    expect_nothing("GM105",
                   "UPDATE transfer SET dst = dst + 4096, bytes = bytes - 4096 WHERE id % 2",
                   GMT_OUTCOME_NOT_APPLICABLE);
}

Test(content_doubt, takes_a_memset_of_some_bytes_for_a_change)
{
    expect_nothing("GM105", "DELETE FROM transfer WHERE id > 2;" MEMSET("2900000", "1"),
                   GMT_OUTCOME_NOT_APPLICABLE);
}

Test(content_doubt, follows_no_memory_that_others_write)
{
    expect_nothing("GM105", "UPDATE allocation SET kind = 'managed'", GMT_OUTCOME_NOT_APPLICABLE);
    expect_nothing("GM105", "UPDATE allocation SET kind = 'ipc'", GMT_OUTCOME_NOT_APPLICABLE);
    expect_nothing("GM105", "UPDATE allocation SET kind = 'external'", GMT_OUTCOME_NOT_APPLICABLE);
}

Test(content_doubt, doubts_what_another_stream_may_write_later)
{
    expect_doubt("GM105", MEMSET("900000", "1"), 0, NULL); /* the same stream: in order */
    expect_doubt("GM105", MEMSET("900000", "2"), 19, "another stream");
    expect_doubt("GM105", MEMSET("900000", "2") WAIT("950000", "2"), 0, NULL);
    expect_doubt("GM105", MEMSET("900000", "2") WAIT("950000", "3"), 19, "another stream");
}

Test(content_doubt, doubts_memory_that_no_launch_gets_a_pointer_to)
{
    expect_doubt("GM105", "DELETE FROM launch_argument WHERE allocation_id = 7", 19,
                 "No launch gets a pointer");
}

Test(content_doubt, doubts_everything_after_graphs_and_communication)
{
    expect_doubt("GM105",
                 "UPDATE launch SET kind = 'graph', class_id = NULL, kernel_id = NULL, "
                 "argument_set_id = NULL, arguments = 'unknown' WHERE seq = 4",
                 1, "unknown arguments");
    expect_doubt("GM105",
                 "UPDATE kernel SET name = 'ncclDevKernel_AllReduce(float const*, "
                 "float const*)'",
                 19, "unknown arguments");
}

Test(content_doubt, doubts_what_a_stream_may_have_written)
{
    expect_doubt("GM105",
                 "INSERT INTO api(id, name, runtime_name, family) VALUES (90, "
                 "'cuStreamWriteValue32_v2', NULL, 'alloc');"
                 "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing, "
                 "stream_id) VALUES (900, 90, 5500000, 5500100, 0, 0, 1)",
                 1, "a stream wrote");
}

/* A call of class "share" at that time; result 0: it succeeded. */
#define SHARE(AT, RESULT) \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (90, 'cuIpcGetMemHandle', NULL, " \
    "'alloc');" \
    "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing) VALUES (900, 90, " AT \
    ", " AT " + 100, " RESULT ", 0);"

Test(content_doubt, calls_no_memory_unchanged_that_others_may_write)
{
    static const char *const rules[] = {"GM105", "GM106"};

    for (size_t i = 0; i < 2; i++) {
        analyze(rules[i], SHARE("500", "0"));
        const struct gmt_rule_result *result = &fixture.report.rules[0];
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s",
                     rules[i], gmt_fixture_found(&fixture.report));
        cr_expect_eq(result->outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s", rules[i]);
        cr_expect(result->why != NULL && strstr(result->why, "other processes") != NULL, "%s: %s",
                  rules[i], result->why != NULL ? result->why : "");
        gmt_fixture_free(&fixture);
    }
    expect_doubt("GM105", SHARE("500", "1"), 0, NULL);
}

/* What came before it is known. */
Test(content_doubt, leaves_out_what_was_copied_after_memory_was_shared)
{
    double all, before;

    analyze("GM105", "");
    all = gmt_fixture_evidence(&fixture.report.findings[0], "repeated_copies");
    gmt_fixture_free(&fixture);
    analyze("GM105", SHARE("(SELECT begin_ns - 1 FROM transfer WHERE id = 10)", "0"));
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    before = gmt_fixture_evidence(&fixture.report.findings[0], "repeated_copies");
    cr_expect_eq(gmt_fixture_evidence(&fixture.report.findings[0], "doubtful_copies"), 0);
    cr_expect(before > 0 && before < all, "%g of %g", before, all);
    gmt_fixture_free(&fixture);
}

/* One upload comes after the range: the others repeat what is known to be there. */
Test(content_doubt, leaves_out_what_lies_outside_of_the_recorded_ranges)
{
    const char *range = "INSERT INTO range (id, kind, begin_ns, end_ns, depth) VALUES "
                        "(1, 'push', 0, 5100000, 0)";
    const char *scoped =
        "INSERT INTO range (id, kind, begin_ns, end_ns, depth) VALUES (1, 'push', 0,"
        "5100000, 0); INSERT INTO capability VALUES ('range', 'off', 0, '', '')";
    expect_doubt("GM105", range, 0, NULL);
    analyze("GM105", range);
    double all = gmt_fixture_evidence(&fixture.report.findings[0], "repeated_copies");
    gmt_fixture_free(&fixture);
    analyze("GM105", scoped);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_expect_eq(gmt_fixture_evidence(f, "repeated_copies"), all - 1);
    cr_expect_eq(gmt_fixture_evidence(f, "doubtful_copies"), 0);
    gmt_fixture_free(&fixture);
}

/* A host function may fill the buffer of an asynchronous upload after the call. */
Test(content_doubt, trusts_no_fingerprint_of_what_a_stream_will_fill)
{
    const char *late = "UPDATE transfer SET blocking = 0;"
                       "INSERT INTO api(id, name, runtime_name, family) VALUES (90, "
                       "'cuLaunchHostFunc', NULL, 'sync');"
                       "INSERT INTO api_call (id, api_id, begin_ns, end_ns, result, capturing, "
                       "stream_id) VALUES (900, 90, 500, 600, 0, 0, 1)";
    expect_nothing("GM105", late, GMT_OUTCOME_COULD_NOT_CHECK);
    expect_doubt("GM105", "UPDATE transfer SET blocking = 0", 0, NULL);
}

/* The result makes room for others, or is changed while its copy waits on the host. */
Test(content_doubt, leaves_alone_what_was_parked_on_the_host)
{
    expect_nothing(
        "GM106",
        "UPDATE allocation SET free_begin_ns = 1500000, free_end_ns = 1500100 WHERE id = 7",
        GMT_OUTCOME_PASS);
    expect_nothing("GM106", "DELETE FROM transfer WHERE id > 2;" MEMSET("1500000", "1"),
                   GMT_OUTCOME_PASS);
}

Test(content_doubt, doubts_a_round_trip_during_which_a_kernel_may_write)
{
    expect_doubt("GM106", "UPDATE launch SET begin_ns = 1500000 + (seq - 1) * 4000000", 10,
                 "got a pointer to it in between");
}

/* What two rules find of the same copies counts once in the sum. */
Test(content_doubt, adds_up_to_no_more_than_the_copies_took)
{
    gmt_fixture_load(&fixture, "fixtures/GM105_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET src_class = 'pageable', "
                              "end_ns = begin_ns + 490000");
    gmt_fixture_analyze_by(&fixture, (const char *const[]){"GM102", "GM105"}, 2);
    double sum_ns = 0;
    unsigned rules = 0;
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        const struct gmt_finding *f = &fixture.report.findings[i];
        sum_ns += f->saving.best_ns > 0 ? f->saving.best_ns : 0;
        rules |= strcmp(f->rule, "GM105") == 0 ? 1u : strcmp(f->rule, "GM102") == 0 ? 2u : 0;
    }
    cr_assert_eq(rules, 3, "GM102 and GM105: %u", rules);
    cr_expect_gt(sum_ns, fixture.report.combined.best_ns);
    cr_expect_leq(fixture.report.combined.best_ns, 20 * 490e3 * 1.000001);
    gmt_fixture_free(&fixture);
}
