/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a warp diverge and reconverge: branches, loops, calls, locks. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_paths, .timeout = 60);

#define EXPECT(trial, value) \
    for (uint32_t i = 0; i < 32; i++) { \
        cr_assert_eq((trial)->out[i], (uint32_t)(value), "thread %u: %u", i, (trial)->out[i]); \
    }

Test(sim_paths, nested_branches_meet_at_their_ends)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL("k",
                                                            "setp.lt.u32 %p1, %r1, 16;\n"
                                                            "@%p1 bra LOW;\n"
                                                            "setp.lt.u32 %p2, %r1, 24;\n"
                                                            "@%p2 bra MIDDLE;\n"
                                                            "mov.u32 %r2, 3;\n"
                                                            "bra HIGH_END;\n"
                                                            "MIDDLE: mov.u32 %r2, 2;\n"
                                                            "HIGH_END: add.u32 %r2, %r2, 100;\n"
                                                            "bra END;\n"
                                                            "LOW: mov.u32 %r2, 1;\n"
                                                            "END:\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, i < 16 ? 1 : i < 24 ? 102 : 103);
    cr_assert_eq(sim_try_inst(trial, "add.u32", 0)->executed, 1, "the inner paths met before it");
    cr_assert_eq(sim_try_inst(trial, "add.u32", 0)->lanes, 16);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1, "all met at the end");
    cr_assert_eq(sim_try_inst(trial, "bra", 0)->addresses, 1, "the outer branch split the warp");
    sim_try_end(trial);
}

Test(sim_paths, loops_run_as_often_as_the_longest_lane_needs)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL("k",
                                                            "mov.u32 %r2, 0;\n"
                                                            "mov.u32 %r3, 0;\n"
                                                            "LOOP: setp.ge.u32 %p1, %r3, %r1;\n"
                                                            "@%p1 bra END;\n"
                                                            "add.u32 %r2, %r2, 10;\n"
                                                            "add.u32 %r3, %r3, 1;\n"
                                                            "bra LOOP;\n"
                                                            "END:\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, 10 * i);
    cr_assert_eq(sim_try_inst(trial, "setp", 0)->executed, 32);
    cr_assert_eq(sim_try_inst(trial, "setp", 0)->lanes, 32 * 33 / 2);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1);
    sim_try_end(trial);
}

Test(sim_paths, threads_that_leave_early_are_not_waited_for)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "mov.u32 %r2, 5;\n"
             "setp.lt.u32 %p1, %r1, 8;\n"
             "@!%p1 bra END;\n"
             "setp.eq.u32 %p2, %r1, 3;\n" SIM_STORE("%r1") "@%p2 exit;\n"
                                                           "setp.eq.u32 %p3, %r1, 4;\n"
                                                           "@%p3 ret;\n"
                                                           "add.u32 %r2, %r2, 1;\n"
                                                           "END:\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, i == 3 || i == 4 ? i : i < 8 ? 6 : 5);
    cr_assert_eq(sim_try_inst(trial, "st.global", 1)->executed, 1);
    cr_assert_eq(sim_try_inst(trial, "st.global", 1)->lanes, 30);
    sim_try_end(trial);
}

static const char fib[] = SIM_HEAD
    ".func (.param .b32 result) fib(.param .b32 number)\n{\n"
    ".reg .pred %p1;\n.reg .b32 %r<9>;\n"
    "ld.param.u32 %r8, [number];\n"
    "setp.lt.s32 %p1, %r8, 2;\n"
    "@%p1 bra END;\n"
    "add.s32 %r4, %r8, -1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4;\n"
    "call.uni (b), fib, (a);\nld.param.b32 %r5, [b]; }\n"
    "add.s32 %r6, %r8, -2;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r6;\n"
    "call.uni (b), fib, (a);\nld.param.b32 %r7, [b]; }\n"
    "add.s32 %r8, %r7, %r5;\n"
    "END: st.param.b32 [result], %r8;\nret;\n}\n" SIM_KERNEL(
        "k", "and.b32 %r2, %r1, 15;\n"
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"
             "call.uni (b), fib, (a);\nld.param.b32 %r7, [b]; }\n" SIM_STORE("%r7") "ret;\n");

Test(sim_paths, recursion_as_deep_as_each_lane_needs)
{
    static const uint32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
    struct sim_try *trial = sim_try_new(fib);

    sim_try_ok(trial, "k");
    EXPECT(trial, numbers[i & 15]);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1);
    sim_try_end(trial);
}

Test(sim_paths, endless_recursion_overflows_the_stack)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD
        ".func down()\n{\n.local .align 4 .b8 mine[64];\n.reg .b32 %r1;\n"
        "mov.u32 %r1, mine;\nst.local.u32 [%r1], %r1;\ncall.uni down;\nret;\n}\n" SIM_KERNEL(
            "k", "call.uni down;\nret;\n"));

    cr_assert_eq(sim_try_run(trial, "k"), SIM_STACK_OVERFLOW);
    cr_assert(strstr(trial->error.text, "stack overflow: kernel `k`"), "%s", trial->error.text);
    sim_try_end(trial);
}

Test(sim_paths, lanes_call_different_functions_through_pointers)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD
        ".func (.param .b32 r) inc(.param .b32 x)\n{\n.reg .b32 %r1;\n"
        "ld.param.u32 %r1, [x];\nadd.u32 %r1, %r1, 1;\nst.param.b32 [r], %r1;\nret;\n}\n"
        ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r1;\n"
        "ld.param.u32 %r1, [x];\nshl.b32 %r1, %r1, 1;\nst.param.b32 [r], %r1;\nret;\n}\n"
        ".global .align 8 .u64 table[2] = {inc, twice};\n" SIM_KERNEL(
            "k",
            "and.b32 %r2, %r1, 1;\nmul.wide.u32 %rd4, %r2, 8;\nmov.u64 %rd5, table;\n"
            "add.u64 %rd5, %rd5, %rd4;\nld.global.u64 %rd6, [%rd5];\n"
            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
            "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
            "call (b), %rd6, (a), proto;\nld.param.b32 %r7, [b]; }\n" SIM_STORE("%r7") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, (i & 1) != 0 ? 2 * i : i + 1);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1, "they met behind the call");
    sim_try_end(trial);
}

Test(sim_paths, a_call_through_a_wild_pointer_is_reported)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "mov.u64 %rd4, 4660;\nproto: .callprototype _ ();\ncall %rd4, (), proto;\nret;\n"));

    cr_assert_eq(sim_try_run(trial, "k"), SIM_ILLEGAL_ADDRESS);
    cr_assert(strstr(trial->error.text, "0x1234 is not the address of a function"), "%s",
              trial->error.text);
    sim_try_end(trial);
}

Test(sim_paths, guarded_calls_take_only_some_lanes)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD ".func (.param .b32 r) seven()\n{\nst.param.b32 [r], 7;\nret;\n}\n" SIM_KERNEL(
            "k", "setp.gt.u32 %p1, %r1, 20;\n.param .b32 b;\nst.param.b32 [b], 1;\n"
                 "@%p1 call (b), seven;\nld.param.b32 %r2, [b];\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, i > 20 ? 7 : 1);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1);
    sim_try_end(trial);
}

Test(sim_paths, branches_by_index_part_into_as_many_paths)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "and.b32 %r2, %r1, 3;\nmov.u32 %r3, 0;\n"
                                 "table: .branchtargets A, B, C, END;\n"
                                 "brx.idx %r2, table;\n"
                                 "A: mov.u32 %r3, 10;\nbra END;\n"
                                 "B: mov.u32 %r3, 20;\nbra END;\n"
                                 "C: mov.u32 %r3, 30;\n"
                                 "END:\n" SIM_STORE("%r3") "ret;\n"));
    static const uint32_t values[] = {10, 20, 30, 0};

    sim_try_ok(trial, "k");
    EXPECT(trial, values[i & 3]);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1);
    sim_try_end(trial);
}

/* Each thread takes the lock in a loop that others of its warp leave only by taking it. */
static const char lock[] = SIM_HEAD SIM_KERNEL(
    "k", "TRY: atom.global.cas.b32 %r2, [%rd1], 0, 1;\n"
         "setp.ne.u32 %p1, %r2, 0;\n"
         "@%p1 bra TRY;\n"
         "ld.volatile.global.u32 %r3, [%rd1+4];\nadd.u32 %r3, %r3, 1;\n"
         "st.volatile.global.u32 [%rd1+4], %r3;\nmembar.gl;\n"
         "atom.global.exch.b32 %r4, [%rd1], 0;\nret;\n");

Test(sim_paths, a_lock_is_handed_round_the_lanes_of_a_warp)
{
    struct sim_try *trial = sim_try_new(lock);

    trial->launch.block[0] = 128;
    trial->launch.grid[0] = 8;
    trial->launch.workers = 2;
    sim_try_ok(trial, "k");
    cr_assert_eq(trial->out[1], 1024);
    sim_try_end(trial);
}

Test(sim_paths, long_loops_of_few_lanes_keep_the_others_waiting)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "mul.lo.u32 %r4, %r1, 5000;\nmov.u32 %r3, 0;\n"
             "LOOP: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r4;\n@%p1 bra LOOP;\n" SIM_STORE(
                 "%r3") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, i == 0 ? 1 : 5000 * i);
    cr_assert_eq(sim_try_inst(trial, "st.global", 0)->executed, 1, "nobody was let go early");
    sim_try_end(trial);
}

/* All blocks of the grid wait for each other: each adds one and spins until all have. */
Test(sim_paths, blocks_may_wait_for_blocks_that_begin_after_them)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k",
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n"
        "atom.global.add.u32 %r2, [%rd1], 1;\nmov.u32 %r4, %nctaid.x;\n"
        "SPIN: ld.volatile.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p2, %r3, %r4;\n@%p2 bra SPIN;\n"
        "WAIT: bar.sync 0;\nld.volatile.global.u32 %r3, [%rd1];\n"
        "mov.u32 %r5, %ctaid.x;\nmad.lo.u32 %r5, %r5, 64, %r1;\nmul.wide.u32 %rd4, %r5, 4;\n"
        "add.u64 %rd4, %rd4, %rd1;\nst.global.u32 [%rd4+4], %r3;\nret;\n"));

    trial->launch.block[0] = 64;
    trial->launch.grid[0] = 40;
    for (unsigned workers = 1; workers <= 3; workers++) {
        trial->launch.workers = workers;
        memset(trial->out, 0, sizeof(trial->out));
        sim_try_ok(trial, "k");
        for (uint32_t i = 0; i < 40 * 64; i++) {
            cr_assert_eq(trial->out[i + 1], 40, "%u: %u", i, trial->out[i + 1]);
        }
    }
    sim_try_end(trial);
}
