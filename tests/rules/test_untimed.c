/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of the host side only: calls that waited for kernels are not taken for slow ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

#define NO_TIMES \
    "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL;" \
    "UPDATE transfer SET device_start_ns = NULL, device_end_ns = NULL;" \
    "UPDATE memset SET device_start_ns = NULL, device_end_ns = NULL;" \
    "UPDATE capability SET state = 'missing' WHERE name = 'device_times';"

/* A kernel before everything else, and each call longer by the 900 us that it waits for one. */
#define LATE "end_ns = end_ns + 900000"

static const struct {
    const char *rule, *sql;
    double most_ns; /* that may be promised: what calls without waits take, and a little more */
} cases[] = {
    /* 1000 read-backs of 64 bytes: the first drains a queue of 40 ms. */
    {"GM101",
     "UPDATE transfer SET direction = 'd2h', api_id = 2, dst = src, src = dst, dst_class = "
     "'pageable', "
     "src_class = 'device', begin_ns = begin_ns + (id > 1) * 45000000, end_ns = end_ns + 45000000;"
     "UPDATE launch SET begin_ns = 500000 + seq, end_ns = 500010 + seq;",
     1.1 * 7.1e6},
    {"GM105", "UPDATE transfer SET " LATE, 1.1 * 5.7e6},
    {"GM106", "UPDATE transfer SET " LATE " WHERE direction = 'd2h'", 1.2 * 6e6},
    {"GM115", "UPDATE transfer SET begin_ns = begin_ns - 200000 WHERE direction = 'd2h'", 2.5e6},
    {"GM201",
     "UPDATE launch SET begin_ns = 500000, end_ns = 500010;"
     "UPDATE allocation SET free_end_ns = free_end_ns + 400000",
     1.1 * 5.85e6},
};

Test(untimed, waits_are_not_promised)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char name[64];

        (void)snprintf(name, sizeof(name), "fixtures/%s_positive", cases[i].rule);
        gmt_fixture_load(&fixture, name);
        gmt_fixture_sql(&fixture, NO_TIMES);
        gmt_fixture_sql(&fixture, cases[i].sql);
        gmt_fixture_analyze(&fixture, cases[i].rule);
        cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 1, "%s: %s",
                     cases[i].rule, gmt_fixture_found(&fixture.report));
        const struct gmt_finding *f = fixture.report.finding_count > 0 ? &fixture.report.findings[0]
                                                                       : &fixture.report.notes[0];
        cr_expect_leq(f->saving.best_ns, cases[i].most_ns, "%s: %g, not %g", cases[i].rule,
                      f->saving.best_ns, cases[i].most_ns);
        cr_expect_neq(f->confidence, GMT_CONFIDENCE_MEASURED, "%s", cases[i].rule);
        gmt_fixture_free(&fixture);
    }
}

/* Releases may have waited, too: they are in the upper end of what they cost only. */
Test(untimed, releases_count_at_the_upper_end)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM207_positive");
    gmt_fixture_sql(&fixture, NO_TIMES "UPDATE launch SET begin_ns = 1000, end_ns = 2000");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM207");

    cr_expect_float_eq(f->saving.best_ns, 19 * 1e6, 1, "%g", f->saving.best_ns);
    cr_expect_float_eq(f->saving.high_ns, 19 * 1.5e6, 1, "%g", f->saving.high_ns);
    cr_expect_float_eq(gmt_fixture_evidence(f, "releases"), 19 * 0.5e6, 1);
    cr_expect_not_null(strstr(f->method, "not known"), "%s", f->method);
    gmt_fixture_free(&fixture);
}

/* The tracer has waited for what it measured: a program of such launches only has no unknown waits. */
Test(untimed, measured_launches_leave_no_wait)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM105_positive");
    gmt_fixture_sql(&fixture, NO_TIMES "UPDATE launch SET measured = 'patched';"
                                       "UPDATE transfer SET end_ns = end_ns + 900000");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM105");

    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    cr_expect_float_eq(gmt_fixture_evidence(f, "time"), 19 * 1.2e6, 1);
    gmt_fixture_free(&fixture);
}
