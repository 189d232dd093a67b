/* SPDX-License-Identifier: Apache-2.0 */
/* Sectors, lines, wavefronts and ideals of the access patterns that every CUDA course names. */
#include <criterion/criterion.h>

#include "simgpu/exec/count.h"

TestSuite(sim_count, .timeout = 60);

#define BASE UINT64_C(0x7f0000000000) /* of an allocation */

static struct sim_access access_of(unsigned width, uint32_t mask, unsigned uses)
{
    return (struct sim_access){
        .mask = mask, .width = width, .uses = (uint8_t)uses, .space = PTX_GLOBAL};
}

/* Lanes `stride` bytes apart, from `start` bytes behind the base. */
static struct sim_access strided(unsigned width, uint64_t start, uint64_t stride)
{
    struct sim_access access = access_of(width, SIM_FULL_MASK, SIM_USE_READ);

    for (unsigned i = 0; i < SIM_LANES; i++) {
        access.address[i] = BASE + start + i * stride;
    }
    return access;
}

static struct sim_traffic traffic_of(const struct sim_access *access)
{
    struct sim_lines lines;
    struct sim_traffic traffic;

    sim_count_global(access, &lines, &traffic);
    return traffic;
}

/* GLOBAL(what, width, start, stride, sectors, ideal sectors, lines) */
#define GLOBAL_PATTERNS(X) \
    X("unit stride of 4 bytes", 4, 0, 4, 4, 4, 1) \
    X("unit stride of 8 bytes", 8, 0, 8, 8, 8, 2) \
    X("unit stride of 16 bytes", 16, 0, 16, 16, 16, 4) \
    X("offset by 1 element", 4, 4, 4, 5, 4, 2) \
    X("offset by 4 elements", 4, 16, 4, 5, 4, 2) \
    X("offset by 7 elements", 4, 28, 4, 5, 4, 2) \
    X("offset by 8 elements", 4, 32, 4, 4, 4, 2) \
    X("stride 2", 4, 0, 8, 8, 4, 2) \
    X("stride 4", 4, 0, 16, 16, 4, 4) \
    X("stride 8", 4, 0, 32, 32, 4, 8) \
    X("stride 32", 4, 0, 128, 32, 4, 32) \
    X("a float of a 12-byte struct", 4, 0, 12, 12, 4, 3) \
    X("a float of a 16-byte struct", 4, 0, 16, 16, 4, 4) \
    X("a float of a 32-byte struct", 4, 0, 32, 32, 4, 8) \
    X("unit stride of single bytes", 1, 0, 1, 1, 1, 1) \
    X("broadcast", 4, 0, 0, 1, 1, 1)

Test(sim_count, global_accesses){
#define CHECK(what, width, start, stride, sectors_, ideal, lines_) \
    { \
        const struct sim_access access = strided(width, start, stride); \
        const struct sim_traffic traffic = traffic_of(&access); \
        cr_expect_eq(traffic.sectors, sectors_, what ": %u sectors", traffic.sectors); \
        cr_expect_eq(traffic.ideal_sectors, ideal, what ": %u ideal", traffic.ideal_sectors); \
        cr_expect_eq(traffic.lines, lines_, what ": %u lines", traffic.lines); \
    }
    GLOBAL_PATTERNS(CHECK)
#undef CHECK
}

Test(sim_count, the_order_of_lanes_in_a_line_does_not_matter)
{
    struct sim_access access = strided(4, 0, 4);

    for (unsigned i = 0; i < SIM_LANES; i++) {
        access.address[i] = BASE + 4 * (uint64_t)(i * 13 % SIM_LANES);
    }
    cr_expect_eq(traffic_of(&access).sectors, 4);
    cr_expect_eq(traffic_of(&access).ideal_sectors, 4);
}

/* Rows of `floats` floats without padding, read by full warps that begin at each row's start. */
static double sectors_of_rows(unsigned floats)
{
    unsigned sectors = 0, requests = 0;

    for (unsigned row = 0; row < 8; row++) {
        for (unsigned at = 0; at + SIM_LANES <= floats; at += SIM_LANES, requests++) {
            const struct sim_access access = strided(4, 4 * (uint64_t)(row * floats + at), 4);
            sectors += traffic_of(&access).sectors;
        }
    }
    return (double)sectors / requests;
}

Test(sim_count, rows_without_pitch)
{
    cr_expect_eq(sectors_of_rows(1001), 4.875);
    cr_expect_eq(sectors_of_rows(100), 4.5);
    cr_expect_eq(sectors_of_rows(1000), 4.0);
}

/* SHARED(what, width, words between lanes, wavefronts, ideal, degree) */
#define SHARED_PATTERNS(X) \
    X("stride 1", 4, 1, 1, 1, 1) \
    X("stride 3", 4, 3, 1, 1, 1) \
    X("stride 5", 4, 5, 1, 1, 1) \
    X("stride 33: a padded column", 4, 33, 1, 1, 1) \
    X("stride 2", 4, 2, 2, 1, 2) \
    X("stride 4", 4, 4, 4, 1, 4) \
    X("stride 8", 4, 8, 8, 1, 8) \
    X("stride 16", 4, 16, 16, 1, 16) \
    X("stride 32: a tile's column", 4, 32, 32, 1, 32) \
    X("unit stride of 8 bytes", 8, 2, 2, 2, 1) \
    X("unit stride of 16 bytes", 16, 4, 4, 4, 1) \
    X("every other 16 bytes", 16, 8, 8, 4, 2) \
    X("broadcast", 4, 0, 1, 1, 1) \
    X("broadcast of 8 bytes", 8, 0, 1, 1, 1)

Test(sim_count, shared_accesses){
#define CHECK(what, width, words, wavefronts_, ideal_, degree_) \
    { \
        const struct sim_access access = strided(width, 0, 4 * (words)); \
        struct sim_conflicts conflicts; \
        sim_count_shared(&access, &conflicts); \
        cr_expect_eq(conflicts.wavefronts, wavefronts_, what ": %u", conflicts.wavefronts); \
        cr_expect_eq(conflicts.ideal, ideal_, what ": ideal %u", conflicts.ideal); \
        cr_expect_eq(conflicts.degree, degree_, what ": degree %u", conflicts.degree); \
    }
    SHARED_PATTERNS(CHECK)
#undef CHECK
}

Test(sim_count, shapes_are_shortcuts_only)
{
    struct sim_access access = strided(4, 12, 4);
    struct sim_conflicts slow, quick;
    const struct sim_traffic plain = traffic_of(&access);

    sim_count_shared(&access, &slow);
    access.shape = SIM_SHAPE_UNIT;
    sim_count_shared(&access, &quick);
    cr_expect_eq(plain.sectors, traffic_of(&access).sectors);
    cr_expect_eq(plain.bytes, traffic_of(&access).bytes);
    cr_expect_eq(slow.wavefronts, quick.wavefronts);
}
