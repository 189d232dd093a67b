/* SPDX-License-Identifier: Apache-2.0 */
/* State spaces, and generic addresses that point into them. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_spaces, .timeout = 20);

#define LANES 32

static struct sim_try *run_kernel(const char *ptx)
{
    struct sim_try *trial = sim_try_new(ptx);

    for (unsigned i = 0; i < SIM_TRY_WORDS; i++) {
        trial->out[i] = 1000 + i;
    }
    trial->n = 77;
    trial->launch.dynamic_shared_bytes = 256;
    sim_try_ok(trial, "k");
    return trial;
}

#define RUN(declarations, text) run_kernel(SIM_HEAD declarations SIM_KERNEL("k", text "ret;\n"))
#define EXPECT(trial, want) \
    for (unsigned i = 0; i < LANES; i++) \
    cr_expect_eq((trial)->out[i], (uint32_t)(want), "lane %u: %u", i, (trial)->out[i])
#define TEST_KERNEL(name, declarations, text, want) \
    Test(sim_spaces, name) \
    { \
        struct sim_try *trial = RUN(declarations, text SIM_STORE("%r2")); \
        EXPECT(trial, want); \
        sim_try_end(trial); \
    }

#define TILE \
    ".shared .align 8 .b8 tile[128];\nmov.u32 %r8, tile;\n" \
    "shl.b32 %r9, %r1, 2;\nadd.u32 %r9, %r8, %r9;\n"
#define REVERSED "xor.b32 %r10, %r1, 31;\nshl.b32 %r10, %r10, 2;\nadd.u32 %r10, %r8, %r10;\n"

TEST_KERNEL(shared, "", TILE REVERSED "st.shared.u32 [%r9], %r1;\nld.shared.u32 %r2, [%r10];\n",
            31 - i)
TEST_KERNEL(shared_by_name, "", TILE "st.shared.u32 [%r9], %r1;\nld.shared.u32 %r2, [tile+20];\n",
            5)
TEST_KERNEL(dynamic_shared_lies_behind_static, ".extern .shared .align 16 .b8 more[];\n",
            TILE "mov.u32 %r3, more;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r3, %r4;\n"
                 "st.shared.u32 [%r9], %r1;\nst.shared.u32 [%r4], %r3;\n"
                 "ld.shared.u32 %r2, [%r4];\n",
            128)
TEST_KERNEL(generic_addresses_reach_shared_memory, "",
            TILE "cvt.u64.u32 %rd4, %r9;\ncvta.shared.u64 %rd5, %rd4;\nst.u32 [%rd5], %r1;\n"
                 "ld.shared.u32 %r2, [%r9];\ncvta.to.shared.u64 %rd6, %rd5;\n"
                 "ld.shared.u32 %r3, [%rd6];\nadd.u32 %r2, %r2, %r3;\n",
            2 * i)
TEST_KERNEL(lanes_of_one_access_touch_different_spaces, "",
            TILE "st.shared.u32 [%r9], %r1;\ncvt.u64.u32 %rd4, %r9;\ncvta.shared.u64 %rd4, %rd4;\n"
                 "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\nselp.b64 %rd5, %rd4, %rd3, %p1;\n"
                 "ld.u32 %r2, [%rd5];\n",
            i % 2 == 0 ? i : 1000 + i)
TEST_KERNEL(each_lane_has_its_own_local_memory, "",
            ".local .align 4 .b8 own[64];\nmov.u64 %rd4, own;\nst.local.u32 [%rd4+8], %r1;\n"
            "cvta.local.u64 %rd5, %rd4;\nld.u32 %r2, [%rd5+8];\nld.local.u32 %r3, [own+8];\n"
            "add.u32 %r2, %r2, %r3;\n",
            2 * i)
TEST_KERNEL(constants, ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
            "and.b32 %r3, %r1, 3;\nmul.wide.u32 %rd4, %r3, 4;\nmov.u64 %rd5, table;\n"
            "add.u64 %rd5, %rd5, %rd4;\nld.const.u32 %r2, [%rd5];\ncvta.const.u64 %rd6, %rd5;\n"
            "ld.u32 %r4, [%rd6];\nadd.u32 %r2, %r2, %r4;\n",
            22 * (i % 4 + 1))
TEST_KERNEL(variables_in_global_memory, ".global .align 4 .u32 count = 5;\n",
            "ld.global.u32 %r2, [count];\n", 5)
TEST_KERNEL(parameters_by_address, "",
            "mov.b64 %rd4, n;\nld.param.u32 %r2, [%rd4];\ncvta.param.u64 %rd5, %rd4;\n"
            "ld.u32 %r3, [%rd5];\nadd.u32 %r2, %r2, %r3;\n",
            2 * 77)
TEST_KERNEL(questions_about_spaces, ".const .align 4 .u32 table[4];\n",
            TILE
            "cvt.u64.u32 %rd4, %r9;\ncvta.shared.u64 %rd4, %rd4;\nmov.u64 %rd5, table;\n"
            "isspacep.shared %p1, %rd4;\nisspacep.global %p2, %rd4;\n"
            "isspacep.global %p3, %rd3;\nisspacep.const %p4, %rd5;\nisspacep.local %p5, %rd5;\n"
            "selp.u32 %r2, 1, 0, %p1;\n@%p2 add.u32 %r2, %r2, 10;\n"
            "@%p3 add.u32 %r2, %r2, 100;\n@%p4 add.u32 %r2, %r2, 1000;\n"
            "@%p5 add.u32 %r2, %r2, 10000;\n",
            1101)
TEST_KERNEL(hints_do_nothing, "",
            ".reg .b64 %policy;\n"
            "createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;\n"
            "prefetch.global.L2 [%rd3];\nprefetchu.L1 [%rd3];\n"
            "prefetch.global.L1 [0];\n"
            "ld.global.L2::cache_hint.u32 %r2, [%rd3], %policy;\n",
            1000 + i)

#define FUNCTION \
    ".func (.param .b32 result) twice(.param .b32 value, .param .align 8 .b8 pair[16])\n{\n" \
    ".reg .b32 %r<8>;\nld.param.u32 %r1, [value];\nld.param.v2.u32 {%r2, %r3}, [pair+8];\n" \
    "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nst.param.b32 [result+0], %r1;\nret;\n}\n"
TEST_KERNEL(parameters_of_functions, FUNCTION,
            "{\n.param .b32 first;\n.param .align 8 .b8 second[16];\n.param .b32 back;\n"
            "st.param.b32 [first+0], %r1;\nst.param.v2.b32 [second+8], {%r1, 500};\n"
            "call.uni (back), twice, (first, second);\nld.param.b32 %r2, [back+0];\n}\n",
            2 * i + 500)

/* Copies of 16 bytes of which a lane reads 16, 8 or none. */
TEST_KERNEL(asynchronous_copies_fill_with_zeros, "",
            ".shared .align 16 .b8 into[512];\nmov.u32 %r8, into;\nshl.b32 %r9, %r1, 4;\n"
            "add.u32 %r8, %r8, %r9;\nmul.wide.u32 %rd4, %r1, 16;\nadd.u64 %rd4, %rd1, %rd4;\n"
            "st.shared.v4.u32 [%r8], {9, 9, 9, 9};\nrem.u32 %r3, %r1, 3;\nshl.b32 %r3, %r3, 3;\n"
            "cp.async.ca.shared.global [%r8], [%rd4], 16, %r3;\ncp.async.commit_group;\n"
            "cp.async.wait_group 0;\nld.shared.u32 %r4, [%r8+4];\nld.shared.u32 %r5, [%r8+12];\n"
            "shl.b32 %r4, %r4, 16;\nor.b32 %r2, %r4, %r5;\n",
            (i % 3 > 0 ? (1000 + 4 * i + 1) << 16 : 0) | (i % 3 > 1 ? 1000 + 4 * i + 3 : 0))
TEST_KERNEL(asynchronous_copies_can_ignore_their_source, "",
            TILE "setp.lt.u32 %p1, %r1, 16;\nselp.b64 %rd4, 0, %rd3, %p1;\n"
                 "cp.async.ca.shared.global [%r9], [%rd4], 4, %p1;\ncp.async.wait_all;\n"
                 "ld.shared.u32 %r2, [%r9];\n",
            i < 16 ? 0 : 1000 + i)
