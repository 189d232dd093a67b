/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches on several workers, asked for by two threads at once, for ThreadSanitizer.
 *
 * Blocks diverge, call, print, wait at barriers, count and add to one word with atomics; another
 * kernel faults in many blocks at once. What the sanitizer must not see is the interpreter's own data
 * changed by two workers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/exec.h"

enum { BLOCKS = 64, THREADS = 96, LAUNCHES = 8 };

static const char ptx_text[] =
    ".version 8.5\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 format[3] = {46, 10, 0};\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r1;\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r1, %r1, %r1;\nst.param.b32 [r], %r1;\nret;\n}\n"
    ".visible .entry work(.param .u64 sum)\n{\n"
    ".shared .align 4 .b8 cell[4];\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [sum];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
    "and.b32 %r4, %r1, 7;\nmov.u32 %r9, cell;\nsetp.eq.u32 %p2, %r1, 0;\n"
    "@%p2 st.shared.u32 [%r9], 0;\nbar.sync 0;\n"
    "LOOP: setp.ge.u32 %p1, %r2, %r4;\n@%p1 bra END;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"
    "call.uni (b), twice, (a);\nld.param.b32 %r5, [b]; }\n"
    "add.u32 %r3, %r3, %r5;\nadd.u32 %r2, %r2, 1;\nbra LOOP;\n"
    "END: red.shared.add.u32 [%r9], %r3;\nbar.sync 0;\n"
    "@!%p2 bra DONE;\nld.shared.u32 %r6, [%r9];\nred.global.add.u32 [%rd1], %r6;\n"
    "mov.u64 %rd2, format;\n"
    "{ .param .b64 a; .param .b64 b; .param .b32 c;\nst.param.b64 [a], %rd2;\n"
    "st.param.b64 [b], 0;\ncall.uni (c), vprintf, (a, b); }\n"
    "DONE: ret;\n}\n"
    ".visible .entry fault(.param .u64 sum)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [sum];\nld.global.u32 %r1, [%rd1+64];\nret;\n}\n";

struct job {
    const struct sim_module *module;
    struct sim_map map;
    uint32_t *sum;
};

static _Atomic int failures;

static void launch(const struct job *job, const char *name, enum sim_status wanted)
{
    const struct sim_launch launch = {.kernel = sim_module_find_kernel(job->module, name),
                                      .grid = {BLOCKS, 1, 1},
                                      .block = {THREADS, 1, 1},
                                      .params = &job->sum,
                                      .map = &job->map,
                                      .workers = 4,
                                      .count = true};
    struct sim_counts counts;
    struct sim_error error;

    if (launch.kernel == NULL || sim_run(&launch, &counts, &error) != wanted) {
        fprintf(stderr, "sim_race: %s: %s\n", name, error.text);
        atomic_fetch_add(&failures, 1);
    }
    sim_counts_clear(&counts);
}

static void *launch_many(void *argument)
{
    for (int i = 0; i < LAUNCHES; i++) {
        launch(argument, "work", SIM_OK);
        launch(argument, "fault", SIM_ILLEGAL_ADDRESS);
    }
    return NULL;
}

static int by_base(const void *left, const void *right)
{
    const struct sim_region *a = left, *b = right;

    return a->base < b->base ? -1 : a->base > b->base;
}

int main(void)
{
    struct sim_error error;
    struct ptx_error ptx_error;
    struct sim_global *globals;
    struct ptx_module *ptx = ptx_parse(ptx_text, strlen(ptx_text), &ptx_error);
    struct sim_module *module = ptx != NULL ? sim_module_new(ptx, &error) : NULL;
    static uint32_t sum[16];
    pthread_t threads[2];

    if (module == NULL) {
        fprintf(stderr, "sim_race: %s\n", ptx == NULL ? ptx_error.text : "no module");
        return 1;
    }
    if (sim_module_globals(module, &globals) != 1) {
        return 1;
    }
    struct sim_region regions[] = {
        {.base = (uint64_t)(uintptr_t)globals[0].data, .bytes = globals[0].bytes},
        {.base = (uint64_t)(uintptr_t)sum, .bytes = sizeof(sum)},
    };
    qsort(regions, 2, sizeof(regions[0]), by_base);
    struct job job = {.module = module, .map = {regions, 2}, .sum = sum};

    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, launch_many, &job) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    sim_print_flush();
    /* Per thread with x = tid mod 8: twice the sum of 0 .. x - 1 = x (x - 1); over 8 lanes 112. */
    if (*sum != 2u * LAUNCHES * BLOCKS * (THREADS / 8) * 112) {
        fprintf(stderr, "sim_race: sum is %u\n", *sum);
        atomic_fetch_add(&failures, 1);
    }
    sim_module_free(module);
    return atomic_load(&failures) != 0;
}
