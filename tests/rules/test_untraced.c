/* SPDX-License-Identifier: Apache-2.0 */
/* Promises are about the program without its tracer: what tracing has added to copies is taken out. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/rules/fixture.h"

/* A thousand copies of 64 bytes, 7 us each; 5.7 us by the model. */
static const struct gmt_finding *small_copies(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load(fixture, "fixtures/GM101_positive");
    if (sql != NULL) {
        gmt_fixture_sql(fixture, sql);
    }
    return gmt_fixture_only(fixture, "GM101");
}

/* The saving is that of copies that take each_ns; at most 5 % more, or as measured. */
static void expect_each(const char *sql, double each_ns)
{
    struct gmt_fixture fixture;
    const struct gmt_finding *f = small_copies(&fixture, sql);
    double measured = gmt_fixture_evidence(f, "time");
    double after = gmt_fixture_evidence(f, "time_of_one_copy_per_run");

    cr_expect_float_eq(f->saving.best_ns, 1000 * each_ns - after, 1, "%g", f->saving.best_ns);
    cr_expect_float_eq(gmt_fixture_evidence(f, "added_by_tracing"), measured - 1000 * each_ns, 1);
    double most = fmin(measured, 1.05 * 1000 * each_ns) - after;
    cr_expect_geq(f->saving.high_ns, most);
    cr_expect_leq(f->saving.high_ns, fmax(most, 1000 * 5700 - after) + 0.6 * after);
    gmt_fixture_free(&fixture);
}

Test(untraced, copies_take_what_the_model_says)
{
    expect_each(NULL, 5700);
}

Test(untraced, copies_are_no_quicker_than_the_tracer_can_explain)
{
    expect_each("UPDATE transfer SET end_ns = begin_ns + 9500", 9500 - 2500);
    /* Quicker than the model: as measured. */
    expect_each("UPDATE transfer SET end_ns = begin_ns + 5000", 5000);
}

Test(untraced, copies_without_records_of_the_device_lose_little)
{
    expect_each("UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL", 7000 - 200);
}

Test(untraced, copies_count_as_measured_where_the_model_is_of_another_gpu)
{
    expect_each("UPDATE device SET uuid = 'GPU-other', name = 'Other GPU'", 7000);
}

Test(untraced, copies_of_hashed_page_locked_memory_were_slower)
{
    static const struct {
        const char *sql;
        double added; /* by 19 copies */
    } cases[] = {
        /* 0.5 ms, and 0.31 by the model: an eighth at most is the tracer's. */
        {"UPDATE transfer SET end_ns = begin_ns + 500000", 19 * (2500 + 0.12 * 500e3)},
        {"UPDATE transfer SET end_ns = begin_ns + 500000; UPDATE fingerprint SET whole = 0",
         19 * 2500},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM105_positive");
        gmt_fixture_sql(&fixture, cases[i].sql);
        const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM105");
        cr_expect_float_eq(gmt_fixture_evidence(f, "added_by_tracing"), cases[i].added, 1);
        cr_expect_float_eq(f->saving.best_ns, 19 * 500e3 - cases[i].added, 1);
        cr_expect_float_eq(f->saving.high_ns, fmin(19 * 500e3, 1.05 * f->saving.best_ns), 1);
        gmt_fixture_free(&fixture);
    }
}

Test(untraced, steps_of_the_host_lose_what_both_copies_were_longer)
{
    struct gmt_fixture fixture;

    /* 20 us longer than the model says: of each of 20 copies the most that tracing takes. */
    gmt_fixture_load(&fixture, "fixtures/GM115_positive");
    gmt_fixture_sql(&fixture, "UPDATE transfer SET begin_ns = begin_ns - 20000, device_start_ns = "
                              "device_start_ns - 20000 WHERE direction = 'h2d'; "
                              "UPDATE transfer SET end_ns = end_ns + 20000 WHERE direction = "
                              "'d2h'");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM115");
    double still = gmt_fixture_evidence(f, "device_stood_still");
    double kernel = gmt_fixture_evidence(f, "kernel_in_its_place");

    cr_expect_float_eq(gmt_fixture_evidence(f, "added_by_tracing"), 20 * 2500, 1, "%g",
                       gmt_fixture_evidence(f, "added_by_tracing"));
    cr_expect_float_eq(f->saving.high_ns, still - kernel - 20 * 2500, 1);
    gmt_fixture_free(&fixture);
}
