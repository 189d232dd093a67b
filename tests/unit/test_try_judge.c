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

/* Of a fix that gains a second in each of 8 turns. */
static struct gmt_try_outcome judged(void)
{
    static struct gmt_try_outcome outcome;
    const struct gmt_try_report report = {
        .options = &options, .reference = &reference, .turns = 8, .untouched_s = 2};
    outcome = (struct gmt_try_outcome){.coverage = GMT_TRY_COVERAGE};
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
