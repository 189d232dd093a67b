/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: variables and their initial values, layouts, kernel information, sites; workers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim_fixture.h"
#include "simgpu/exec/warp.h"

TestSuite(sim_module, .timeout = 60);

static struct sim_global *global_named(struct sim_try *trial, const char *name)
{
    struct sim_global *globals;
    const size_t count = sim_module_globals(trial->module, &globals);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(globals[i].name, name) == 0) {
            return &globals[i];
        }
    }
    cr_assert_fail("no variable %s", name);
    return NULL;
}

static uint64_t word_at(const struct sim_global *global, size_t index)
{
    uint64_t value;

    memcpy(&value, global->data + 8 * index, sizeof(value));
    return value;
}

Test(sim_module, variables_have_their_initial_values)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD ".global .align 4 .u32 numbers[4] = {1, 2, 0x10};\n"
                 ".const .align 8 .f64 half = 0d3FE0000000000000;\n"
                 ".global .align 8 .u64 pointers[4] = {numbers, numbers+8, generic(half), f};\n"
                 ".func f()\n{\nret;\n}\n" SIM_KERNEL("k", "ret;\n"));
    const struct sim_global *numbers = global_named(trial, "numbers");
    const struct sim_global *half = global_named(trial, "half");
    const struct sim_global *pointers = global_named(trial, "pointers");
    static const uint32_t wanted[4] = {1, 2, 16, 0};

    cr_assert_eq(numbers->bytes, 16);
    cr_assert_eq(memcmp(numbers->data, wanted, 16), 0);
    cr_assert(half->is_const);
    cr_assert_eq((uintptr_t)half->data % 256, 0);
    cr_assert_eq(word_at(half, 0), 0x3FE0000000000000);
    cr_assert_eq(word_at(pointers, 0), (uint64_t)(uintptr_t)numbers->data);
    cr_assert_eq(word_at(pointers, 1), (uint64_t)(uintptr_t)numbers->data + 8);
    cr_assert_eq(word_at(pointers, 2), (uint64_t)(uintptr_t)half->data);
    cr_assert_geq(word_at(pointers, 3), SIM_CODE_WINDOW);
    sim_try_end(trial);
}

Test(sim_module, variables_may_be_given_other_storage_before_the_first_launch)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD
        ".global .attribute(.managed) .align 4 .u32 cell = 5;\n"
        ".global .align 8 .u64 pointer = cell;\n" SIM_KERNEL(
            "k", "ld.global.u32 %r2, [cell];\nld.global.u64 %rd4, [pointer];\nld.u32 %r3, [%rd4];\n"
                 "add.u32 %r2, %r2, %r3;\n" SIM_STORE("%r2") "ret;\n"));
    struct sim_global *cell = global_named(trial, "cell");

    cr_assert(cell->is_managed);
    trial->out[1000] = 70;
    cell->data = (uint8_t *)&trial->out[1000];
    sim_try_ok(trial, "k");
    cr_assert_eq(trial->out[3], 140, "both the name and the pointer mean the new place");
    sim_try_end(trial);
}

Test(sim_module, kernel_information)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD
        ".const .align 4 .b8 table[100];\n"
        ".shared .align 16 .b8 used[64];\n.shared .align 16 .b8 unused[4096];\n"
        ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20])\n"
        ".maxntid 64, 2, 1\n{\n.local .align 8 .b8 depot[24];\n.shared .align 8 .b8 own[40];\n"
        ".reg .b32 %r<4>;\nmov.u32 %r1, used;\nmov.u32 %r2, own;\nmov.u32 %r3, depot;\nret;\n}\n"
        ".entry other()\n{\nret;\n}\n");
    const struct sim_kernel_info *info = sim_kernel_info(
        sim_module_find_kernel(trial->module, "k"));

    cr_assert_eq(sim_module_kernel_count(trial->module), 2);
    cr_assert_str_eq(info->name, "k");
    cr_assert_eq(info->static_shared_bytes, 104);
    cr_assert_geq(info->local_bytes, 24);
    cr_assert_eq(info->const_bytes, 100);
    cr_assert_eq(info->param_count, 3);
    cr_assert_eq(info->params[1].offset, 8);
    cr_assert_eq(info->params[2].offset, 16);
    cr_assert_eq(info->params[2].bytes, 20);
    cr_assert_eq(info->param_bytes, 36);
    cr_assert_eq(info->max_threads_per_block, 128);
    info = sim_kernel_info(sim_module_kernel(trial->module, 1));
    cr_assert_str_eq(info->name, "other");
    cr_assert_eq(info->static_shared_bytes, 0);
    cr_assert_eq(info->max_threads_per_block, 1024);
    cr_assert_null(sim_module_find_kernel(trial->module, "neither"));
    cr_assert_null(sim_module_kernel(trial->module, 2));
    sim_try_end(trial);
}

Test(sim_module, static_and_dynamic_shared_memory_lie_behind_each_other)
{
    struct sim_try *trial = sim_try_new(
        SIM_HEAD ".extern .shared .align 16 .b8 dynamic[];\n" SIM_KERNEL(
            "k", ".shared .align 4 .b8 fixed[20];\nmov.u32 %r2, dynamic;\nmov.u32 %r3, "
                 "%total_smem_size;\n"
                 "mad.lo.u32 %r2, %r3, 1000, %r2;\nmov.u32 %r4, fixed;\nst.shared.u32 [%r4], %r2;\n"
                 "st.shared.u32 [dynamic+12], %r2;\n" SIM_STORE("%r2") "ret;\n"));

    trial->launch.dynamic_shared_bytes = 16;
    sim_try_ok(trial, "k");
    cr_assert_eq(trial->out[0], 48 * 1000 + 32);
    trial->launch.dynamic_shared_bytes = 8;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_ILLEGAL_ADDRESS);
    sim_try_end(trial);
}

Test(sim_module, sites_say_what_each_instruction_is)
{
    struct sim_try *trial = sim_try_new(
        ".version 8.5\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n"
        ".loc 1 7 3\nld.param.u64 %rd1, [out];\n"
        "ld.global.nc.v4.f32 {%f0,%f1,%f2,%f3}, [%rd1];\n"
        ".loc 1 8 5\nbar.sync 0;\nred.shared.add.u32 [%rd1], 1;\nst.u8 [%rd1], 1;\nret;\n}\n");
    size_t count;
    const struct sim_inst_info *sites = sim_kernel_insts(sim_module_kernel(trial->module, 0),
                                                         &count);

    cr_assert_eq(count, 6);
    cr_assert_str_eq(sites[0].opcode, "ld.param.u64");
    cr_assert_eq(sites[0].kind, SIM_INST_OTHER, "parameters are not counted");
    cr_assert_str_eq(sites[1].opcode, "ld.global.nc.v4.f32");
    cr_assert_eq(sites[1].kind, SIM_INST_GLOBAL_LOAD);
    cr_assert_eq(sites[1].width, 16);
    cr_assert_str_eq(sites[1].file, "a.cu");
    cr_assert_eq(sites[1].line, 7);
    cr_assert_eq(sites[1].ptx_line, 11);
    cr_assert_str_eq(sites[1].function, "k");
    cr_assert_eq(sites[2].kind, SIM_INST_BARRIER);
    cr_assert_eq(sites[2].line, 8);
    cr_assert_eq(sites[3].kind, SIM_INST_SHARED_ATOMIC);
    cr_assert_eq(sites[4].kind, SIM_INST_GENERIC);
    cr_assert_eq(sites[4].width, 1);
    sim_try_end(trial);
}

Test(sim_module, sites_name_the_line_outside_libraries_and_its_caller)
{
    struct sim_try *trial = sim_try_new(
        ".version 8.5\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<4>;\n"
        ".loc 1 7 3\n.loc 3 107 5, inlined_at 1 7 3\n"
        "ld.param.u64 %rd1, [out];\n"
        ".loc 2 2 1, inlined_at 1 31 3\nret;\n}\n"
        ".file 1 \"a.cu\"\n.file 2 \"inl.h\"\n.file 3 \"/usr/include/atomics.h\"\n");
    size_t count;
    const struct sim_inst_info *sites = sim_kernel_insts(sim_module_kernel(trial->module, 0),
                                                         &count);

    cr_assert_eq(count, 2);
    cr_expect_str_eq(sites[0].file, "a.cu");
    cr_expect_eq(sites[0].line, 7);
    cr_expect_eq(sites[0].column, 3);
    cr_expect_null(sites[0].caller_file);
    cr_expect_eq(sites[0].caller_line, 0);
    cr_expect_str_eq(sites[1].file, "inl.h");
    cr_expect_eq(sites[1].line, 2);
    cr_expect_str_eq(sites[1].caller_file, "a.cu");
    cr_expect_eq(sites[1].caller_line, 31);
    cr_assert_eq(sites[0].level_count, 2);
    cr_expect_eq(sites[0].levels[0].level, -1);
    cr_expect_str_eq(sites[0].levels[0].file, "/usr/include/atomics.h");
    cr_expect_eq(sites[0].levels[1].level, 0);
    cr_assert_eq(sites[1].level_count, 2);
    cr_expect_eq(sites[1].levels[0].line, 2);
    cr_expect_eq(sites[1].levels[1].line, 31);
    cr_expect_eq(sites[1].levels[1].level, 1);
    sim_try_end(trial);
}

static void expect_refusal(const char *ptx, const char *text)
{
    struct ptx_error ptx_error;
    struct sim_error error;
    struct ptx_module *module = ptx_parse(ptx, strlen(ptx), &ptx_error);

    cr_assert_not_null(module, "%s", ptx_error.text);
    cr_assert_null(sim_module_new(module, &error));
    cr_assert(strstr(error.text, text), "%s", error.text);
}

Test(sim_module, what_can_never_run_is_refused)
{
    expect_refusal(".version 6.0\n.target sm_30\n.address_size 32\n.entry k()\n{\nret;\n}\n",
                   "32-bit addresses");
    expect_refusal(SIM_HEAD ".extern .global .u32 elsewhere;\n",
                   "unresolved external variable elsewhere");
    expect_refusal(SIM_HEAD ".entry k(.param .align 4 .b8 big[100000])\n{\nret;\n}\n",
                   "kernel k: its variables or parameters are too large");
}

Test(sim_module, launches_that_do_not_fit_are_refused)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL("k", "ret;\n"));

    trial->launch.block[0] = 1025;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_OUT_OF_RESOURCES);
    trial->launch.block[0] = 0;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_OUT_OF_RESOURCES);
    trial->launch.block[0] = 1024;
    sim_try_ok(trial, "k");
    trial->launch.grid[1] = 65536;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_OUT_OF_RESOURCES);
    trial->launch.grid[1] = 1;
    trial->launch.dynamic_shared_bytes = 227 << 10;
    sim_try_ok(trial, "k");
    trial->launch.dynamic_shared_bytes++;
    cr_assert_eq(sim_try_run(trial, "k"), SIM_OUT_OF_RESOURCES);
    sim_try_end(trial);
}

Test(sim_module, workers_do_not_change_results_or_counts)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 48, %r1;\nmov.u32 %r5, 0;\n"
             "and.b32 %r4, %r3, 7;\n"
             "LOOP: setp.ge.u32 %p1, %r5, %r4;\n@%p1 bra END;\nadd.u32 %r5, %r5, 1;\nbra LOOP;\n"
             "END: mul.wide.u32 %rd4, %r3, 4;\nadd.u64 %rd4, %rd4, %rd1;\n"
             "st.global.u32 [%rd4], %r5;\nred.global.add.u32 [%rd1+16000], %r5;\nret;\n"));
    struct sim_inst_counts *before = NULL;
    size_t bytes = 0;

    trial->launch.grid[0] = 80;
    trial->launch.block[0] = 48;
    for (unsigned workers = 1; workers <= 5; workers += 2) {
        trial->launch.workers = workers;
        memset(trial->out, 0, sizeof(trial->out));
        sim_try_ok(trial, "k");
        for (uint32_t i = 0; i < 80 * 48; i++) {
            cr_assert_eq(trial->out[i], i & 7);
        }
        cr_assert_eq(trial->out[4000], 80 * 48 / 8 * 28);
        bytes = trial->counts.site_count * sizeof(*before);
        if (before == NULL) {
            before = malloc(bytes);
            cr_assert_not_null(before);
            memcpy(before, trial->counts.sites, bytes);
        }
        cr_assert_eq(memcmp(before, trial->counts.sites, bytes), 0, "%u workers", workers);
        cr_assert_eq(trial->counts.warps, 160);
        cr_assert_eq(trial->counts.threads, 80 * 48);
    }
    free(before);
    sim_try_end(trial);
}

Test(sim_module, the_fault_of_the_first_block_is_reported)
{
    struct sim_try *trial = sim_try_new(SIM_HEAD SIM_KERNEL(
        "k", "mov.u32 %r2, %ctaid.x;\nsetp.ge.u32 %p1, %r2, 20;\n@%p1 trap;\nret;\n"));

    trial->launch.grid[0] = 100;
    for (unsigned workers = 1; workers <= 4; workers++) {
        trial->launch.workers = workers;
        cr_assert_eq(sim_try_run(trial, "k"), SIM_TRAP);
        cr_assert(strstr(trial->error.text, "block (20,0,0) thread (0,0,0)"), "%s",
                  trial->error.text);
    }
    sim_try_end(trial);
}
