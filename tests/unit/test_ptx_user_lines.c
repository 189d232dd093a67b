/* SPDX-License-Identifier: Apache-2.0 */
/* The source line that a user is shown: not a library's, and with the call it was inlined at. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ptx_fixture.h"

#define FILES \
    ".file 1 \"/src/a.cu\"\n.file 2 \"/src/inl.h\"\n" \
    ".file 3 \"/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/mma.hpp\"\n" \
    ".file 4 \"/usr/include/c++/12/bits/stl_algo.h\"\n"

/* Where `body`'s last instruction before its ret is: "file:line" or "file:line<caller:line". */
static void expect(const char *body, const char *wanted)
{
    char text[2000], found[200];
    struct ptx_module *module;

    (void)snprintf(text, sizeof(text),
                   ".visible .entry k()\n{\n.reg .b32 %%r<4>;\n%s\nmov.u32 %%r1, 2;\nret;\n}\n%s",
                   body, FILES);
    module = gmt_ptx_module(text);
    const struct ptx_function *kernel = ptx_find_function(module, "k");
    struct ptx_place place = ptx_place_of(module,
                                          &kernel->instructions[kernel->instruction_count - 2]);
    int used = snprintf(found, sizeof(found), "%s:%u", place.file ? place.file : "-", place.line);
    if (place.caller_file != NULL) {
        (void)snprintf(found + used, sizeof(found) - (size_t)used, "<%s:%u", place.caller_file,
                       place.caller_line);
    }
    cr_expect_str_eq(found, wanted, "%s: %s", body, found);
    cr_expect((place.caller_file == NULL) == (place.caller_line == 0));
    ptx_free(module);
}

Test(ptx_user_lines, a_line_of_the_kernel_is_its_own)
{
    expect(".loc 1 18 5", "/src/a.cu:18");
    expect("", "-:0");
    expect(".loc 9 3 1", "-:3");
}

Test(ptx_user_lines, a_library_is_named_by_the_line_that_calls_it)
{
    expect(".loc 1 18 5\n.loc 3 107 3, inlined_at 1 18 5", "/src/a.cu:18");
    expect(".loc 3 91 5, inlined_at 1 18 5\n"
           ".loc 4 7 1, inlined_at 3 91 5",
           "/src/a.cu:18");
}

Test(ptx_user_lines, an_inlined_line_is_reported_with_the_outermost_call)
{
    expect(".loc 2 2 1, inlined_at 1 31 5", "/src/inl.h:2</src/a.cu:31");
    expect(".loc 2 5 5, inlined_at 1 31 5\n"
           ".loc 2 2 1, inlined_at 2 5 5",
           "/src/inl.h:2</src/a.cu:31");
    expect(".loc 2 5 5, inlined_at 1 31 5\n"
           ".loc 3 9 1, inlined_at 2 5 5",
           "/src/inl.h:5</src/a.cu:31");
}

/* One function, inlined twice: what follows belongs to the call that was named last. */
Test(ptx_user_lines, calls_of_one_function_are_distinguished)
{
    expect(".loc 2 5 5, inlined_at 1 31 5\n"
           ".loc 2 2 1, inlined_at 2 5 5\n"
           ".loc 2 5 5, inlined_at 1 32 5\n"
           ".loc 2 2 1, inlined_at 2 5 5",
           "/src/inl.h:2</src/a.cu:32");
}

/* A user's function called by a library that was inlined: its own line, and the outermost call. */
Test(ptx_user_lines, a_callback_is_the_users)
{
    expect(".loc 4 50 1, inlined_at 1 31 5\n"
           ".loc 2 2 1, inlined_at 4 50 1",
           "/src/inl.h:2</src/a.cu:31");
}

Test(ptx_user_lines, where_there_is_only_a_library_it_is_named)
{
    expect(".loc 3 91 5", "/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/mma.hpp:91");
    expect(".loc 3 91 5, inlined_at 4 50 1",
           "/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/mma.hpp:91"
           "</usr/include/c++/12/bits/stl_algo.h:50");
}

/* All lines that the last instruction of `body` before its ret stands for. */
static void expect_levels(const char *body, const char *wanted)
{
    char text[4000], found[4000] = "";
    size_t used = 0;
    struct ptx_level levels[PTX_MOST_LEVELS];

    (void)snprintf(text, sizeof(text),
                   ".visible .entry k()\n{\n.reg .b32 %%r<4>;\n%s\nmov.u32 %%r1, 2;\nret;\n}\n%s"
                   ".section .debug_str\n{\n$L__info_string0:\n.b8 103,101,116,0\n"
                   "$L__info_string1:\n.b8 112,117,116,0\n}\n",
                   body, FILES);
    struct ptx_module *module = gmt_ptx_module(text);
    const struct ptx_function *kernel = ptx_find_function(module, "k");
    size_t count = ptx_levels_of(module, &kernel->instructions[kernel->instruction_count - 2],
                                 levels);
    for (size_t i = 0; i < count && used < sizeof(found); i++) {
        const char *slash = levels[i].file != NULL ? strrchr(levels[i].file, '/') : NULL;
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%d %s %s:%u",
                                 i > 0 ? " < " : "", levels[i].level,
                                 levels[i].function != NULL ? levels[i].function : "-",
                                 slash != NULL ? slash + 1 : "-", levels[i].line);
    }
    cr_expect_str_eq(found, wanted, "%s: %s", body, found);
    ptx_free(module);
}

Test(ptx_user_lines, every_level_of_a_chain)
{
    expect_levels(".loc 1 18 5", "0 - a.cu:18");
    expect_levels("", "");
    expect_levels(".loc 2 5 5, function_name $L__info_string0, inlined_at 1 31 5\n"
                  ".loc 2 2 1, function_name $L__info_string1, inlined_at 2 5 5",
                  "0 put inl.h:2 < 1 get inl.h:5 < 2 - a.cu:31");
    expect_levels(".loc 2 5 5, function_name $L__info_string0, inlined_at 1 31 5\n"
                  ".loc 4 7 1, inlined_at 2 5 5\n.loc 3 9 1, inlined_at 4 7 1",
                  "-2 - mma.hpp:9 < -1 - stl_algo.h:7 < 0 get inl.h:5 < 1 - a.cu:31");
}

/* Deeper than any compiler goes: the outermost call is not lost. */
Test(ptx_user_lines, a_chain_without_end)
{
    struct ptx_level levels[PTX_MOST_LEVELS];
    char text[20000];
    size_t used = (size_t)snprintf(text, sizeof(text),
                                   ".visible .entry k()\n{\n.reg .b32 %%r<4>;\n.loc 1 1000 1\n");
    for (unsigned i = 1; i <= 200; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 ".loc 1 %u 1, inlined_at 1 %u 1\n", 1000 + i, 999 + i);
    }
    (void)snprintf(text + used, sizeof(text) - used, "mov.u32 %%r1, 2;\nret;\n}\n" FILES);
    struct ptx_module *module = gmt_ptx_module(text);
    const struct ptx_function *kernel = ptx_find_function(module, "k");

    cr_assert_eq(ptx_levels_of(module, &kernel->instructions[0], levels), PTX_MOST_LEVELS);
    cr_expect_eq(levels[0].line, 1200);
    cr_expect_eq(levels[0].level, 0);
    cr_expect_eq(levels[PTX_MOST_LEVELS - 2].line, 1200 - (PTX_MOST_LEVELS - 2));
    cr_expect_eq(levels[PTX_MOST_LEVELS - 1].line, 1000);
    cr_expect_eq(levels[PTX_MOST_LEVELS - 1].level, 200);
    ptx_free(module);
}

Test(ptx_user_lines, the_first_file_of_a_number_counts)
{
    struct ptx_module *module = gmt_ptx_module(
        ".file 7 \"seven\"\n.file 3 \"three\"\n.file 7 \"again\"\n.file 1 \"one\"\n");

    cr_expect_str_eq(ptx_file_path(module, 7), "seven");
    cr_expect_str_eq(ptx_file_path(module, 3), "three");
    cr_expect_str_eq(ptx_file_path(module, 1), "one");
    cr_expect_null(ptx_file_path(module, 5));
    cr_expect_null(ptx_file_path(module, 8));
    ptx_free(module);
}

Test(ptx_user_lines, paths_of_libraries)
{
    static const struct {
        const char *path;
        bool is_library;
    } rows[] = {
        {"/usr/local/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp", true},
        {"/usr/local/cuda-13.0/include/cccl/cuda/std/detail/libcxx/include/array", true},
        {"/usr/local/cuda/include/cuda_fp16.hpp", true},
        {"/opt/cuda/include/mma.h", true},
        {"/opt/conda/envs/a/targets/sbsa-linux/include/cuda_fp16.hpp", true},
        {"/home/a/env/lib/python3.12/site-packages/nvidia/cu13/include/cuda_fp16.hpp", true},
        {"/nix/store/abc-cuda_nvcc/include/crt/mma.hpp", true},
        {"/usr/include/cuda_fp16.hpp", true},
        {"/usr/include/c++/12/bits/stl_algo.h", true},
        {"/opt/llvm/include/c++/v1/algorithm", true},
        {"/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h", true},
        {"/src/a.cu", false},
        {"a.cu", false},
        {"", false},
        {"/home/a/cuda/include/kernels.cuh", false},
        {"/home/a/crt/include/inl.h", false},
        {"/usr/local/include/inl.h", false},
        {"/home/a/nvidia/inl.h", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_eq(ptx_path_is_library(rows[i].path), rows[i].is_library, "%s", rows[i].path);
    }
}
