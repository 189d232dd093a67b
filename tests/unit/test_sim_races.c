/* SPDX-License-Identifier: Apache-2.0 */
/* Races in shared memory are found, and what is none is not reported. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_races, .timeout = 120);

#define TILE \
    ".shared .align 8 .b8 tile[512];\nmov.u32 %r8, tile;\n" \
    "shl.b32 %r9, %r1, 2;\nadd.u32 %r9, %r8, %r9;\n" \
    "xor.b32 %r10, %r1, 127;\nshl.b32 %r10, %r10, 2;\nadd.u32 %r10, %r8, %r10;\n"
#define BARRIER "bar.sync 0;\n"

/* Four warps; the trial is the caller's. */
static struct sim_try *look(const char *ptx)
{
    struct sim_try *trial = sim_try_new(ptx);

    trial->launch.block[0] = 128;
    trial->launch.grid[0] = 3;
    trial->launch.workers = 2;
    trial->launch.check_races = true;
    sim_try_ok(trial, "k");
    return trial;
}

static void expect_race(const char *ptx, const char *first, const char *second, uint64_t count)
{
    struct sim_try *trial = look(ptx);
    size_t sites;
    const struct sim_inst_info *info = sim_kernel_insts(trial->launch.kernel, &sites);

    cr_assert_eq(trial->counts.race_count, 1, "%zu", trial->counts.race_count);
    const struct sim_race *race = &trial->counts.races[0];
    cr_expect_str_eq(info[race->first_site].opcode, first);
    cr_expect_str_eq(info[race->second_site].opcode, second);
    cr_expect_eq(race->count, count, "%llu", (unsigned long long)race->count);
    sim_try_end(trial);
}

static void expect_none(const char *ptx)
{
    struct sim_try *trial = look(ptx);

    cr_expect_eq(trial->counts.race_count, 0);
    sim_try_end(trial);
}

#define KERNEL(text) SIM_HEAD SIM_KERNEL("k", TILE text "ret;\n")

Test(sim_races, a_read_of_what_another_warp_stores)
{
    /* Warps 0 and 1 read before warps 3 and 2 store: their stores then race with the reads. */
    struct sim_try *trial = look(KERNEL("st.shared.u32 [%r9], %r1;\nld.shared.u32 %r2, [%r10];\n"));
    uint64_t lanes = 0;

    for (size_t i = 0; i < trial->counts.race_count; i++) {
        lanes += trial->counts.races[i].count;
    }
    cr_expect_eq(lanes, 3 * 128, "each word, in each block: %llu", (unsigned long long)lanes);
    sim_try_end(trial);
}

Test(sim_races, two_stores_to_one_word)
{
    expect_race(KERNEL("st.shared.u32 [tile], %r1;\n"), "st.shared.u32", "st.shared.u32",
                3 * 3); /* blocks x warps that find another's store */
}

Test(sim_races, an_atomic_beside_a_plain_store)
{
    expect_race(KERNEL("setp.lt.u32 %p1, %r1, 32;\n@%p1 st.shared.u32 [tile], 0;\n"
                       "@!%p1 red.shared.add.u32 [tile], 1;\n"),
                "st.shared.u32", "red.shared.add.u32", 3);
}

Test(sim_races, a_barrier_orders)
{
    expect_none(KERNEL("st.shared.u32 [%r9], %r1;\n" BARRIER "ld.shared.u32 %r2, [%r10];\n" BARRIER
                       "st.shared.u32 [%r9], %r2;\n"));
}

Test(sim_races, lanes_of_a_warp_are_no_race)
{
    expect_none(KERNEL("xor.b32 %r11, %r9, 124;\nst.shared.u32 [%r9], %r1;\n"
                       "ld.shared.u32 %r2, [%r11];\nst.shared.u32 [%r9], %r2;\n"));
}

Test(sim_races, reads_and_atomics_among_themselves_are_no_race)
{
    expect_none(KERNEL("ld.shared.u32 %r2, [tile];\nred.shared.add.u32 [tile+4], 1;\n"
                       "ld.volatile.shared.u32 %r2, [tile+4];\n"));
}

Test(sim_races, neighbouring_bytes_are_no_race)
{
    expect_none(KERNEL("add.u32 %r9, %r8, %r1;\nst.shared.u8 [%r9], %r1;\n"
                       "ld.shared.u8 %r2, [%r9];\n"));
}

Test(sim_races, only_who_asks_gets_them)
{
    struct sim_try *trial = sim_try_new(KERNEL("st.shared.u32 [tile], %r1;\n"));

    trial->launch.block[0] = 128;
    sim_try_ok(trial, "k");
    cr_expect_eq(trial->counts.race_count, 0);
    sim_try_end(trial);
}
