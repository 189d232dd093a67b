/* SPDX-License-Identifier: Apache-2.0 */
/* GM512 of code that is compiled or read, and loaded, again and again. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "tests/rules/fixture.h"
#include "tests/rules/host_steps.h"

/* So much code of the host and of the call that loads, from a stack, and the kernel that came of it. */
static void load(int stack, int64_t code_ns, int64_t call_ns)
{
    host(code_ns);
    call("api_call", "", "", 21, stack, call_ns);
    launch(2, 30000);
}

/* The findings about loads. */
static size_t found_loads(const struct gmt_finding **first)
{
    size_t count = 0;

    put("UPDATE process SET end_ns = %" PRId64, now_ns > device_ns ? now_ns : device_ns);
    gmt_fixture_analyze(&fixture, "GM512");
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (strstr(fixture.report.findings[i].headline, "while code is compiled") != NULL) {
            *first = count++ == 0 ? &fixture.report.findings[i] : *first;
        }
    }
    return count;
}

/* n times, with so many launches after the one of what was loaded. */
static void loop_with(int launches, int n, int64_t code_ns, int64_t call_ns)
{
    begin();
    for (int i = 0; i < n; i++) {
        load(3, code_ns, call_ns);
        for (int k = 0; k < launches; k++) {
            launch(2, 30000);
            host(5000);
        }
    }
}

static void loop_of_loads(int n, int64_t code_ns, int64_t call_ns)
{
    loop_with(8, n, code_ns, call_ns);
}

/* The device is idle but for the kernels that are left of the step before. The first load is of a program that has launched nothing. */
Test(host_loads, of_a_loop_are_named)
{
    const struct gmt_finding *f = NULL;

    loop_of_loads(20, 10000000, 1000000);
    cr_assert_eq(found_loads(&f), 1);
    cr_expect_str_eq(f->where.label, "train.py:31");
    cr_expect_str_eq(f->where.api, "cuModuleLoadData");
    cr_expect_not_null(strstr(f->headline, "waits 19 times"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "fixed from step to step"), "%s", f->fix);
    cr_expect_float_eq(f->cost_ns, 19 * 10.8e6, 2e6, "%.0f", f->cost_ns);
    cr_expect_float_eq(f->saving.low_ns, f->saving.best_ns / 2, 1);
    gmt_fixture_free(&fixture);
    /* PTX that the driver compiles: all of it is in the call. */
    loop_of_loads(20, 0, 10000000);
    cr_assert_eq(found_loads(&f), 1);
    cr_expect_not_null(strstr(f->headline, "waits 19 times"), "%s", f->headline);
    cr_expect_float_eq(f->cost_ns, 19 * 9.8e6, 2e6, "%.0f", f->cost_ns);
    gmt_fixture_free(&fixture);
}

Test(host_loads, are_few_or_short_in_most_programs)
{
    const struct gmt_finding *f = NULL;

    loop_of_loads(16, 10000000, 1000000);
    cr_expect_eq(found_loads(&f), 0, "fifteen times");
    gmt_fixture_free(&fixture);
    loop_of_loads(20, 20000, 50000);
    cr_expect_eq(found_loads(&f), 0, "short");
    gmt_fixture_free(&fixture);
}

/* The last launch is of another class each time: 1 - 1 / (launches + 1) of them are known. */
static void loop_with_new(int launches)
{
    begin();
    for (int i = 0; i < 24; i++) {
        load(3, 10000000, 1000000);
        put("INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z) VALUES (%d, 1, %d, 1, 1, 64, 1, 1)",
            100 + i, i + 1);
        for (int k = 0; k < launches; k++) {
            launch(2, 30000);
        }
        put("UPDATE launch SET class_id = %d WHERE id = %" PRId64, 100 + i, next_id - 1);
    }
}

Test(host_loads, have_a_step_between_them)
{
    const struct gmt_finding *f = NULL;

    loop_with(2, 20, 10000000, 1000000);
    cr_expect_eq(found_loads(&f), 0, "three launches");
    gmt_fixture_free(&fixture);
    loop_with(3, 20, 10000000, 1000000);
    cr_expect_eq(found_loads(&f), 1, "four launches");
    gmt_fixture_free(&fixture);
}

Test(host_loads, have_known_launches_between_them)
{
    const struct gmt_finding *f = NULL;

    loop_with_new(7);
    cr_expect_eq(found_loads(&f), 0, "seven of eight");
    gmt_fixture_free(&fixture);
    loop_with_new(19);
    cr_expect_eq(found_loads(&f), 1, "nineteen of twenty");
    gmt_fixture_free(&fixture);
}

/* Each operation is compiled, and launched for the first time; or there is nothing between two loads. */
Test(host_loads, of_the_set_up_are_none)
{
    const struct gmt_finding *f = NULL;

    begin();
    for (int i = 0; i < 40; i++) {
        load(3, 10000000, 1000000);
        put("INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z) "
            "VALUES (%d, 1, %d, 1, 1, 64, 1, 1)",
            100 + i, i + 1);
        for (int k = 0; k < 8; k++) {
            launch(2, 30000);
            put("UPDATE launch SET class_id = %d WHERE id = %" PRId64, 100 + i, next_id - 1);
        }
    }
    cr_expect_eq(found_loads(&f), 0, "new kernels");
    gmt_fixture_free(&fixture);
    begin();
    for (int i = 0; i < 40; i++) {
        load(3, 10000000, 1000000);
    }
    cr_expect_eq(found_loads(&f), 0, "one launch between two");
    gmt_fixture_free(&fixture);
}

/* What two stacks of one line compile are two things. */
Test(host_loads, are_those_of_one_stack)
{
    const struct gmt_finding *f = NULL;

    begin();
    for (int i = 0; i < 40; i++) {
        load(i % 2 == 0 ? 3 : 4, 10000000, 1000000);
        for (int k = 0; k < 8; k++) {
            launch(2, 30000);
        }
    }
    cr_expect_eq(found_loads(&f), 2);
    gmt_fixture_free(&fixture);
}
