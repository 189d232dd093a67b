/* SPDX-License-Identifier: Apache-2.0 */
/* Strides and rows that sums of a kernel show, and those that they do not. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/price/pattern.h"
#include "tests/rules/fixture.h"

/* Rows of n floats, without a pitch, in blocks of 32 x 8: full warps, and one that is not. */
Test(pattern, names_the_rows)
{
    static const struct {
        int width;
        double sectors; /* of one row, on average */
    } rows[] = {{1001, 31 * 4.875 + 2}, {100, 3 * 4.5 + 1}, {1002, 31 * 4.75 + 2}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int across = (rows[i].width + 31) / 32;
        struct gmt_tl_class class = {.grid = {across, 100, 1}, .block = {32, 8, 1}};
        struct gmt_access access = {.bytes = 796.0 * rows[i].width * 4,
                                    .sectors = 796 * rows[i].sectors,
                                    .requests = 796.0 * across};
        struct gmt_pattern pattern = {.row_bytes = NAN};

        cr_assert(gmt_pattern_rows(&class, &access, &pattern), "%d", rows[i].width);
        cr_expect_float_eq(pattern.row_bytes, rows[i].width * 4, 0);
        cr_expect_float_eq(pattern.rows, 796, 0);
        access.sectors += access.requests;
        cr_expect_not(gmt_pattern_rows(&class, &access, &pattern), "rows do not explain that");
    }
}

/* As long as a trace says, the answer comes at once. */
Test(pattern, rows_may_be_of_any_length)
{
    struct gmt_tl_class class = {.grid = {INT32_MAX, 100, 1}, .block = {32, 8, 1}};
    double width = 32.0 * INT32_MAX - 1, requests = 796.0 * INT32_MAX;
    struct gmt_access access = {
        .bytes = 796 * width * 4, .sectors = 4.875 * requests, .requests = requests};
    struct gmt_pattern pattern = {.row_bytes = NAN};

    cr_assert(gmt_pattern_rows(&class, &access, &pattern));
    cr_expect_float_eq(pattern.row_bytes, width * 4, 0);
    class.block[0] = INT32_MAX;
    cr_expect_not(gmt_pattern_rows(&class, &access, &pattern), "no device has such blocks");
}

Test(pattern, names_the_stride)
{
    static const struct {
        double width, sectors, lines, stride;
        bool at_least;
    } rows[] = {{4, 8, NAN, 2, false},  {8, 24, NAN, 3, false}, {4, 32, NAN, 8, true},
                {4, 32, 16, 16, false}, {4, 32, 32, 32, true},  {4, 18, NAN, NAN, false},
                {4, 24, 14, NAN, false}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gmt_tl_class class = {.grid = {1000, 1, 1}, .block = {256, 1, 1}};
        struct gmt_access access = {.bytes = 8000 * 32 * rows[i].width,
                                    .sectors = 8000 * rows[i].sectors,
                                    .requests = 8000};
        bool at_least;

        for (size_t k = 0; k < GMT_METRICS; k++) {
            class.counter[k] = NAN;
        }
        double stride = gmt_access_stride(&class, &access, 8000 * rows[i].lines, &at_least);
        cr_expect(isnan(rows[i].stride) ? isnan(stride) : stride == rows[i].stride, "%zu: %g", i,
                  stride);
        cr_expect_eq(at_least, rows[i].at_least, "%zu", i);
    }
}

/* A product whose row index is threadIdx.x: loads of a row's words lie a row apart, the others are one. */
Test(pattern, of_one_instruction_among_others)
{
    static const char instructions[] =
        "UPDATE kernel_class SET grid_x = 64, grid_y = 256, block_x = 32, block_y = 8;"
        "INSERT INTO string VALUES (51, 'ld.global.f32');"
        "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, kind, executed, lanes, "
        "requests, sectors, ideal_sectors, source) VALUES "
        "(1, 1, 4, 51, 'global_load', 100, 3200, 100, 3200, 400, 'simulated'),"
        "(1, 1, 5, 51, 'global_load', 300, 9600, 300, 300, 300, 'simulated')";
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, instructions);
    gmt_fixture_analyze(&fixture, "GM302");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, instructions);
    gmt_fixture_sql(&fixture, "UPDATE instruction SET sectors = 1600 WHERE site = 4");
    gmt_fixture_analyze(&fixture, "GM302");
    cr_assert_eq(fixture.report.finding_count, 0, "16 sectors per request are no column: %s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}
