/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red: each operation against the CPU, lanes in order, blocks in parallel. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_atomics, .timeout = 120);

#define LANES 32
#define CELL 1024 /* word of `out` that all lanes change */

/* 32-bit cells: (name, operation with type, first value, %r3 of a lane, what `was` becomes) */
#define WORDS(X) \
    X(add, "add.u32", 100, i, was + i) \
    X(add_signed, "add.s32", 5, (uint32_t)(10 - (int)i), was + 10 - i) \
    X(min_unsigned, "min.u32", 0x80000000, 0x7fffffff - i, 0x7fffffff - i) \
    X(min_signed, "min.s32", 3, 20 - i, (int)(20 - i) < (int)was ? 20 - i : was) \
    X(max_unsigned, "max.u32", 7, i ^ 21, (i ^ 21) > was ? i ^ 21 : was) \
    X(max_signed, "max.s32", 0xfffffff0, i - 16, (int)(i - 16) > (int)was ? i - 16 : was) \
    X(inc, "inc.u32", 5, 9 + 0 * i, was >= 9 ? 0 : was + 1) \
    X(dec, "dec.u32", 5, 9 + 0 * i, was == 0 || was > 9 ? 9 : was - 1) \
    X(and_bits, "and.b32", 0xffffffff, ~(1u << i), was & ~(1u << i)) \
    X(or_bits, "or.b32", 0, 1u << i, was | 1u << i) \
    X(xor_bits, "xor.b32", 0x1234, i * 77, was ^ i * 77) \
    X(exch, "exch.b32", 42, i, i)

/* Kernel over global or shared memory; out[tid] = what was there, out[CELL] the end. */
static void check_words(const char *ptx, const uint32_t *expected, uint32_t last, uint32_t first,
                        const uint32_t *operands)
{
    struct sim_try *trial = sim_try_new(ptx);

    trial->out[CELL] = first;
    memcpy(&trial->out[CELL + 64], operands, LANES * sizeof *operands);
    sim_try_ok(trial, "k");
    cr_expect_arr_eq(trial->out, expected, LANES * sizeof *expected);
    cr_expect_eq(trial->out[CELL], last, "%x", trial->out[CELL]);
    sim_try_end(trial);
}

#define OPERAND "ld.global.u32 %r3, [%rd3+4352];\n" /* out[CELL + 64 + tid] */
#define IN_GLOBAL(operation) \
    SIM_HEAD SIM_KERNEL("k", OPERAND "atom.global." operation \
                                     " %r2, [%rd1+4096], %r3;\n" SIM_STORE("%r2") "ret;\n")
#define IN_SHARED(operation) \
    SIM_HEAD SIM_KERNEL( \
        "k", \
        ".shared .align 4 .b8 cell[4];\n" OPERAND "ld.global.u32 %r4, [%rd1+4096];\n" \
        "st.shared.u32 [cell], %r4;\nbar.sync 0;\n" \
        "atom.shared." operation " %r2, [cell], %r3;\nbar.sync 0;\n" \
        "ld.shared.u32 %r4, [cell];\nst.global.u32 [%rd1+4096], %r4;\n" SIM_STORE("%r2") "ret;\n")

#define TEST_WORD(name, operation, first, operand, becomes) \
    Test(sim_atomics, name) \
    { \
        uint32_t expected[LANES], operands[LANES], was = (first); \
        for (uint32_t i = 0; i < LANES; i++) { \
            expected[i] = was; \
            operands[i] = (uint32_t)(operand); \
            was = (uint32_t)(becomes); \
        } \
        check_words(IN_GLOBAL(operation), expected, was, first, operands); \
        check_words(IN_SHARED(operation), expected, was, first, operands); \
    }
WORDS(TEST_WORD)

#define ONE_KERNEL(text) sim_try_new(SIM_HEAD SIM_KERNEL("k", text "ret;\n"))

Test(sim_atomics, compare_and_swap_of_16_32_and_64_bits)
{
    struct sim_try *trial = ONE_KERNEL(
        "add.u32 %r3, %r1, 1;\natom.global.cas.b32 %r2, [%rd1+4096], %r1, %r3;\n"
        ".reg .b16 %h<4>;\ncvt.u16.u32 %h1, %r1;\ncvt.u16.u32 %h2, %r3;\n"
        "atom.global.cas.b16 %h3, [%rd1+4102], %h1, %h2;\n"
        "cvt.u64.u32 %rd4, %r1;\ncvt.u64.u32 %rd5, %r3;\n"
        "atom.cas.b64 %rd6, [%rd1+4104], %rd4, %rd5;\n" SIM_STORE("%r2"));

    sim_try_ok(trial, "k");
    for (uint32_t i = 0; i < LANES; i++) {
        cr_expect_eq(trial->out[i], i); /* each lane finds what the one before it left */
    }
    cr_expect_eq(trial->out[CELL], LANES);
    cr_expect_eq(trial->out[CELL + 1], LANES << 16, "the other half of the word is as it was");
    cr_expect_eq(trial->out[CELL + 2], LANES);
    sim_try_end(trial);
}

Test(sim_atomics, blocks_in_parallel_lose_nothing)
{
    struct sim_try *trial = ONE_KERNEL(
        "red.global.add.u32 [%rd1+4096], 1;\nred.global.max.u32 [%rd1+4100], %r1;\n"
        "mov.u64 %rd4, 3;\nred.add.u64 [%rd1+4104], %rd4;\n");

    trial->launch.grid[0] = 300;
    trial->launch.block[0] = 256;
    trial->launch.workers = 4;
    sim_try_ok(trial, "k");
    cr_expect_eq(trial->out[CELL], 300 * 256);
    cr_expect_eq(trial->out[CELL + 1], 255);
    cr_expect_eq(trial->out[CELL + 2], 3 * 300 * 256);
    sim_try_end(trial);
}
