/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that conclude from what is not in the trace: quiet where it was limited to ranges or lost calls. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/redact/redact.h"
#include "analyzer/trace/named_ranges.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;
static enum gmt_redact redact;

/* A test of the trace as it is, and as reports without paths and names read it: advice is the same. */
#define UNSEEN(name) \
    static void name(void); \
    Test(unseen, name) \
    { \
        name(); \
    } \
    Test(unseen_without_paths, name) \
    { \
        redact = GMT_REDACT_PATHS; \
        name(); \
    } \
    Test(unseen_without_names, name) \
    { \
        redact = GMT_REDACT_NAMES; \
        name(); \
    } \
    static void name(void)

#define DETAIL(name) \
    "only copies, memsets, launches and waits inside of ranges named ''" name "'' are recorded"
#define SCOPED "INSERT INTO capability VALUES ('range', 'off', 0, '" DETAIL("load") "', '');"
#define NAMES "INSERT INTO string (id, text) VALUES (9001, 'load'), (9002, 'other'), (9003, 'io');"
/* A range of that name around each copy: what lies between them is not recorded. */
#define AROUND(name) \
    NAMES "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) SELECT id, " \
          "'push', thread_id, " name ", begin_ns, end_ns, 0 FROM transfer;"

#define RANGE(begin, end) \
    "INSERT INTO range (id, kind, thread_id, name_id, begin_ns, end_ns, depth) VALUES (1, " \
    "'push', " \
    "1, 9001, " begin ", " end ", 0);"

/* Those that say: nothing uses it, nothing reads it, it is used once, early, late. */
static const char *const by_uses[] = {"GM107", "GM111", "GM117", "GM204",
                                      "GM205", "GM206", "GM208"};
/* Those that say: nothing comes between two calls. */
static const char *const by_order[] = {"GM101", "GM104", "GM105", "GM106", "GM506", "GM509"};

static void load(const char *rule, const char *sql)
{
    char message[256] = "";

    gmt_fixture_load_positive(&fixture, rule, sql);
    cr_assert_eq(gmt_redact_trace(fixture.db, redact, message, sizeof(message)), 0, "%s", message);
}

/* What the sentence says in place of a name that is not public. */
static const char *shown(const char *name, const char *without_names)
{
    return redact == GMT_REDACT_NAMES ? without_names : name;
}

static void expect_finding(const char *rule, const char *sql)
{
    load(rule, sql);
    gmt_fixture_analyze(&fixture, rule);
    cr_expect_gt(fixture.report.finding_count, 0, "%s is quiet: %s", rule,
                 fixture.report.rules[0].why != NULL ? fixture.report.rules[0].why : "passed");
    gmt_fixture_free(&fixture);
}

static void expect_quiet(const char *rule, const char *sql, const char *why)
{
    load(rule, sql);
    gmt_fixture_analyze(&fixture, rule);
    const struct gmt_rule_result *result = &fixture.report.rules[0];
    cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s: %s", rule,
                 sql, gmt_fixture_found(&fixture.report));
    cr_expect_eq(result->outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s: %s: outcome %d", rule, sql,
                 (int)result->outcome);
    cr_expect(result->why != NULL && strstr(result->why, why) != NULL, "%s: \"%s\" in \"%s\"", rule,
              why, result->why != NULL ? result->why : "");
    gmt_fixture_free(&fixture);
}

#define EACH(rule, rules) \
    for (size_t at_##rule = 0; at_##rule < sizeof(rules) / sizeof(rules[0]); at_##rule++) \
        for (const char *rule = (rules)[at_##rule]; rule != NULL; rule = NULL)

UNSEEN(uses_outside_of_the_recorded_range_are_not_known)
{
    EACH(rule, by_uses)
    {
        expect_finding(rule, "");
        expect_quiet(rule, SCOPED, shown("ranges named 'load' are", "ranges named '…' are"));
    }
}

UNSEEN(uses_before_the_last_seconds_are_not_known)
{
    EACH(rule, by_uses)
    {
        expect_quiet(rule,
                     "INSERT INTO capability VALUES ('ring', 'ok', NULL, 'the last 30.000 s', '');",
                     "only the last seconds are in the trace");
    }
}

UNSEEN(uses_outside_of_the_analysed_range_are_not_known)
{
    EACH(rule, by_uses)
    {
        char message[64];
        load(rule, NAMES RANGE("1", "2"));
        cr_assert_eq(gmt_range_limit(fixture.db, "load", message, sizeof(message)), 0);
        gmt_fixture_analyze(&fixture, rule);
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s", rule,
                     gmt_fixture_found(&fixture.report));
        cr_expect_str_eq(fixture.report.rules[0].why,
                         "only calls inside of ranges are analysed: uses outside of them are not "
                         "seen",
                         "%s", rule);
        gmt_fixture_free(&fixture);
    }
}

/* A view that adds a column is no limit. */
Test(unseen, a_trace_of_an_earlier_version_is_limited_like_others)
{
    static const char earlier[] = "ALTER TABLE transfer DROP COLUMN batch;"
                                  "ALTER TABLE launch DROP COLUMN no_activity";
    char message[64];

    EACH(rule, by_uses)
    {
        gmt_fixture_load_positive(&fixture, rule, "");
        gmt_fixture_make_earlier(&fixture, earlier);
        gmt_fixture_analyze(&fixture, rule);
        cr_expect_gt(fixture.report.finding_count, 0, "%s", rule);
        gmt_fixture_free(&fixture);

        gmt_fixture_load_positive(&fixture, rule, NAMES RANGE("1", "2"));
        gmt_fixture_make_earlier(&fixture, earlier);
        cr_assert_eq(gmt_range_limit(fixture.db, "load", message, sizeof(message)), 0);
        gmt_fixture_analyze(&fixture, rule);
        cr_expect_eq(fixture.report.transfers, 0);
        cr_expect_eq(fixture.report.launches, 0);
        cr_expect_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s", rule);
        gmt_fixture_free(&fixture);
    }
}

UNSEEN(calls_that_were_lost_may_use_memory)
{
    static const char *const losses[] = {
        "record dropped",      "corrupt record", "truncated chunk",  "chunk lost",
        "unknown record type", "row refused",    "call not recorded"};
    EACH(loss, losses)
    {
        char sql[128];
        (void)snprintf(sql, sizeof(sql), "INSERT INTO loss VALUES ('%s', 'why', 3)", loss);
        EACH(rule, by_uses)
        {
            expect_quiet(rule, sql, loss);
        }
        EACH(rule, by_order)
        {
            expect_quiet(rule, sql, loss);
        }
    }
}

/* Where paths are hidden, so is the name of the machine, in whatever text it stands. */
UNSEEN(a_machine_that_is_named_like_a_loss_hides_none)
{
    expect_quiet("GM205",
                 "UPDATE process SET hostname = 'dropped';"
                 "INSERT INTO loss VALUES ('record dropped', 'why', 3)",
                 "record dropped");
}

UNSEEN(so_may_what_was_not_understood)
{
    static const char *const losses[] = {"allocation not tracked", "graph nodes not read",
                                         "graph not followed", "graph update not followed"};
    EACH(loss, losses)
    {
        char sql[128];
        (void)snprintf(sql, sizeof(sql), "INSERT INTO loss VALUES ('%s', '', 1)", loss);
        EACH(rule, by_uses)
        {
            expect_quiet(rule, sql, loss);
        }
        EACH(rule, by_order)
        {
            expect_finding(rule, sql);
        }
    }
}

#define CALLED(name, class) \
    "INSERT INTO loss VALUES ('entry point not covered', '" name "', 2);" \
    "INSERT INTO coverage (kind, what, class, requests, expected, seen) VALUES ('entry point', " \
    "'" name "', '" class "', 1, 2, 0)"

UNSEEN(so_may_functions_that_are_not_recorded)
{
    EACH(rule, by_uses)
    {
        expect_quiet(rule, CALLED("cuMemcpyNew", "move"), shown("cuMemcpyNew", "a function"));
        expect_quiet(rule, CALLED("cuOfTomorrow", "unknown"), shown("cuOfTomorrow", "a function"));
        expect_quiet(rule, CALLED("cuMemcpyPeer", "launch"), "cuMemcpyPeer");
        expect_finding(rule, CALLED("cuNewThing", "wait"));
        expect_finding(rule, CALLED("cuNewThing", "load"));
    }
}

UNSEEN(a_trace_that_was_never_finished_may_miss_calls)
{
    EACH(rule, by_order)
    {
        expect_quiet(rule, "UPDATE meta SET value = '0' WHERE key = 'complete'", "never finished");
    }
}

UNSEEN(losses_of_times_and_names_hide_no_use)
{
    EACH(rule, by_uses)
    {
        expect_finding(rule, "INSERT INTO loss VALUES ('kernel counters', '', 1), "
                             "('frame not symbolized', '', 9), ('stack not kept', '', 1)");
    }
}

/* Copies that are each in a range of their own: launches may lie between. Otherwise they are one run. */
UNSEEN(runs_end_where_calls_were_left_out)
{
    static const char *const runs[] = {"GM101", "GM104"};
    EACH(rule, runs)
    {
        expect_finding(rule, SCOPED NAMES RANGE("0", "1000000000000"));
        expect_finding(rule, SCOPED AROUND("9002"));
        load(rule, SCOPED AROUND("9001"));
        gmt_fixture_analyze(&fixture, rule);
        cr_expect_eq(fixture.report.finding_count, 0, "%s: %s", rule,
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

UNSEEN(a_doubt_about_a_range_is_no_advice)
{
    expect_quiet("GM105", SCOPED AROUND("9001"),
                 shown("ranges named 'load' are", "ranges named '…' are"));
    expect_quiet("GM106", SCOPED AROUND("9001"),
                 shown("ranges named 'load' are", "ranges named '…' are"));
    expect_finding("GM105", SCOPED AROUND("9002"));
}

UNSEEN(other_threads_that_were_left_out_may_be_between_any_two_calls)
{
    EACH(rule, by_order)
    {
        expect_quiet(rule,
                     SCOPED "INSERT INTO capability VALUES ('range.threads', 'off', 0, '', '')",
                     "other threads");
    }
}

UNSEEN(what_memory_is_needed_for_is_not_known_either)
{
    load("GM206", "");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert(fixture.report.peak_needed_bytes < fixture.report.peak_device_bytes);
    gmt_fixture_free(&fixture);
    load("GM206", SCOPED);
    gmt_fixture_analyze(&fixture, NULL);
    cr_expect(isnan(fixture.report.peak_needed_bytes));
    for (size_t i = 0; i < fixture.report.peak_holder_count; i++) {
        cr_expect_eq(fixture.report.peak_holders[i].idle_bytes, 0);
    }
    gmt_fixture_free(&fixture);
}

UNSEEN(nothing_is_said_of_the_program_that_holds_for_the_range_only)
{
    load("GM509", SCOPED "DELETE FROM launch");
    gmt_fixture_analyze(&fixture, "GM509");
    cr_expect_str_eq(fixture.report.rules[0].why, "no kernel is launched inside of the range");
    gmt_fixture_free(&fixture);
}
