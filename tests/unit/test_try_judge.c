/* SPDX-License-Identifier: Apache-2.0 */
/* What `gmtrace try` calls proven. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "launcher/try/try.h"

static struct gmt_try_options options;
static struct gmt_try_reference reference;

static void begin(void)
{
    options = (struct gmt_try_options){0};
    reference = (struct gmt_try_reference){
        .bytes = 1000, .status_agrees = true, .output_agrees = true, .output = "0123"};
}

static bool has_moved;
static uint64_t bytes; /* that came back with the fix */
static uint32_t unseen;

/* Of a fix that gains a second in each of 8 turns. */
static struct gmt_try_outcome judged(void)
{
    static struct gmt_try_outcome outcome;
    const struct gmt_try_report report = {
        .options = &options, .reference = &reference, .turns = 8, .untouched_s = 2};
    outcome = (struct gmt_try_outcome){
        .coverage = GMT_TRY_COVERAGE, .moved = has_moved, .bytes = bytes, .unseen = unseen};
    outcome.counts[0].calls = 1;
    for (unsigned i = 0; i < report.turns; i++) {
        outcome.differences[i] = 1;
    }
    gmt_try_judge(&report, &outcome);
    return outcome;
}

Test(try_judge, what_was_compared_and_gains_is_proven, .init = begin)
{
    cr_assert_eq(judged().state, GMT_FIX_PROVEN);
    reference.bytes = 0;
    cr_assert_eq(judged().state, GMT_FIX_PROVEN, "standard output alone");
    reference.bytes = 1000;
    reference.output_agrees = false;
    cr_assert_eq(judged().state, GMT_FIX_PROVEN, "copies alone");
}

Test(try_judge, nothing_compared_is_nothing_proven, .init = begin)
{
    reference.bytes = 0;
    reference.output_agrees = false;
    cr_assert_eq(judged().state, GMT_FIX_TRIED, "an output that varies");
    cr_assert_str_eq(judged().why, "nothing of its results could be compared");
    reference.output_agrees = true;
    (void)snprintf(reference.output, sizeof(reference.output), "empty");
    cr_assert_eq(judged().state, GMT_FIX_TRIED, "an output that is empty");
    options.on_software = true;
    cr_assert_not_null(strstr(judged().why, "nothing of its results"));
}

Test(try_judge, too_little_compared_is_not_proven, .init = begin)
{
    reference.unchecked_bytes = 52;
    cr_assert_eq(judged().state, GMT_FIX_PROVEN);
    reference.unchecked_bytes = 53;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
    reference.unchecked_bytes = 0;
    reference.unseen = GMT_UNSEEN_GRAPH;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
    reference.unseen = 0;
    reference.status_agrees = false;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
}

Test(try_judge, too_much_that_came_back_with_the_fix_alone_is_not_proven, .init = begin)
{
    bytes = 1052;
    cr_assert_eq(judged().state, GMT_FIX_PROVEN);
    bytes = 1053;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
    bytes = 1000;
    unseen = GMT_UNSEEN_PROCESS;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
    const struct gmt_try_outcome outcome = judged();
    cr_assert_not(gmt_try_is_compared(&reference, &outcome));
}

Test(try_judge, what_moved_between_threads_is_not_proven, .init = begin)
{
    has_moved = true;
    cr_assert_eq(judged().state, GMT_FIX_TRIED);
    cr_assert_not_null(strstr(judged().why, "not to the same threads"));
}

/* ---- together ----------------------------------------------------------------------------------- */

/* A row of a report: the fix alone, with a value of its setting. */
static struct gmt_try_outcome row(enum gmt_fix fix, const struct gmt_try_sweep *value,
                                  enum gmt_fix_state state, double gain_s)
{
    struct gmt_try_outcome outcome = {.fix = fix, .state = state, .gain.median_s = gain_s};
    outcome.set.fixes[fix] = true;
    outcome.set.swept[fix] = value;
    return outcome;
}

static struct gmt_try_outcome rows[6];
static struct gmt_try_report report;

/* All of three fixes together differ; one of these has two values, and the last fix is not proven. */
static void begin_together(void)
{
    rows[0] = (struct gmt_try_outcome){.fix = GMT_FIX_COUNT, .differs = true};
    rows[0].set.fixes[GMT_FIX_PAGEABLE_STAGING] = true;
    rows[0].set.fixes[GMT_FIX_BLOCK_CACHE] = true;
    rows[0].set.fixes[gmt_try_sweeps[0].fix] = true;
    rows[1] = row(GMT_FIX_PAGEABLE_STAGING, NULL, GMT_FIX_PROVEN, 2);
    rows[2] = row(GMT_FIX_BLOCK_CACHE, NULL, GMT_FIX_TRIED, 5);
    rows[3] = row(gmt_try_sweeps[0].fix, &gmt_try_sweeps[0], GMT_FIX_PROVEN, 3);
    rows[4] = row(gmt_try_sweeps[0].fix, NULL, GMT_FIX_PROVEN, 1);
    report = (struct gmt_try_report){.outcomes = rows, .count = 5};
}

Test(try_together, just_what_the_plan_applies_is_the_set, .init = begin_together)
{
    struct gmt_try_set set;
    cr_assert_eq(gmt_try_proven_set(&report, &set), 2);
    cr_assert(set.fixes[GMT_FIX_PAGEABLE_STAGING] && !set.fixes[GMT_FIX_BLOCK_CACHE]);
    cr_assert_eq(set.swept[gmt_try_sweeps[0].fix], &gmt_try_sweeps[0], "the value of the plan");
    cr_assert_null(gmt_try_find_set(&report, &set), "a part of all");
    rows[2].state = GMT_FIX_PROVEN;
    cr_assert_eq(gmt_try_proven_set(&report, &set), 3);
    cr_assert_null(gmt_try_find_set(&report, &set), "all, with another value");
    rows[3] = rows[4];
    cr_assert_eq(gmt_try_proven_set(&report, &set), 3);
    cr_assert_eq(gmt_try_find_set(&report, &set), &rows[0]);
}

Test(try_together, what_gains_most_stays_where_it_differs, .init = begin_together)
{
    struct gmt_try_set set;
    gmt_try_keep_best(&report);
    cr_assert_eq(gmt_try_proven_set(&report, &set), 1);
    cr_assert(set.fixes[gmt_try_sweeps[0].fix]);
    cr_assert_eq(rows[1].state, GMT_FIX_TRIED);
    cr_assert_not_null(strstr(rows[1].why, "together"));
}
