/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The occupancy calculator against answers of drivers: the software device's, asked here, and those
 * that tests/gpu/programs/occupancy recorded (tests/data/occupancy_*.txt).
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/occupancy.h"
#include "sim_driver_fixture.h"

static struct gmt_timeline h200(void)
{
    return (struct gmt_timeline){.device = {.compute_major = 9,
                                            .sm_count = 132,
                                            .max_threads_per_sm = 2048,
                                            .registers_per_sm = 65536,
                                            .shared_bytes_per_sm = 233472,
                                            .shared_bytes_per_block_optin = 232448,
                                            .reserved_shared_bytes_per_block = 1024,
                                            .max_blocks_per_sm = 32}};
}

static struct gmt_tl_class kernel_with(int64_t registers, int64_t threads, int64_t shared)
{
    return (struct gmt_tl_class){.registers = registers,
                                 .dynamic_shared_bytes = shared,
                                 .block = {threads, 1, 1},
                                 .grid = {1000, 1, 1}};
}

/* ---- the software device ---- */

static CUfunction kernel_of(int registers)
{
    char ptx[512];

    snprintf(ptx, sizeof(ptx), SIM_PTX_HEAD ".visible .entry k()\n.maxnreg %d\n{\n ret;\n}\n",
             registers);
    CUfunction function = sim_kernel_of(ptx, "k");
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    return function;
}

Test(occupancy, is_what_the_driver_answers)
{
    static const int registers[] = {16, 24, 32}; /* no more than it assumes */
    static const int shared[] = {0, 1024, 4096, 12288, 24576, 49152, 57344, 115712, 232448};
    struct gmt_timeline timeline = h200();
    int asked = 0;

    sim_start(1);
    for (size_t r = 0; r < sizeof(registers) / sizeof(registers[0]); r++) {
        CUfunction function = kernel_of(registers[r]);

        for (size_t s = 0; s < sizeof(shared) / sizeof(shared[0]); s++) {
            for (int threads = 16; threads <= 1024; threads += 16, asked++) {
                struct gmt_tl_class class = kernel_with(registers[r], threads, shared[s]);
                int blocks = -1;

                OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                               (size_t)shared[s]));
                struct gmt_occupancy o = gmt_occupancy_of(&timeline, &class, NULL);
                cr_assert_null(o.unknown);
                cr_assert_eq(o.blocks, blocks, "%d registers, %d bytes, %d threads: %d not %d",
                             registers[r], shared[s], threads, (int)o.blocks, blocks);
            }
            int grid, block;
            int64_t my_grid, my_block;
            struct gmt_tl_class class = kernel_with(registers[r], 128, shared[s]);

            OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, (size_t)shared[s],
                                                0));
            my_block = gmt_occupancy_best_block(&timeline, &class, &my_grid);
            cr_assert_eq(my_block, block, "%d registers, %d bytes", registers[r], shared[s]);
            cr_assert_eq(my_grid, grid);
        }
    }
    cr_assert_eq(asked, 3 * 9 * 64);
}

Test(occupancy, deduces_a_carve_out_from_the_drivers_answer)
{
    struct gmt_timeline timeline = h200();
    int blocks = -1;

    sim_start(1);
    CUfunction function = kernel_of(32);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 25));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 8192));
    struct gmt_tl_class class = kernel_with(32, 128, 8192);
    struct gmt_occupancy_whatif smaller = {.shared_bytes = 4096};

    cr_assert_eq(gmt_occupancy_of(&timeline, &class, NULL).blocks, 16, "nothing asked for");
    class.max_blocks_per_sm = blocks;
    struct gmt_occupancy o = gmt_occupancy_of(&timeline, &class, NULL);
    cr_assert_eq(o.blocks, 7, "64 KiB / 9 KiB");
    cr_assert_eq(o.limiter, GMT_OCCUPANCY_SHARED);
    cr_assert(o.carveout_percent >= 15 && o.carveout_percent <= 28, "64 of 228 KiB");
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 4096));
    cr_assert_eq(gmt_occupancy_of(&timeline, &class, &smaller).blocks, blocks, "in what-ifs too");
}

/* ---- what was recorded on a GPU ---- */

/* Reads the whole numbers of a line, "=" among them left out. Returns how many there are. */
static size_t numbers_of(const char *line, int64_t *values, size_t most)
{
    size_t n = 0;

    line += strcspn(line, " ");
    while (n < most && *line != '\0') {
        char *end;
        long long value = strtoll(line, &end, 10);

        if (end != line) {
            values[n++] = value;
        }
        line = end != line ? end : line + 1;
    }
    return n;
}

enum { NUMBERS = 32 };
static struct gmt_timeline recorded;
static int64_t threads[NUMBERS];
static size_t thread_count;

/* v: registers, static, dynamic, carve-out, barriers, then blocks at each of the thread counts. */
static void check_blocks(const char *line, const int64_t *v)
{
    for (size_t i = 0; i < thread_count; i++) {
        struct gmt_tl_class class = kernel_with(v[0], threads[i], v[2]);
        int64_t blocks = v[5 + i], bound = INT64_MAX;

        class.static_shared_bytes = v[1];
        /* The trace holds neither: where they matter, they are deduced from the answer. */
        if (v[3] >= 0 || v[4] > 1) {
            class.max_blocks_per_sm = blocks;
        }
        struct gmt_occupancy o = gmt_occupancy_of(&recorded, &class, NULL);
        for (int k = 0; k < GMT_OCCUPANCY_LIMITER_COUNT; k++) {
            bound = o.limit[k] < bound ? o.limit[k] : bound;
        }
        cr_expect_eq(o.blocks, blocks, "%s: %d threads: %d", line, (int)threads[i], (int)o.blocks);
        cr_expect_eq(bound, blocks, "%s: %d threads: not explained", line, (int)threads[i]);
    }
}

static void check_line(const char *line)
{
    int64_t v[NUMBERS] = {0}, grid;
    size_t n = numbers_of(line, v, NUMBERS);

    if (strncmp(line, "device ", 7) == 0) {
        cr_assert_eq(n, 8);
        recorded = (struct gmt_timeline){.device = {.compute_major = v[0],
                                                    .compute_minor = v[1],
                                                    .sm_count = v[2],
                                                    .max_threads_per_sm = v[3],
                                                    .registers_per_sm = v[4],
                                                    .shared_bytes_per_sm = v[5],
                                                    .shared_bytes_per_block_optin = v[6],
                                                    .reserved_shared_bytes_per_block = v[7]}};
    } else if (strncmp(line, "threads ", 8) == 0) {
        memcpy(threads, v, sizeof(threads));
        thread_count = n;
    } else if (strncmp(line, "blocks ", 7) == 0) {
        cr_assert_eq(n, 5 + thread_count, "%s", line);
        check_blocks(line, v);
    } else if (strncmp(line, "best ", 5) == 0) {
        cr_assert_eq(n, 5, "%s", line);
        struct gmt_tl_class class = kernel_with(v[0], 128, v[2]);

        class.static_shared_bytes = v[1];
        cr_expect_eq(gmt_occupancy_best_block(&recorded, &class, &grid), v[3], "%s", line);
        cr_expect_eq(grid, v[4], "%s", line);
    } else if (strncmp(line, "clusters ", 9) == 0) {
        cr_assert_eq(n, 5, "%s", line);
        struct gmt_tl_class class = kernel_with(v[0], v[3], v[1]);

        class.cluster[0] = v[2];
        class.cluster[1] = class.cluster[2] = 1;
        cr_expect_geq(gmt_occupancy_clusters_at_most(&recorded, &class), v[4], "%s", line);
    }
}

Test(occupancy, is_what_was_recorded)
{
    glob_t files;

    if (glob(GMT_SOURCE_DIR "/tests/data/occupancy_*.txt", 0, NULL, &files) != 0) {
        cr_skip_test("no table has been recorded: see tests/gpu/programs/occupancy.cu");
    }
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "r");
        char line[256];
        size_t lines = 0;

        cr_assert_not_null(file);
        for (; fgets(line, sizeof(line), file) != NULL; lines++) {
            line[strcspn(line, "\n")] = '\0';
            check_line(line);
        }
        fclose(file);
        cr_assert_gt(lines, 1000);
    }
    globfree(&files);
}

/* ---- by hand, for the device above ---- */

Test(occupancy, names_the_limiter_and_what_would_lift_it)
{
    struct gmt_timeline timeline = h200();
    struct gmt_tl_class class = kernel_with(32, 64, 48896);
    struct gmt_occupancy o = gmt_occupancy_of(&timeline, &class, NULL);

    cr_assert_eq(o.blocks, 4, "233,472 / 49,920");
    cr_assert_eq(o.limiter, GMT_OCCUPANCY_SHARED);
    cr_assert_float_eq(o.occupancy, 0.125, 1e-9);
    cr_assert_float_eq(o.without_limiter, 1.0, 1e-9, "32 blocks of 2 warps");
    cr_assert_eq(gmt_occupancy_shared_for(&timeline, &class, 8), 28160, "29,184 - 1024");
    cr_assert_eq(gmt_occupancy_shared_for(&timeline, &class, 33), -1);

    class = kernel_with(65, 512, 0);
    o = gmt_occupancy_of(&timeline, &class, NULL);
    cr_assert_eq(o.blocks, 1, "the cliff: 72 registers are allocated");
    cr_assert_eq(o.limiter, GMT_OCCUPANCY_REGISTERS);
    cr_assert_eq(gmt_occupancy_registers_for(&timeline, &class, 2), 64);
    cr_assert_eq(gmt_occupancy_registers_for(&timeline, &class, 4), 32);

    class = kernel_with(32, 768, 0);
    o = gmt_occupancy_of(&timeline, &class, NULL);
    cr_assert_eq(o.limiter, GMT_OCCUPANCY_WARPS);
    cr_assert_float_eq(o.occupancy, 0.75, 1e-9);
    cr_assert_float_eq(o.without_limiter, 1.0, 1e-9, "with another block size");

    class = kernel_with(32, 32, 0);
    o = gmt_occupancy_of(&timeline, &class, NULL);
    cr_assert_eq(o.limiter, GMT_OCCUPANCY_BLOCKS);
    cr_assert_float_eq(o.occupancy, 0.5, 1e-9);

    class = kernel_with(32, 256, 0);
    cr_assert_not(gmt_occupancy_of(&timeline, &class, NULL).limited);
}

Test(occupancy, curves_have_a_point_per_step)
{
    struct gmt_timeline timeline = h200();
    struct gmt_tl_class class = kernel_with(64, 512, 0);
    struct gmt_occupancy_point points[GMT_OCCUPANCY_POINTS];
    size_t n = gmt_occupancy_curve(&timeline, &class, GMT_OCCUPANCY_REGISTER_AXIS, points,
                                   GMT_OCCUPANCY_POINTS);

    cr_assert_eq(n, 4);
    cr_assert(points[0].value == 32 && points[0].blocks == 4);
    cr_assert(points[1].value == 40 && points[1].blocks == 3);
    cr_assert(points[2].value == 64 && points[2].blocks == 2);
    cr_assert(points[3].value == 128 && points[3].blocks == 1);
    n = gmt_occupancy_curve(&timeline, &class, GMT_OCCUPANCY_SHARED_AXIS, points,
                            GMT_OCCUPANCY_POINTS);
    cr_assert_eq(n, 2, "registers allow two blocks");
    cr_assert(points[0].value == 115712 && points[1].value == 232448);
    n = gmt_occupancy_curve(&timeline, &class, GMT_OCCUPANCY_BLOCK_AXIS, points,
                            GMT_OCCUPANCY_POINTS);
    cr_assert_eq(n, 32);
    cr_assert(points[15].value == 512 && points[15].blocks == 2);
    class.max_threads_per_block = 256;
    n = gmt_occupancy_curve(&timeline, &class, GMT_OCCUPANCY_BLOCK_AXIS, points,
                            GMT_OCCUPANCY_POINTS);
    cr_assert_eq(n, 8, "the kernel was compiled for no more");
}

Test(occupancy, says_why_it_is_unknown)
{
    struct gmt_timeline timeline = h200();
    struct gmt_tl_class class = kernel_with(32, 128, 0);

    timeline.device.compute_major = 99;
    cr_assert_not_null(
        strstr(gmt_occupancy_of(&timeline, &class, NULL).unknown, "does not support"));
    cr_assert_eq(gmt_occupancy_best_block(&timeline, &class, NULL), 0);
    cr_assert_eq(gmt_occupancy_shared_for(&timeline, &class, 1), -1);
    timeline.device = (struct gmt_tl_device){0};
    cr_assert_not_null(strstr(gmt_occupancy_of(&timeline, &class, NULL).unknown, "limits"));
}
