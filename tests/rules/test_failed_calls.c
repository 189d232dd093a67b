/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed: what is a failure of the program, where and when, and what is only an answer. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/model/failed_calls.h"
#include "tests/rules/fixture.h"

#define APIS \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (30, 'cuCtxSynchronize', " \
    "'cudaDeviceSynchronize', 'sync'), (31, 'cuCtxEnablePeerAccess', " \
    "'cudaDeviceEnablePeerAccess', 'other'), (32, 'cuMemHostUnregister', 'cudaHostUnregister', " \
    "'alloc');"
#define SYNC(id, begin, stack, result) \
    "INSERT INTO sync (id, api_id, thread_id, begin_ns, end_ns, result, stack_id, capturing, " \
    "kind) " \
    "VALUES (" #id ", 30, 1, " #begin ", " #begin " + 1000, " #result ", " #stack \
    ", 0, 'device');"
#define OTHER(id, api, begin, result) \
    "INSERT INTO api_call (id, api_id, thread_id, begin_ns, end_ns, result, stack_id, capturing) " \
    "VALUES (" #id ", " #api ", 1, " #begin ", " #begin " + 1000, " #result ", 1, 0);"

static const struct gmt_failed_calls *failed_after(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load(fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(fixture, APIS);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, "GM101");
    return fixture->report.failed_calls;
}

Test(failed_calls, are_not_there_where_none_failed)
{
    struct gmt_fixture fixture;

    cr_assert_null(failed_after(&fixture, SYNC(800001, 5000, 1, 0)));
    cr_assert_null(gmt_failed_alarm(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(failed_calls, have_an_alarm_where_the_context_is_lost)
{
    struct gmt_fixture fixture;
    const struct gmt_failed_calls *failed = failed_after(
        &fixture, SYNC(800003, 90000000, 1, 700) SYNC(800001, 70000000, 1, 700)
                      OTHER(800002, 32, 60000000, 1));

    cr_assert_eq(failed->row_count, 2);
    cr_expect_str_eq(failed->rows[0].where.api, "cudaMemcpy (cuMemHostUnregister)");
    cr_expect_not(failed->rows[0].sticky);
    const struct gmt_failed_call *row = &failed->rows[1];
    cr_expect(row->sticky);
    cr_expect_float_eq(row->calls, 2, 0);
    cr_expect_float_eq(row->at_ns, 70001000, 0);
    cr_expect_str_eq(row->error, "CUDA_ERROR_ILLEGAL_ADDRESS");
    cr_expect_str_eq(row->runtime_name, "cudaErrorIllegalAddress");
    /* The stack of the fixture leads through cudaMemcpy. */
    cr_expect_str_eq(gmt_failed_alarm(&fixture.report),
                     "cudaMemcpy at app.cu:42 failed: an illegal memory access (700); what follows "
                     "is of a program that failed");
    cr_expect_str_eq(gmt_failed_words(&fixture.arena, row),
                     "cudaMemcpy (cuCtxSynchronize) at app.cu:42: an illegal memory access "
                     "(cudaErrorIllegalAddress, 700)");
    gmt_fixture_free(&fixture);
}

/* Nothing that programs ask for, or go on after, raises an alarm. */
Test(failed_calls, are_not_what_programs_ask_for_or_handle)
{
    struct gmt_fixture fixture;
    const struct gmt_failed_calls *failed = failed_after(
        &fixture, OTHER(800001, 31, 5000, 704) OTHER(800002, 31, 6000, 704)
                      OTHER(800003, 4, 7000, 2) OTHER(800004, 31, 8000, 801));

    cr_assert_eq(failed->row_count, 0);
    cr_expect_null(failed->alarm);
    cr_assert_eq(failed->handled_count, 3);
    cr_expect_eq(failed->handled[0].result, 704);
    cr_expect_str_eq(gmt_failed_handled_words(&fixture.report),
                     "4 calls returned with an error that programs ask for or handle: peer access "
                     "is already enabled (2), out of memory (1), operation not supported (1)");
    gmt_fixture_free(&fixture);
    cr_assert_null(failed_after(&fixture, SYNC(800001, 5000, 1, 600) OTHER(800002, 31, 6000, 4)));
    gmt_fixture_free(&fixture);
}

/* The same results of work that was asked for: it was not done. */
Test(failed_calls, are_calls_for_work_whatever_the_error)
{
    struct gmt_fixture fixture;
    const struct gmt_failed_calls *failed = failed_after(
        &fixture,
        SYNC(800001, 5000, 1,
             801) "UPDATE launch SET result = 2 WHERE id = 900001;"
                  "UPDATE transfer SET result = 1 WHERE id = (SELECT min(id) FROM transfer);");

    cr_assert_eq(failed->row_count, 3);
    cr_expect_eq(failed->handled_count, 0);
    cr_expect_null(failed->alarm);
    gmt_fixture_free(&fixture);
}

/* A result that nobody knows is a failure, whatever number a trace has. */
Test(failed_calls, may_have_errors_that_are_not_known)
{
    struct gmt_fixture fixture;
    const struct gmt_failed_calls *failed = failed_after(
        &fixture, OTHER(800001, 31, 5000, 12345678901234) OTHER(800002, 31, 6000, 77777));

    cr_assert_eq(failed->row_count, 2);
    cr_expect_null(failed->rows[1].error);
    cr_expect_str_eq(gmt_failed_words(&fixture.arena, &failed->rows[1]),
                     "cudaMemcpy (cuCtxEnablePeerAccess) at app.cu:42: an error that this version "
                     "does not know (77777)");
    gmt_fixture_free(&fixture);
}

/* Ten rows; the alarm is there although its call is none of these. */
Test(failed_calls, are_counted_beyond_the_first_ones)
{
    struct gmt_fixture fixture;
    const struct gmt_failed_calls *failed = failed_after(
        &fixture,
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)"
        "INSERT INTO api_call (id, api_id, thread_id, begin_ns, end_ns, result, stack_id, "
        "capturing) SELECT 800001 + i, 32, 1, 5000 + i, 6000 + i, 300 + i, 1, 0 FROM n;" SYNC(
            800100, 90000000, 1, 719));

    cr_expect_eq(failed->row_count, 10);
    cr_expect_float_eq(failed->other_calls, 11, 0);
    cr_assert_not_null(failed->alarm);
    cr_expect_eq(failed->alarm->result, 719);
    cr_expect_str_eq(gmt_failed_others_words(&fixture.arena, failed->other_calls),
                     "11 more calls failed");
    gmt_fixture_free(&fixture);
}
