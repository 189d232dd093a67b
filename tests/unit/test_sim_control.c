/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers, waiting inside a warp, deadlocks, traps, and what is not supported. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_control, .timeout = 60);

#define EXPECT(trial, count, value) \
    for (uint32_t i = 0; i < (count); i++) { \
        cr_assert_eq((trial)->out[i], (uint32_t)(value), "thread %u: %u", i, (trial)->out[i]); \
    }

static void expect_fault(const char *ptx, enum sim_status status, const char *text)
{
    struct sim_try *trial = sim_try_new(ptx);

    trial->launch.block[0] = 64;
    cr_assert_eq(sim_try_run(trial, "k"), status, "%s", trial->error.text);
    cr_assert(strstr(trial->error.text, text), "%s", trial->error.text);
    cr_assert_null(strchr(trial->error.text, '\n'));
    sim_try_end(trial);
}

#define SHARED "mov.u32 %r8, tile;\nshl.b32 %r9, %r1, 2;\nadd.u32 %r8, %r8, %r9;\n"
#define REVERSED /* %r10 = tile[255 - tid] */ \
    "mov.u32 %r11, tile;\nsub.u32 %r9, 1020, %r9;\nadd.u32 %r11, %r11, %r9;\n" \
    "ld.shared.u32 %r10, [%r11];\n"

Test(sim_control, a_barrier_waits_for_all_warps)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", ".shared .align 4 .b8 tile[1024];\n" SHARED
             "st.shared.u32 [%r8], %r1;\nbar.sync 0;\n" REVERSED SIM_STORE("%r10") "ret;\n"));

    trial->launch.block[0] = 256;
    sim_try_ok(trial, "k");
    EXPECT(trial, 256, 255 - i);
    cr_assert_eq(sim_try_inst(trial, "bar", 0)->executed, 8);
    cr_assert_eq(sim_try_inst(trial, "bar", 0)->addresses, 0, "no lane was idle");
    sim_try_end(trial);
}

Test(sim_control, threads_that_have_exited_count_as_come)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "setp.ge.u32 %p1, %r1, 40;\n@%p1 exit;\nbar.sync 0;\nmov.u32 %r2, 1;\n" SIM_STORE(
                 "%r2") "ret;\n"));

    trial->launch.block[0] = 128;
    sim_try_ok(trial, "k");
    EXPECT(trial, 128, i < 40);
    cr_assert_eq(sim_try_inst(trial, "bar", 0)->addresses, 128 - 40, "lanes that were not there");
    sim_try_end(trial);
}

Test(sim_control, the_last_threads_may_exit_while_others_wait)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "setp.lt.u32 %p1, %r1, 40;\n@%p1 bra WAIT;\nexit;\n"
                                 "WAIT: bar.sync 0;\nmov.u32 %r2, 1;\n" SIM_STORE("%r2") "ret;\n"));

    trial->launch.block[0] = 128;
    sim_try_ok(trial, "k");
    EXPECT(trial, 128, i < 40);
    sim_try_end(trial);
}

Test(sim_control, diverged_lanes_come_to_a_barrier_one_by_one)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\n"
                                 "barrier.sync 1;\nmov.u32 %r3, 11;\nbra END;\n"
                                 "EVEN: barrier.sync 1;\nmov.u32 %r3, 22;\n"
                                 "END:\n" SIM_STORE("%r3") "ret;\n"));

    trial->launch.block[0] = 64;
    sim_try_ok(trial, "k");
    EXPECT(trial, 64, (i & 1) != 0 ? 11 : 22);
    sim_try_end(trial);
}

Test(sim_control, barriers_vote)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD SIM_KERNEL("k", "setp.lt.u32 %p1, %r1, 37;\n"
                                 "bar.red.popc.u32 %r2, 0, %p1;\n"
                                 "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, %p1;\n"
                                 "bar.red.popc.u32 %r3, 1, 96, !%p1;\n"
                                 "@%p2 add.u32 %r2, %r2, 1000;\n@%p3 add.u32 %r2, %r2, 2000;\n"
                                 "mad.lo.u32 %r2, %r3, 10000, %r2;\n" SIM_STORE("%r2") "ret;\n"));

    trial->launch.block[0] = 96;
    sim_try_ok(trial, "k");
    EXPECT(trial, 96, 37 + 2000 + 10000 * (96 - 37));
    sim_try_end(trial);
}

/* Warp 1 hands numbers to warp 0 through one word, with two named barriers. */
static const char producer[] = SIM_HEAD SIM_KERNEL(
    "k", ".shared .align 4 .b8 cell[128];\n"
         "mov.u32 %r2, 0;\nmov.u32 %r5, 0;\nand.b32 %r6, %r1, 31;\nshl.b32 %r6, %r6, 2;\n"
         "mov.u32 %r7, cell;\nadd.u32 %r7, %r7, %r6;\n"
         "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra PRODUCE;\n"
         "CONSUME: bar.sync 1, 64;\nld.shared.u32 %r4, [%r7];\nadd.u32 %r5, %r5, %r4;\n"
         "bar.arrive 2, 64;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 10;\n@%p2 bra CONSUME;\n"
         "bra END;\n"
         "PRODUCE: mad.lo.u32 %r4, %r2, 100, %r1;\nst.shared.u32 [%r7], %r4;\n"
         "bar.arrive 1, 64;\nbar.sync 2, 64;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 10;\n"
         "@%p2 bra PRODUCE;\n"
         "END:\n" SIM_STORE("%r5") "ret;\n");

Test(sim_control, named_barriers_join_a_producer_and_a_consumer)
{
    struct sim_try *trial = sim_try_new(producer);

    trial->launch.block[0] = 64;
    sim_try_ok(trial, "k");
    EXPECT(trial, 64, i < 32 ? 100 * 45 + 10 * (i + 32) : 0);
    sim_try_end(trial);
}

Test(sim_control, a_warp_may_spin_on_a_flag_of_another)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", ".shared .align 4 .b8 flag[4];\nmov.u32 %r9, flag;\n"
             "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra SET;\n"
             "SPIN: ld.volatile.shared.u32 %r2, [%r9];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra SPIN;\n"
             "bra END;\n"
             "SET: mov.u32 %r2, 9;\nst.volatile.shared.u32 [%r9], %r2;\n"
             "END:\n" SIM_STORE("%r2") "ret;\n"));

    trial->launch.block[0] = 64;
    sim_try_ok(trial, "k");
    EXPECT(trial, 64, 9);
    sim_try_end(trial);
}

Test(sim_control, lanes_of_a_warp_wait_for_each_other_at_different_places)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", ".shared .align 4 .b8 tile[1024];\n" SHARED
             "st.shared.u32 [%r8], 0;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra LOW;\n"
             "st.shared.u32 [%r8], %r1;\nbar.warp.sync 0xffffffff;\nbra END;\n"
             "LOW: bar.warp.sync 0xffffffff;\nld.shared.u32 %r2, [%r8+64];\n"
             "END:\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, 32, i < 16 ? i + 16 : 0);
    sim_try_end(trial);
}

Test(sim_control, special_registers)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k",
        "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r2, %r2, %r3, %r1;\n"
        "mov.u32 %r4, %laneid;\nmov.u32 %r5, %lanemask_lt;\nadd.u32 %r4, %r4, %r5;\n"
        "mov.u32 %r6, %ctaid.y;\nmad.lo.u32 %r4, %r6, 10, %r4;\n"
        "mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd4, %rd4, %rd1;\n"
        "setp.eq.u32 %p1, %r6, 2;\n@%p1 st.global.u32 [%rd4], %r4;\n"
        "mov.u64 %rd5, %clock64;\nLATER: mov.u64 %rd6, %clock64;\nsetp.eq.u64 %p2, %rd5, %rd6;\n"
        "@%p2 bra LATER;\nret;\n"));

    trial->launch.block[0] = 8;
    trial->launch.block[1] = 8;
    trial->launch.grid[1] = 3;
    sim_try_ok(trial, "k");
    EXPECT(trial, 64, (i % 32) + (1u << (i % 32)) - 1 + 20);
    sim_try_end(trial);
}

Test(sim_control, a_barrier_that_cannot_fill_is_a_deadlock)
{
    expect_fault(SIM_HEAD SIM_KERNEL("k",
                                     "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra END;\nbar.sync 3, 64;\n"
                                     "END: bar.sync 0;\nret;\n"),
                 SIM_DEADLOCK, "barrier 0 has 32 of 64 threads, barrier 3 has 32 of 64 threads");
}

Test(sim_control, traps_show_where)
{
    expect_fault(".version 8.5\n.target sm_90\n.address_size 64\n.file 1 \"dir/some.cu\"\n"
                 ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n.reg .pred %p;\n"
                 ".reg .b32 %r;\n"
                 "mov.u32 %r, %tid.x;\nsetp.eq.u32 %p, %r, 35;\n"
                 ".loc 1 42 7\n@%p trap;\nret;\n}\n",
                 SIM_TRAP,
                 "trap: kernel `k`, block (0,0,0) thread (35,0,0): @%p trap; at PTX line 12, "
                 "dir/some.cu:42: trap");
    expect_fault(".version 8.5\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k()\n{\n.loc 2 2 1, inlined_at 1 31 5\n"
                 "trap;\nret;\n}\n.file 1 \"dir/a.cu\"\n.file 2 \"dir/inl.h\"\n",
                 SIM_TRAP, "PTX line 7, dir/inl.h:2, inlined at dir/a.cu:31: trap");
    expect_fault(SIM_HEAD SIM_KERNEL("k", "brkpt;\nret;\n"), SIM_BREAKPOINT, "breakpoint");
}

Test(sim_control, unsupported_instructions_are_named)
{
    expect_fault(
        SIM_HEAD SIM_KERNEL("k", "tex.2d.v4.f32.f32 {%r2,%r3,%r4,%r5}, [%rd4, {%r6,%r7}];\nret;\n"),
        SIM_ILLEGAL_INSTRUCTION,
        "tex.2d.v4.f32.f32 (textures): not supported by the software device");
    expect_fault(
        SIM_HEAD SIM_KERNEL(
            "k", ".loc 3 9 5, inlined_at 1 26 5\n"
                 "setmaxnreg.inc.sync.aligned.u32 240;\nret;\n") ".file 1 \"a.cu\"\n.file 3 "
                                                                 "\"/usr/include/crt/mma.hpp\"\n",
        SIM_ILLEGAL_INSTRUCTION, ", a.cu:26: setmaxnreg");
    expect_fault(SIM_HEAD ".extern .func missing();\n" SIM_KERNEL("k", "call.uni missing;\nret;\n"),
                 SIM_ILLEGAL_INSTRUCTION,
                 "call of missing, which has no body in this module: not supported");
}

Test(sim_control, unsupported_instructions_that_nobody_reaches_do_no_harm)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "setp.gt.u32 %p1, %r1, 99;\n@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;\n"
             "mov.u32 %r2, 4;\n" SIM_STORE("%r2") "ret;\n"));

    sim_try_ok(trial, "k");
    EXPECT(trial, 32, 4);
    sim_try_end(trial);
}

Test(sim_control, an_endless_loop_ends_at_the_instruction_limit)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL("k", "FOREVER: bra FOREVER;\nret;\n"));

    trial->launch.instruction_limit = 1000000;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_DEADLOCK);
    cr_assert(strstr(trial->error.text, "instruction limit of 1000000"), "%s", trial->error.text);
    sim_try_end(trial);
}

/* Blocks that do nothing are not executed one by one; their counts are those of all. */
Test(sim_control, a_grid_of_blocks_that_return_at_once)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD ".visible .entry k()\n{\nret;\n}\n");

    trial->launch.grid[0] = INT32_MAX;
    trial->launch.block[0] = 48;
    sim_try_ok(trial, "k");
    const struct sim_inst_counts *site = sim_try_inst(trial, "ret", 0);
    cr_expect_eq(site->executed, 2 * (uint64_t)INT32_MAX);
    cr_expect_eq(site->lanes, 48 * (uint64_t)INT32_MAX);
    cr_expect_eq(trial->counts.blocks, INT32_MAX);
    cr_expect_eq(trial->counts.warps, 2 * (uint64_t)INT32_MAX);
    cr_expect_eq(trial->counts.threads, 48 * (uint64_t)INT32_MAX);
    sim_try_end(trial);
}
