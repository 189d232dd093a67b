/* SPDX-License-Identifier: Apache-2.0 */
/* Which sectors of an allocation a launch touched, and how an instruction's counts come out. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_footprints, .timeout = 20);

#define SECTOR 32u

/* The allocation is the part of `out` from the first whole line. */
static struct sim_try *run_aligned(const char *ptx, unsigned blocks, unsigned workers)
{
    struct sim_try *trial = sim_try_new(ptx);
    const uint64_t base = ((uint64_t)(uintptr_t)trial->out + 127) / 128 * 128;

    trial->regions[0] = (struct sim_region){
        .base = base, .bytes = sizeof trial->out - 128, .flags = SIM_REGION_MANAGED, .id = 17};
    trial->map.count = 1;
    trial->n = (uint32_t)(base - (uint64_t)(uintptr_t)trial->out);
    trial->launch.grid[0] = blocks;
    trial->launch.workers = workers;
    sim_try_ok(trial, "k");
    return trial;
}

/* %rd4 = the allocation, %r2 = running number of the thread, %rd5 = its word. */
#define WORDS \
    "cvt.u64.u32 %rd4, %r0;\nadd.u64 %rd4, %rd1, %rd4;\nmov.u32 %r2, %ctaid.x;\n" \
    "mad.lo.u32 %r2, %r2, 32, %r1;\nmul.wide.u32 %rd5, %r2, 4;\nadd.u64 %rd5, %rd4, %rd5;\n"
#define KERNEL(text) SIM_HEAD SIM_KERNEL("k", WORDS text "ret;\n")

/* FOOTPRINT(name, blocks, workers, instructions, distinct sectors read, written, all read, written) */
#define FOOTPRINTS(X) \
    X(each_word_once, 16, 1, "ld.global.u32 %r3, [%rd5];\n", 64, 0, 64, 0) \
    X(each_word_by_several_workers, 16, 4, "ld.global.u32 %r3, [%rd5];\n", 64, 0, 64, 0) \
    X(reads_again, 16, 2, "ld.global.u32 %r3, [%rd5];\nld.global.u32 %r3, [%rd4];\n", 64, 0, 80, \
      0) \
    X(a_copy, 8, 2, "ld.global.u32 %r3, [%rd5];\nst.global.u32 [%rd5+2048], %r3;\n", 32, 32, 32, \
      32) \
    X(atomics_read_and_write, 4, 2, "red.global.add.u32 [%rd4], 1;\n", 1, 1, 4, 4) \
    X(strided, 1, 1, \
      "mul.wide.u32 %rd5, %r1, 96;\nadd.u64 %rd5, %rd4, %rd5;\n" \
      "st.global.u32 [%rd5], 0;\n", \
      0, 32, 0, 32) \
    X(the_last_word, 1, 1, "st.global.u32 [%rd4+16252], 0;\n", 0, 1, 0, 1) \
    X(vectors, 1, 1, \
      "mul.wide.u32 %rd5, %r1, 16;\nadd.u64 %rd5, %rd4, %rd5;\n" \
      "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd5+64];\n", \
      16, 0, 16, 0) \
    X(one_lane, 1, 1, "setp.eq.u32 %p1, %r1, 9;\n@%p1 ld.u8 %r3, [%rd5];\n", 1, 0, 1, 0)

#define TEST_FOOTPRINT(name, blocks, workers, text, reads, writes, all_reads, all_writes) \
    Test(sim_footprints, name) \
    { \
        struct sim_try *trial = run_aligned(KERNEL(text), blocks, workers); \
        cr_assert_eq(trial->counts.footprint_count, 1); \
        const struct sim_footprint *it = &trial->counts.footprints[0]; \
        cr_expect_eq(it->region_id, 17); \
        cr_expect_eq(it->base, trial->regions[0].base); \
        cr_expect_eq(it->flags, SIM_REGION_MANAGED); \
        cr_expect_eq(it->read_sectors, reads); \
        cr_expect_eq(it->write_sectors, writes); \
        cr_expect_eq(it->read_traffic, all_reads); \
        cr_expect_eq(it->write_traffic, all_writes); \
        sim_try_end(trial); \
    }
FOOTPRINTS(TEST_FOOTPRINT)

Test(sim_footprints, an_allocation_may_begin_anywhere)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "st.global.u32 [%rd3], 0;\nret;\n"));
    const uint64_t base = (uint64_t)(uintptr_t)trial->out;

    trial->regions[0] = (struct sim_region){.base = base, .bytes = 128};
    trial->map.count = 1;
    sim_try_ok(trial, "k");
    cr_assert_eq(trial->counts.footprint_count, 1);
    cr_expect_eq(trial->counts.footprints[0].write_sectors,
                 (base + 127) / SECTOR - base / SECTOR + 1);
    sim_try_end(trial);
}

Test(sim_footprints, what_is_not_counted_costs_no_bitmap)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "st.global.u32 [%rd3], 0;\nret;\n"));

    trial->launch.count = false;
    sim_try_ok(trial, "k");
    cr_expect_eq(trial->counts.footprint_count, 0);
    sim_try_end(trial);
}

Test(sim_footprints, a_generic_access_is_of_the_kind_it_turns_out_to_be)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", ".shared .align 4 .b8 tile[128];\nmov.u32 %r8, tile;\ncvt.u64.u32 %rd4, %r8;\n"
             "cvta.shared.u64 %rd4, %rd4;\nmul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd4, %rd4, %rd5;\n"
             "st.u32 [%rd4], %r1;\nld.u32 %r2, [%rd3];\nsetp.lt.u32 %p1, %r1, 8;\n"
             "selp.b64 %rd6, %rd3, %rd4, %p1;\nld.u32 %r2, [%rd6];\nret;\n"));

    sim_try_ok(trial, "k");
    const struct sim_inst_counts *store = sim_try_inst(trial, "st", 0);
    const struct sim_inst_counts *load = sim_try_inst(trial, "ld.u32", 0);
    const struct sim_inst_counts *both = sim_try_inst(trial, "ld.u32", 1);
    cr_expect_eq(store->kind, SIM_INST_SHARED_STORE);
    cr_expect_eq(store->wavefronts, 1);
    cr_expect_eq(store->sectors, 0);
    cr_expect_eq(load->kind, SIM_INST_GLOBAL_LOAD);
    cr_expect_eq(both->kind, SIM_INST_GENERIC);
    cr_expect_eq(both->requests, 1);
    cr_expect_eq(both->bytes, 128);
    cr_expect_eq(both->wavefronts, 1);
    sim_try_end(trial);
}
