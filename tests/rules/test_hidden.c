/* SPDX-License-Identifier: Apache-2.0 */
/* What calls cost while kernels of others ran saves nothing, and findings say so. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

static const struct {
    const char *rule, *table, *sql;
} cases[] = {
    {"GM101", "transfer", "UPDATE transfer SET blocking = 0;"},
    {"GM102", "transfer", ""},
    {"GM104", "transfer", "UPDATE transfer SET blocking = 0;"},
    {"GM201", "allocation", ""},
};

/*
 * The rule's one finding or note, where a kernel runs beside the first `halves` of the time of all calls, or
 * after them. It is launched last, so that no call waits for it.
 */
static const struct gmt_finding *finding_beside(struct gmt_fixture *fixture, size_t i, int halves)
{
    char name[64], sql[768];

    (void)snprintf(name, sizeof(name), "fixtures/%s_positive", cases[i].rule);
    (void)snprintf(
        sql, sizeof(sql),
        "%s CREATE TEMP TABLE span AS SELECT min(begin_ns) AS first, max(end_ns) AS last "
        "FROM %s; UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL;"
        "UPDATE launch SET begin_ns = 99000000, end_ns = 99000001, thread_id = 2, "
        "device_start_ns = CASE %d WHEN 0 THEN 99000001 ELSE (SELECT first FROM span) END, "
        "device_end_ns = CASE %d WHEN 0 THEN 99500000 ELSE "
        "(SELECT first + (last - first) * %d / 2 FROM span) END WHERE seq = 2",
        cases[i].sql, cases[i].table, halves, halves, halves);
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, cases[i].rule);
    cr_assert_eq(fixture->report.finding_count + fixture->report.note_count, 1, "%s: %s",
                 cases[i].rule, gmt_fixture_found(&fixture->report));
    return fixture->report.finding_count > 0 ? &fixture->report.findings[0]
                                             : &fixture->report.notes[0];
}

Test(hidden, time_saves_nothing)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double best[3], high[3];

        for (int halves = 0; halves < 3; halves++) {
            struct gmt_fixture fixture;
            const struct gmt_finding *f = finding_beside(&fixture, i, halves);

            best[halves] = f->saving.best_ns;
            high[halves] = f->saving.high_ns;
            cr_expect_eq(strstr(f->method, "overlap with") != NULL, halves > 0, "%s", f->method);
            gmt_fixture_free(&fixture);
        }
        cr_expect_gt(best[0], 1e6, "%s: %g", cases[i].rule, best[0]);
        cr_expect(best[1] > 0.4 * best[0] && best[1] < 0.6 * best[0], "%s: %g of %g", cases[i].rule,
                  best[1], best[0]);
        cr_expect_lt(best[2], 0.05 * best[0], "%s: %g of %g", cases[i].rule, best[2], best[0]);
        /* The device may wait for the host afterwards. */
        cr_expect_eq(high[2], high[0], "%s: %g of %g", cases[i].rule, high[2], high[0]);
    }
}

/* Calls that were made early are hidden; what they queued runs when the kernel is done. */
Test(hidden, calls_leave_the_work_of_the_device)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture,
                    "UPDATE transfer SET blocking = 0, device_start_ns = 30000000 + id * 10000, "
                    "device_end_ns = 30005000 + id * 10000;"
                    "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL;"
                    "UPDATE launch SET begin_ns = 1000, end_ns = 2000, device_start_ns = 3000, "
                    "device_end_ns = 30000000 WHERE seq = 2");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM101");
    cr_expect_float_eq(gmt_fixture_evidence(f, "hidden_behind_kernels"), 1000 * 2e3, 1);
    cr_expect_gt(f->saving.best_ns, 0);
    gmt_fixture_free(&fixture);
}

/* The good case: a pipeline whose copies run beside kernels has nothing to gain from mapped memory. */
Test(hidden, copies_of_a_pipeline_are_no_candidates_for_mapped_memory)
{
    for (int hidden = 0; hidden < 2; hidden++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM111_positive");
        gmt_fixture_sql(
            &fixture,
            "UPDATE transfer SET blocking = 0, device_start_ns = begin_ns, device_end_ns = "
            "end_ns, end_ns = begin_ns + 3000;"
            "CREATE TEMP TABLE more AS SELECT * FROM launch WHERE seq = 2;"
            "UPDATE more SET id = id + 1000, seq = 99, stream_id = 2, class_id = NULL, "
            "kernel_id = NULL, argument_set_id = NULL, begin_ns = 1000, end_ns = 2000, "
            "device_start_ns = 3000, device_end_ns = 99000000");
        if (hidden != 0) {
            gmt_fixture_sql(&fixture, "INSERT INTO launch SELECT * FROM more");
        }
        gmt_fixture_analyze(&fixture, "GM111");
        cr_expect_eq(fixture.report.finding_count, hidden == 0, "%s",
                     gmt_fixture_found(&fixture.report));
        cr_expect_eq(fixture.report.rules[0].outcome,
                     hidden == 0 ? GMT_OUTCOME_FAIL : GMT_OUTCOME_PASS);
        gmt_fixture_free(&fixture);
    }
}
