/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that must not be: each ends the launch with the right status and says where it lies. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_checks, .timeout = 120);

/* CHECK(name, instructions, status, words of the message) */
#define CHECKS(X) \
    X(past_the_end, "ld.global.u32 %r2, [%rd1+16384];\n", ILLEGAL_ADDRESS, \
      "is 0 bytes past the end of the 16384-byte allocation at") \
    X(far_past_the_end, "ld.global.u32 %r2, [%rd1+17000];\n", ILLEGAL_ADDRESS, \
      "is 616 bytes past the end") \
    X(before_the_beginning, "st.global.u32 [%rd1+-8], %r1;\n", ILLEGAL_ADDRESS, \
      "store of 4 bytes") \
    X(only_some_lane, \
      "mul.wide.u32 %rd4, %r1, 600;\nadd.u64 %rd4, %rd1, %rd4;\n" \
      "ld.global.u32 %r2, [%rd4];\n", \
      ILLEGAL_ADDRESS, "thread (28,0,0)") \
    X(null_pointer, "mov.u64 %rd4, 0;\nld.global.u32 %r2, [%rd4+16];\n", ILLEGAL_ADDRESS, \
      "0x10 is a null pointer") \
    X(nowhere, "mov.u64 %rd4, 0x123456789000;\nld.global.u32 %r2, [%rd4];\n", ILLEGAL_ADDRESS, \
      "not in any allocation") \
    X(not_even_a_space, "mov.u64 %rd4, 0xffff000000000000;\nld.u32 %r2, [%rd4];\n", \
      ILLEGAL_ADDRESS, "not in any allocation") \
    X(misaligned, "ld.global.u32 %r2, [%rd3+2];\n", MISALIGNED_ADDRESS, "not a multiple of 4") \
    X(misaligned_vector, "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3+4];\n", MISALIGNED_ADDRESS, \
      "not a multiple of 16") \
    X(misaligned_atomic, "atom.global.add.u64 %rd4, [%rd1+4], 1;\n", MISALIGNED_ADDRESS, \
      "atomic operation of 8 bytes") \
    X(constants_cannot_be_written, "mov.u64 %rd4, table;\nst.global.u32 [%rd4], %r1;\n", \
      ILLEGAL_ADDRESS, "is constant memory") \
    X(what_is_no_constant, "ld.const.u32 %r2, [%rd1];\n", ILLEGAL_ADDRESS, \
      "is not constant memory") \
    X(shared_is_as_large_as_it_is, "mov.u32 %r3, 124;\nld.shared.u32 %r2, [%r3+4];\n", \
      ILLEGAL_ADDRESS, "shared address 0x80 is outside the 128 bytes") \
    X(shared_below_zero, "mov.u32 %r3, 0;\nst.shared.u32 [%r3+-4], %r1;\n", ILLEGAL_ADDRESS, \
      "outside the 128 bytes") \
    X(generic_past_shared, \
      "mov.u64 %rd4, 128;\ncvta.shared.u64 %rd4, %rd4;\nst.u8 [%rd4], %r1;\n", ILLEGAL_ADDRESS, \
      "shared address 0x80") \
    X(local_is_bounded, "mov.u64 %rd4, 0x10000000;\nld.local.u32 %r2, [%rd4];\n", ILLEGAL_ADDRESS, \
      "local memory that the thread has") \
    X(parameters_cannot_be_written, \
      "mov.b64 %rd4, n;\ncvta.param.u64 %rd4, %rd4;\n" \
      "st.u32 [%rd4], %r1;\n", \
      ILLEGAL_ADDRESS, "parameters cannot be written") \
    X(parameters_end, "mov.b64 %rd4, n;\nld.param.u32 %r2, [%rd4+4];\n", ILLEGAL_ADDRESS, \
      "the kernel's parameters")

static void check(const char *ptx, enum sim_status status, const char *words)
{
    struct sim_try *trial = sim_try_new(ptx);

    cr_expect_eq(sim_try_run(trial, "k"), status, "%s", trial->error.text);
    cr_expect_not_null(strstr(trial->error.text, words), "\"%s\" in: %s", words, trial->error.text);
    sim_try_end(trial);
}

#define TEST_CHECK(name, text, status, words) \
    Test(sim_checks, name) \
    { \
        check(SIM_HEAD ".const .align 4 .b8 table[64];\n" SIM_KERNEL( \
                  "k", ".shared .align 8 .b8 tile[128];\nmov.u32 %r31, tile;\n" text "ret;\n"), \
              SIM_##status, words); \
    }
CHECKS(TEST_CHECK)

Test(sim_checks, lanes_that_are_off_are_not_checked)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "setp.eq.u32 %p1, %r1, 3;\nselp.b64 %rd4, %rd3, 1, %p1;\n"
                                 "@%p1 st.global.u32 [%rd4], %r1;\nret;\n"));

    sim_try_ok(trial, "k");
    cr_expect_eq(trial->out[3], 3);
    sim_try_end(trial);
}

static uint64_t sectors_of(uint64_t base, uint64_t bytes)
{
    return (base + bytes - 1) / 32 - base / 32 + 1;
}

/* Two allocations of 64 bytes that touch each other, and one of another device. */
Test(sim_checks, neighbouring_allocations_are_distinguished)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "st.global.u32 [%rd3], %r1;\nret;\n"));
    const uint64_t base = (uint64_t)(uintptr_t)trial->out;

    trial->regions[0] = (struct sim_region){.base = base, .bytes = 64, .id = 1};
    trial->regions[1] = (struct sim_region){.base = base + 64, .bytes = 64, .id = 2};
    trial->map.count = 2;
    sim_try_ok(trial, "k");
    cr_assert_eq(trial->counts.footprint_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(trial->counts.footprints[i].write_sectors, sectors_of(base + 64 * i, 64));
    }
    trial->regions[1].flags = SIM_REGION_INVALID;
    cr_expect_eq(sim_try_run(trial, "k"), SIM_ILLEGAL_ADDRESS);
    cr_expect_not_null(strstr(trial->error.text, "peer access"), "%s", trial->error.text);
    sim_try_end(trial);
}
