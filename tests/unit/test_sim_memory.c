/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of every space and width do what PTX says. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_memory, .timeout = 20);

#define LANES 32
#define DATA_BYTES 4096 /* where tests keep what kernels load, from the start of `out` */
#define DATA "add.u64 %rd4, %rd1, 4096;\n"
/* %rd5 = DATA + tid * width */
#define OWN(width) DATA "mul.wide.u32 %rd5, %r1, " width ";\nadd.u64 %rd5, %rd4, %rd5;\n"

static uint8_t *data_of(struct sim_try *trial)
{
    return (uint8_t *)trial->out + DATA_BYTES;
}

/* A kernel of `text` over bytes 3 i + 0x70; what it stored is in out[]. */
static struct sim_try *run_over_bytes(const char *ptx)
{
    struct sim_try *trial = sim_try_new(ptx);

    for (unsigned i = 0; i < DATA_BYTES; i++) {
        data_of(trial)[i] = (uint8_t)(3 * i + 0x70);
    }
    sim_try_ok(trial, "k");
    return trial;
}

#define RUN(text) run_over_bytes(SIM_HEAD SIM_KERNEL("k", text "ret;\n"))
#define EXPECT(trial, want) \
    for (unsigned i = 0; i < LANES; i++) \
    cr_expect_eq((trial)->out[i], (uint32_t)(want), "lane %u: %x", i, (trial)->out[i])

static uint32_t byte_at(unsigned at)
{
    return (uint8_t)(3 * at + 0x70);
}

static uint32_t half_at(unsigned at)
{
    return byte_at(at) | byte_at(at + 1) << 8;
}

static uint32_t word_at(unsigned at)
{
    return half_at(at) | half_at(at + 2) << 16;
}

/* LOAD(name, bytes between lanes, instructions that leave the result in %r2, expected) */
#define LOADS(X) \
    X(bytes_are_zero_extended, "1", "ld.global.u8 %r2, [%rd5];\n", byte_at(i)) \
    X(signed_bytes_are_sign_extended, "1", "ld.global.s8 %r2, [%rd5];\n", (int8_t)byte_at(i)) \
    X(halves_are_zero_extended, "2", "ld.global.u16 %r2, [%rd5];\n", half_at(2 * i)) \
    X(signed_halves_are_sign_extended, "2", "ld.global.s16 %r2, [%rd5];\n", \
      (int16_t)half_at(2 * i)) \
    X(words, "4", "ld.global.u32 %r2, [%rd5+8];\n", word_at(4 * i + 8)) \
    X(words_below_the_register, "4", "ld.global.u32 %r2, [%rd5+-4];\n", \
      i == 0 ? 0 : word_at(4 * i - 4)) \
    X(double_words, "8", "ld.global.u64 %rd6, [%rd5];\nmov.b64 {%r3, %r2}, %rd6;\n", \
      word_at(8 * i + 4)) \
    X(words_into_wide_registers, "4", \
      "ld.global.s32 %rd6, [%rd5];\nshr.s64 %rd6, %rd6, 31;\n" \
      "mov.b64 {%r2, %r3}, %rd6;\n", \
      (int32_t)word_at(4 * i) < 0 ? UINT32_MAX : 0) \
    X(pairs, "8", "ld.global.v2.u32 {%r3, %r2}, [%rd5];\n", word_at(8 * i + 4)) \
    X(quadruples, "16", "ld.global.v4.u32 {%r3, %r4, %r2, %r5}, [%rd5];\n", word_at(16 * i + 8)) \
    X(quadruples_in_part, "16", "ld.global.v4.u32 {_, _, _, %r2}, [%rd5];\n", \
      word_at(16 * i + 12)) \
    X(four_bytes, "4", "ld.global.v4.u8 {%r3, %r4, %r5, %r2}, [%rd5];\n", byte_at(4 * i + 3)) \
    X(double_pairs, "16", "ld.global.v2.u64 {%rd6, %rd7}, [%rd5];\nmov.b64 {%r2, %r3}, %rd7;\n", \
      word_at(16 * i + 8)) \
    X(hints_change_nothing, "4", \
      "ld.relaxed.gpu.global.L1::evict_last.L2::128B.u32 %r2, [%rd5];\n", word_at(4 * i)) \
    X(read_only, "4", "ld.global.nc.u32 %r2, [%rd5];\n", word_at(4 * i)) \
    X(generic, "4", "ld.u32 %r2, [%rd5];\n", word_at(4 * i)) \
    X(uniform, "0", "ldu.global.u32 %r2, [%rd5];\n", word_at(0)) \
    X(strided, "12", "ld.volatile.global.u32 %r2, [%rd5];\n", word_at(12 * i)) \
    X(odd_lanes_only, "4", \
      "mov.u32 %r2, 7;\nand.b32 %r3, %r1, 1;\nsetp.ne.u32 %p1, %r3, 0;\n" \
      "@%p1 ld.global.u32 %r2, [%rd5];\n", \
      i % 2 != 0 ? word_at(4 * i) : 7)

#define TEST_LOAD(name, width, text, want) \
    Test(sim_memory, load_##name) \
    { \
        struct sim_try *trial = RUN(OWN(width) "add.u64 %rd5, %rd5, 0;\n" text SIM_STORE("%r2")); \
        EXPECT(trial, want); \
        sim_try_end(trial); \
    }
LOADS(TEST_LOAD)

Test(sim_memory, stores_write_the_low_bytes_only)
{
    struct sim_try *trial = RUN(
        "mov.u32 %r2, 0x12345678;\nst.global.u16 [%rd3], %r2;\nst.global.u8 [%rd3+3], %r2;\n");

    EXPECT(trial, 0x78005678);
    sim_try_end(trial);
}

Test(sim_memory, the_highest_lane_wins_a_store_to_one_address)
{
    struct sim_try *trial = RUN("shr.u32 %r2, %r1, 2;\nmul.wide.u32 %rd4, %r2, 4;\n"
                                "add.u64 %rd4, %rd1, %rd4;\nst.global.u32 [%rd4], %r1;\n");

    for (unsigned i = 0; i < 8; i++) {
        cr_expect_eq(trial->out[i], 4 * i + 3);
    }
    sim_try_end(trial);
}

Test(sim_memory, vectors_are_stored_with_immediates)
{
    struct sim_try *trial = RUN("mul.wide.u32 %rd4, %r1, 16;\nadd.u64 %rd4, %rd1, %rd4;\n"
                                "st.global.v4.u32 [%rd4], {%r1, 5, %r1, -1};\n");

    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t want[4] = {i, 5, i, UINT32_MAX};
        cr_expect_arr_eq(&trial->out[4 * i], want, sizeof want);
    }
    sim_try_end(trial);
}

Test(sim_memory, shapes_of_128_bits)
{
    struct sim_try *trial = RUN(OWN("16") ".reg .b128 %q;\nld.global.b128 %q, [%rd5];\n"
                                          "mul.wide.u32 %rd6, %r1, 16;\nadd.u64 %rd6, %rd1, %rd6;\n"
                                          "st.global.b128 [%rd6], %q;\n");

    cr_expect_arr_eq(trial->out, data_of(trial), 16 * LANES);
    sim_try_end(trial);
}
