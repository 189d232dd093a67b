/* SPDX-License-Identifier: Apache-2.0 */
/* Where rules about shared memory and barriers begin to report: just below and just above each value. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/boundary.h"

/* Loads of 4-byte words, 6 million of full warps, so 6 million passes without conflicts. */
static void expect_degree(double wavefronts, const char *degree)
{
    struct gmt_fixture fixture;
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "UPDATE kernel_counters SET value = %.0f WHERE metric_id = 9",
                   wavefronts);
    gmt_fixture_load_positive(&fixture, "GM401", sql);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM401");
    cr_expect_not_null(strstr(f->headline, degree), "%s: %s", sql, f->headline);
    gmt_fixture_free(&fixture);
}

/* A few other accesses add up to 3 % of passes to a whole number of ways; beyond it, ways are a mean. */
Test(boundaries_shared, conflicts_near_a_whole_number_have_that_many_ways)
{
    expect_degree(1.02 * 4 * 6e6, "conflict 4-way;");
    expect_degree(1.04 * 4 * 6e6, "conflict 4.2-way on average;");
}

/* Stalls were not measured: the wait at the barrier would show the fill by itself. */
#define NO_STALLS "DELETE FROM kernel_counters WHERE metric_id = 55;"

/* A half warp of the narrowest words asks for 16 bytes: wider stores are made by more lanes. */
#define BYTES_PER_STORE(bytes) \
    NO_STALLS "UPDATE kernel_counters SET value = " bytes " * 20480000 WHERE metric_id IN (1, 8)"

Test(boundaries_shared, stores_of_half_a_warp_and_less_are_a_serial_fill)
{
    gmt_boundary_expect_edge("GM402_positive", BYTES_PER_STORE("20"), BYTES_PER_STORE("16"));
}

/* 32 warps with two results each make 64 stores. One load for each store, in 20000 blocks. */
#define STORES_PER_BLOCK(stores) \
    NO_STALLS "UPDATE kernel_counters SET value = " stores " * 20000 WHERE metric_id IN " \
              "(3, 5, 10, 12);" \
              "UPDATE kernel_counters SET value = 4 * " stores \
              " * 20000 WHERE metric_id IN (1, 8)"

Test(boundaries_shared, more_stores_than_a_block_has_results_are_a_tile)
{
    gmt_boundary_expect_edge("GM402_positive", STORES_PER_BLOCK("60"), STORES_PER_BLOCK("70"));
}

/* 100 stores per block beside ever more loads; 2.56 million other memory instructions. */
#define STORES_OF_A_TILE \
    "UPDATE kernel_counters SET value = 2000000 WHERE metric_id IN (10, 12);" \
    "UPDATE kernel_counters SET value = 4 * 2000000 WHERE metric_id = 8;"

Test(boundaries_shared, a_serial_fill_is_a_part_of_the_memory_instructions)
{
    gmt_boundary_expect_edge(
        "GM402_positive",
        STORES_OF_A_TILE "UPDATE kernel_counters SET value = 2e6 / 0.04 - 2e6 - 2.56e6 "
                         "WHERE metric_id = 5",
        STORES_OF_A_TILE "UPDATE kernel_counters SET value = 2e6 / 0.06 - 2e6 - 2.56e6 "
                         "WHERE metric_id = 5");
}

/* One warp of eight works, as the barrier shows; a reduction stores far less than it loads. */
#define ONE_WARP_WORKS "UPDATE kernel_counters SET value = 8.4e9 WHERE metric_id = 55;"

Test(boundaries_shared, a_fill_stores_a_good_part_of_what_it_loads)
{
    gmt_boundary_expect_edge(
        "GM402_negative",
        ONE_WARP_WORKS "UPDATE kernel_counters SET value = 0.45 * (SELECT value FROM "
                       "kernel_counters WHERE metric_id = 1) WHERE metric_id = 8",
        ONE_WARP_WORKS "UPDATE kernel_counters SET value = 0.55 * (SELECT value FROM "
                       "kernel_counters WHERE metric_id = 1) WHERE metric_id = 8");
}

/* Resident warps times cycles of all multiprocessors: what waits at barriers are a part of. */
#define WARP_CYCLES \
    "(SELECT value / 100 * 64 * 1500000 * 132 FROM kernel_counters WHERE metric_id = 32)"

Test(boundaries_shared, blocks_that_hardly_wait_at_barriers_are_left_alone)
{
    static const char below[] = "UPDATE kernel_counters SET value = 0.09 * " WARP_CYCLES
                                " WHERE metric_id = 55";
    static const char above[] = "UPDATE kernel_counters SET value = 0.11 * " WARP_CYCLES
                                " WHERE metric_id = 55";

    gmt_boundary_expect_edge("GM402_positive", below, above);
    gmt_boundary_expect_edge("GM505_positive", below, above);
}

/* With 128 registers, one such block is resident. Two of 512 threads fit where one of the largest does. */
#define ONE_BLOCK_OF(threads) \
    "UPDATE kernel SET registers = 128;" \
    "UPDATE kernel_class SET block_x = " threads ", theoretical_occupancy = 0.25;" \
    "UPDATE kernel_counters SET value = 24 WHERE metric_id = 32"

Test(boundaries_shared, smaller_blocks_are_proposed_for_large_ones)
{
    gmt_boundary_expect_edge("GM505_positive", ONE_BLOCK_OF("480"), ONE_BLOCK_OF("512"));
}

/* 1.88 GB are staged. A tile that is read less than every second time was staged for little. */
Test(boundaries_shared, a_tile_that_is_read_every_second_time_is_read)
{
    gmt_boundary_expect_edge(
        "GM403_positive",
        "UPDATE kernel_counters SET value = 0.55 * 1884160000 WHERE metric_id = 7",
        "UPDATE kernel_counters SET value = 0.45 * 1884160000 WHERE metric_id = 7");
}

/* Of 4 bytes per lane: what is loaded, as so many times what is staged. */
#define LOADS_PER_STAGED(times) \
    "UPDATE kernel_counters SET value = " times " * 1884160000 WHERE metric_id = 1;" \
    "UPDATE kernel_counters SET value = " times " * 1884160000 / 32 WHERE metric_id = 3;" \
    "UPDATE kernel_counters SET value = " times " * 1884160000 / 128 WHERE metric_id = 5"

/* The first load of each byte fills the tile; all of it has to be loaded once more. */
Test(boundaries_shared, loads_beyond_the_fill_read_the_whole_tile_again)
{
    gmt_boundary_expect_edge("GM403_positive", LOADS_PER_STAGED("1.8"), LOADS_PER_STAGED("2.2"));
}

/* A reduction loads far more than it ever stages: a sum per warp. */
Test(boundaries_shared, a_tile_is_fed_by_a_part_of_the_loads)
{
    gmt_boundary_expect_edge("GM403_positive", LOADS_PER_STAGED("70"), LOADS_PER_STAGED("60"));
}
