/* SPDX-License-Identifier: Apache-2.0 */
/* Frames get names and lines, and the CUDA runtime's own are distinguished from the user's. Links gmt_store;
 * needs debug information of its own (-g). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/store/recording/recording.h"
#include "libtrace/store/symbols/symbolize.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(symbolize, .init = setup, .fini = teardown, .timeout = 60);

/* A stands-in for a static cudart's function: local, and called from the user's code. */
static __attribute__((noinline)) uintptr_t cudaTestOnly(void)
{
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static int first_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct gmt_object *object = data;
    (void)size;
    object->load_bias = info->dlpi_addr;
    object->start = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > object->end) {
            object->end = end;
        }
    }
    return 1;
}

static void write_own_object(const char *build_id)
{
    char exe[512] = "";
    struct gmt_object object = {0};
    cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
    (void)dl_iterate_phdr(first_object, &object);
    gmt_fixture_side(&fixture, 0, GMT_REC_OBJECT, &object, sizeof(object), exe, build_id, NULL);
}

static void write_stack(uint64_t inner, uint64_t outer)
{
    struct gmt_stack stack = {.id = 1, .depth = 2};
    uint64_t frames[] = {inner, outer};
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), frames,
                          sizeof(frames));
}

Test(symbolize, names_function_file_and_line_of_the_callers)
{
    write_own_object("");
    uintptr_t here = cudaTestOnly();
    const int line = __LINE__ - 1;
    write_stack((uintptr_t)cudaTestOnly + 4, here);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT function FROM v_stack WHERE position=0"),
                     "cudaTestOnly");
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT runtime FROM v_stack WHERE position=0"), 1);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT runtime FROM v_stack WHERE position=1"), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT line FROM v_stack WHERE position=1"), line);
    const char *file = gmt_fixture_text(&fixture, "SELECT file FROM v_stack WHERE position=1");
    cr_expect_not_null(strstr(file, "test_symbolize.c"), "%s", file);
}

Test(symbolize, does_not_trust_a_file_that_has_changed)
{
    write_own_object("00112233");
    write_stack((uintptr_t)cudaTestOnly + 4, 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT function FROM v_stack WHERE position=0"),
                     "");
    cr_expect_eq(
        gmt_fixture_number(&fixture, "SELECT count FROM loss WHERE kind='module changed since'"),
        1);
}

Test(symbolize, counts_the_frames_it_had_no_time_for)
{
    sqlite3 *db;
    write_own_object("");
    write_stack((uintptr_t)cudaTestOnly + 4, (uintptr_t)cudaTestOnly + 8);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_assert_eq(sqlite3_open(fixture.output, &db), SQLITE_OK);
    cr_expect_eq(sqlite3_exec(db, "UPDATE frame SET file_id = NULL", NULL, NULL, NULL), 0);
    cr_expect_eq(gmt_symbolize_run(db, 0), 0);
    sqlite3_close(db);
    cr_expect_eq(
        gmt_fixture_number(&fixture, "SELECT count FROM loss WHERE kind='frame not symbolized'"),
        2);
}

Test(symbolize, distinguishes_the_runtime_from_the_user)
{
    cr_expect(gmt_symbol_is_runtime("/usr/lib/libcudart.so.13.0.1", "anything"));
    cr_expect(gmt_symbol_is_runtime("/usr/lib/x86_64-linux-gnu/libcuda.so.580.1", NULL));
    cr_expect(gmt_symbol_is_runtime("/opt/gmtrace/lib/libgmtrace.so", "gmt_hook"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "cudaMemcpy"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "__cudart590"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "__cudaLaunchKernel"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "_ZL10cudaMallocIfE9cudaErrorPPT_m"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "_Z26__device_stub__Z5blendPfS_PfS_"));
    cr_expect(gmt_symbol_is_runtime(
        "/home/me/app", "_ZL25__cudaLaunchKernel_helperP9CUkern_st4dim3S1_PPvmP11CUstream_st"));
    cr_expect(gmt_symbol_is_runtime("/home/me/app", "_ZN6thrust4copyIPfEES1_S1_S1_S1_"));
    cr_expect(
        gmt_symbol_is_library_header("/opt/cuda/targets/x86_64-linux/include/cccl/cub/a.cuh"));
    cr_expect(gmt_symbol_is_library_header("/home/user/build/_deps/cccl-src/thrust/thrust/copy.h"));
    cr_expect_not(gmt_symbol_is_library_header("/home/me/thrust/nozzle.cu"));
    cr_expect_not(gmt_symbol_is_runtime("/home/me/app", "_Z9cudaCheck9cudaError"));
    cr_expect_not(gmt_symbol_is_runtime("/home/me/app", "cuda_setup"));
    cr_expect_not(gmt_symbol_is_runtime("/home/me/app", "main"));
    cr_expect_not(gmt_symbol_is_runtime("/home/me/libcudf.so", "read"));
}
