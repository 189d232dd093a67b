/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about single copies: their numbers, what hides a cost, and who speaks of which copy. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/rules/fixture.h"

static const struct gmt_finding *only_finding(struct gmt_fixture *fixture, const char *rule)
{
    gmt_fixture_analyze(fixture, rule);
    cr_assert_eq(fixture->report.finding_count, 1, "%s: %zu findings, %zu notes", rule,
                 fixture->report.finding_count, fixture->report.note_count);
    return &fixture->report.findings[0];
}

static double evidence(const struct gmt_finding *f, const char *name)
{
    for (size_t i = 0; i < f->evidence_count; i++) {
        if (strcmp(f->evidence[i].name, name) == 0)
            return f->evidence[i].value;
    }
    return NAN;
}

Test(transfer_rules, price_held_callers_by_registered_copies)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    const struct gmt_finding *f = only_finding(&fixture, "GM103");
    /* 284.4 us is the model's asynchronous pinned copy of 16 MiB, 1.3 ms registering it. */
    cr_assert_float_eq(f->cost_ns, 20 * 750e3, 1);
    cr_assert_float_eq(evidence(f, "pinned_time"), 20 * 284400.0, 1);
    cr_assert_float_eq(f->saving.best_ns, 20 * (750e3 - 284400.0) - 1.3e6, 1);
    cr_assert_float_eq(evidence(f, "waiting_for_kernels"), 0, 1e-9);
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, count_no_call_that_kernels_hide)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    /* Another thread keeps the device busy from the middle of each call on. */
    gmt_fixture_sql(
        &fixture, "UPDATE launch SET begin_ns = 1300000 + 2000000 * (seq - 1), end_ns = 1310000 + "
                  "2000000 * (seq - 1), thread_id = 2, measured = NULL, "
                  "device_start_ns = 1350000 + 2000000 * (seq - 1), "
                  "device_end_ns = 2350000 + 2000000 * (seq - 1)");
    const struct gmt_finding *f = only_finding(&fixture, "GM103");
    cr_assert_float_eq(evidence(f, "hidden_behind_kernels"), 10 * 400e3, 1);
    cr_assert_float_eq(f->saving.best_ns, 20 * (750e3 - 284400.0) - 10 * 400e3 - 1.3e6, 1);
    cr_assert_not_null(strstr(f->headline, "hidden behind kernels"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(transfer_rules, leave_held_callers_to_one_rule)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_analyze(&fixture, "GM102");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0);
    gmt_fixture_free(&fixture);
    /* Without device times the length of the calls tells the same. */
    gmt_fixture_load(&fixture, "fixtures/GM103_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET device_start_ns = NULL, device_end_ns = NULL");
    cr_assert_not_null(only_finding(&fixture, "GM103"));
    gmt_fixture_free(&fixture);
}
