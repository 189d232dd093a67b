/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call was made and which API the user called, as far as the stack tells. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

/* The first finding's place after a change to the fixture. */
static struct gmt_where where_after(struct gmt_fixture *fixture, const char *name, const char *sql)
{
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, NULL);
    cr_assert_geq(fixture->report.finding_count, 1);
    return fixture->report.findings[0].where;
}

static void expect_api(const char *function, const char *api)
{
    struct gmt_fixture fixture;
    char sql[256];

    snprintf(sql, sizeof(sql), "UPDATE string SET text = '%s' WHERE id = 4", function);
    struct gmt_where where = where_after(&fixture, "fixtures/GM101_positive", sql);
    cr_assert_str_eq(where.api, api, "%s: %s", function, where.api);
    gmt_fixture_free(&fixture);
}

Test(where, names_the_api_that_is_on_the_stack)
{
    expect_api("cudaMemcpyToSymbol", "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    expect_api("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync (cuMemcpyHtoD_v2)");
    expect_api("cudaError cudaMemcpyToSymbol<int>(int const&, void const*)",
               "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    /* No function of the runtime: what such a driver call mostly comes from. */
    expect_api("cudart::helper(int)", "cudaMemcpy (cuMemcpyHtoD_v2)");
    expect_api("libcudart_static_0123", "cudaMemcpy (cuMemcpyHtoD_v2)");
}

Test(where, takes_the_outermost_of_several)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO string VALUES (5, 'cudaMemcpyToSymbol');"
        "INSERT INTO frame VALUES (4, 2098100, 2, 948, 5, NULL, NULL, 1, NULL);"
        "UPDATE stack_frame SET position = position + 10 WHERE stack_id = 1 AND position > 0;"
        "INSERT INTO stack_frame VALUES (1, 1, 4)");

    cr_assert_str_eq(where.api, "cudaMemcpyToSymbol (cuMemcpyHtoD_v2)");
    cr_assert_str_eq(where.label, "app.cu:42");
    gmt_fixture_free(&fixture);
}

Test(where, passes_over_the_toolkits_wrappers)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM101_positive",
        "INSERT INTO string VALUES (5, '/usr/local/cuda/include/cuda_runtime.h');"
        "UPDATE frame SET file_id = 5, line = 1038 WHERE id = 2");

    cr_assert_str_eq(where.label, "app+0x2000");
    cr_assert_str_eq(where.function, "upload()");
    cr_assert_null(where.file);
    gmt_fixture_free(&fixture);
}

Test(where, of_a_kernel_is_just_the_kernel_when_only_glue_is_on_the_stack)
{
    struct gmt_fixture fixture;
    struct gmt_where where = where_after(
        &fixture, "fixtures/GM301_positive",
        "UPDATE string SET text = '__device_stub__Z4workPfPKfi(float*)' WHERE id = 3;"
        "DELETE FROM stack_frame WHERE position > 1;"
        "UPDATE launch SET caller = 8208");

    cr_assert_str_eq(where.kernel, "work(float*, float const*, int)");
    cr_assert_str_eq(where.label, where.kernel);
    cr_assert_null(where.module);
    gmt_fixture_free(&fixture);
}
