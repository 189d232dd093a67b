/* SPDX-License-Identifier: Apache-2.0 */
/* Where rules about global and local memory begin to report: just below and just above each value. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rules/boundary.h"

/* 7734375 loads, which take 15468750 sectors where all are aligned. */
#define EXTRA_SECTORS(per_load) \
    "UPDATE kernel_counters SET value = 15468750 + " per_load \
    " * 7734375 WHERE metric_id IN (3, 35)"

/* Rows of odd length cost a sector more for one load of many, a shifted pointer for most. */
Test(boundaries_access, a_sector_more_for_one_load_of_many_is_no_misalignment)
{
    gmt_boundary_expect_edge("GM303_positive", EXTRA_SECTORS("0.18"), EXTRA_SECTORS("0.22"));
}

/* The loads touch 3.2 GB. An array that is larger by a pad is still that of the structs. */
#define ARRAY_OF(share) \
    "UPDATE allocation SET bytes = CAST(" share " * 3200000000 AS INTEGER) WHERE id = 301"

Test(boundaries_access, an_array_of_structs_has_the_size_that_loads_touch)
{
    gmt_boundary_expect_edge("GM304_positive", ARRAY_OF("1.15"), ARRAY_OF("1.08"));
    gmt_boundary_expect_edge("GM304_positive", ARRAY_OF("0.88"), ARRAY_OF("0.93"));
}

/* Every lane has a sector of its own, so the size of the array shows that of its 200 million elements. */
#define ELEMENTS_OF(bytes) \
    "UPDATE kernel_counters SET value = 200000000 WHERE metric_id IN (3, 35);" \
    "UPDATE kernel_counters SET value = 32 * 200000000 WHERE metric_id = 33;" \
    "UPDATE allocation SET bytes = 200000000 * " bytes " WHERE id = 301"

Test(boundaries_access, large_elements_are_rows_of_a_matrix)
{
    gmt_boundary_expect_edge("GM304_positive", ELEMENTS_OF("272"), ELEMENTS_OF("240"));
}

/* Lanes that access the same word of their local memory, 4 sectors at a time, as spills do. */
static void expect_spills(int registers, bool spills)
{
    struct gmt_fixture fixture;
    char sql[160];

    (void)snprintf(sql, sizeof(sql),
                   "UPDATE kernel_counters SET value = 16000000 WHERE metric_id IN (64, 65);"
                   "UPDATE kernel SET registers = %d",
                   registers);
    gmt_fixture_load_positive(&fixture, "GM306", sql);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM306");
    cr_expect_not_null(strstr(f->headline, spills ? "spilled registers" : "an array"), "%d: %s",
                       registers, f->headline);
    gmt_fixture_free(&fixture);
}

/* Limits of registers come in steps of 8, and a compiler that spills uses all up to its limit. */
Test(boundaries_access, kernels_that_fill_their_registers_spill)
{
    expect_spills(40, true);
    expect_spills(36, false);
}

/* A thread can have 254 registers; the 255th is always 0. */
Test(boundaries_access, kernels_with_all_registers_of_a_thread_spill)
{
    expect_spills(254, true);
    expect_spills(253, false);
}

/* Reports where nothing has a price: on the software device, without a device model. */
static size_t unpriced(const char *sql)
{
    char *simulated = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");
    struct gmt_fixture fixture;

    cr_assert_not_null(simulated);
    gmt_fixture_load(&fixture, "fixtures/GM308_positive");
    gmt_fixture_sql(&fixture, simulated);
    free(simulated);
    gmt_fixture_sql(&fixture, sql);
    gmt_fixture_drop_model(&fixture);
    gmt_fixture_analyze(&fixture, "GM308");
    size_t reports = fixture.report.finding_count + fixture.report.note_count;
    gmt_fixture_free(&fixture);
    return reports;
}

/* Loads of 2.5 sectors each that touch all of 8 MiB so many times. */
#define READS_OF_EACH_BYTE(times) \
    "UPDATE kernel_counters SET value = " times " * 8388608 / 32 WHERE metric_id = 3;" \
    "UPDATE kernel_counters SET value = " times " * 8388608 / 80 WHERE metric_id = 5;" \
    "UPDATE kernel_counters SET value = " times " * 8388608 / 80 * 128 WHERE metric_id = 1"

/* A window of 8 x 8 neighbours is read 64 times, and L1 has it. */
Test(boundaries_access, without_times_windows_of_neighbours_need_no_tile)
{
    cr_expect_eq(unpriced(READS_OF_EACH_BYTE("60")), 0);
    cr_expect_eq(unpriced(READS_OF_EACH_BYTE("68")), 1);
}

/* Every L1 holds an array of 32 KiB as a whole. */
Test(boundaries_access, without_times_arrays_that_fit_into_l1_need_no_tile)
{
    cr_expect_eq(unpriced("UPDATE kernel_counters SET value = 30720 WHERE metric_id = 101"), 0);
    cr_expect_eq(unpriced("UPDATE kernel_counters SET value = 34816 WHERE metric_id = 101"), 1);
}

/*
 * Saving of a kernel that stores down columns, by a model in which such stores take `whole` times as
 * long as L2 takes for as many whole sectors. 0: the model has no stores.
 */
static double saving_of_columns(double whole)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM302", "");
    struct gmt_model *model = &fixture.model;
    struct gmt_model_variant *v = model->store.variants;

    model->store.n = whole > 0;
    v->store_requests = 1e6;
    v->store_sectors = 32e6;
    v->median_ns = whole * v->store_sectors * 1e9 / model->l2_sectors_per_s;
    double saving_ns = gmt_fixture_only(&fixture, "GM302")->saving.best_ns;
    gmt_fixture_free(&fixture);
    return saving_ns;
}

/* L2 writes a part of a sector as slowly as it reads four whole ones. */
Test(boundaries_access, without_calibrated_stores_a_part_of_a_sector_costs_four)
{
    double guessed_ns = saving_of_columns(0);

    cr_expect_float_eq(guessed_ns, saving_of_columns(4), 1, "%g", guessed_ns);
    cr_expect_gt(fabs(guessed_ns - saving_of_columns(3.5)), 1e4);
    cr_expect_gt(fabs(guessed_ns - saving_of_columns(4.5)), 1e4);
}
