/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that launch and copy at once: each has a result of its own, whatever the others do; and one that a kernel waits for. */
#define _GNU_SOURCE
#include "repeat/repeat.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 64, TURNS = 60, WORDS = 301 };

/* data[i] = data[i] * factor + i, and a kernel that takes long: `turns` steps of one warp;
 * and one that waits until a word is not 0. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry safe_step(.param .u64 to, .param .u32 count, .param .u32 factor)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [count];\n"
    "    ld.param.u32 %r2, [factor];\n"
    "    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %ntid.x;\n    mov.u32 %r5, %tid.x;\n"
    "    mad.lo.u32 %r3, %r3, %r4, %r5;\n    setp.ge.u32 %p, %r3, %r1;\n    @%p bra $L_end;\n"
    "    mad.wide.u32 %rd2, %r3, 4, %rd1;\n    ld.global.u32 %r6, [%rd2];\n"
    "    mad.lo.u32 %r6, %r6, %r2, %r3;\n    st.global.u32 [%rd2], %r6;\n$L_end:\n    ret;\n}\n"
    ".visible .entry safe_slow(.param .u64 to, .param .u32 turns)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [turns];\n    mov.u32 %r3, %tid.x;\n"
    "    mad.wide.u32 %rd2, %r3, 4, %rd1;\n    ld.global.u32 %r6, [%rd2];\n"
    "$L_loop:\n    mad.lo.u32 %r6, %r6, 1664525, 1013904223;\n    sub.u32 %r1, %r1, 1;\n"
    "    setp.ne.u32 %p, %r1, 0;\n    @%p bra $L_loop;\n    st.global.u32 [%rd2], %r6;\n"
    "    ret;\n}\n"
    ".visible .entry safe_waiting(.param .u64 to)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "$L_wait:\n    ld.volatile.global.u32 %r1, [%rd1];\n    setp.eq.u32 %p, %r1, 0;\n"
    "    @%p bra $L_wait;\n    add.u32 %r2, %r1, 1;\n    st.global.u32 [%rd1], %r2;\n"
    "    ret;\n}\n";

static CUcontext context;
static CUfunction step;

struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t hash;
};

/* Allocate, upload, step, copy on the device, step, download, free: the next turn begins with what this one left. */
static void turn(struct worker *worker, CUstream stream, CUdeviceptr kept, unsigned *words,
                 unsigned number)
{
    CUdeviceptr memory;
    unsigned count = WORDS, factor = 2 * number + 2 * worker->number + 3;
    void *on_kept[] = {&kept, &count, &factor}, *on_memory[] = {&memory, &count, &factor};
    size_t bytes = WORDS * sizeof *words + number % 8;
    if (number % 2 == 0) {
        CHECK(cu.cuMemAlloc(&memory, bytes));
    } else {
        CHECK(cu.cuMemAllocAsync(&memory, bytes, stream));
    }
    CHECK(cu.cuMemcpyHtoDAsync(memory, words, WORDS * sizeof *words, stream));
    CHECK(cu.cuLaunchKernel(step, 3, 1, 1, 128, 1, 1, 0, stream, on_memory, NULL));
    CHECK(cu.cuLaunchKernel(step, 3, 1, 1, 128, 1, 1, 0, stream, on_kept, NULL));
    CHECK(cu.cuMemcpyDtoDAsync(kept, memory, WORDS / 2 * sizeof *words, stream));
    CHECK(cu.cuLaunchKernel(step, 3, 1, 1, 128, 1, 1, 0, stream, on_kept, NULL));
    CHECK(cu.cuMemcpyDtoHAsync(words, kept, WORDS * sizeof *words, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    if (number % 2 == 0) {
        CHECK(cu.cuMemFree(memory));
    } else {
        CHECK(cu.cuMemFreeAsync(memory, stream));
    }
    for (unsigned i = 0; i < WORDS; i++) {
        worker->hash = (worker->hash ^ words[i]) * UINT64_C(0x100000001b3);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct rng rng = {worker->number};
    unsigned words[WORDS];
    CUdeviceptr kept;
    CUstream stream;
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&kept, sizeof words));
    rng_fill(&rng, words, sizeof words);
    CHECK(cu.cuMemcpyHtoDAsync(kept, words, sizeof words, stream));
    for (unsigned i = 0; i < TURNS; i++) {
        turn(worker, stream, kept, words, i);
    }
    CHECK(cu.cuMemFree(kept));
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

int repeat_threads(long count)
{
    static struct worker workers[MAX_THREADS];
    CUmodule module;
    if (count < 1 || count > MAX_THREADS) {
        return 2;
    }
    context = client_start();
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&step, module, "safe_step"));
    for (long i = 0; i < count; i++) {
        workers[i].number = (unsigned)i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            return 4;
        }
    }
    for (long i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("thread %ld: %016llx\n", i, (unsigned long long)workers[i].hash);
    }
    return 0;
}

/* ---- a thread that copies while another one's kernel runs ---- */

static atomic_bool over;
static uint64_t longest_ns, copies;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void note_since(uint64_t *begin_ns)
{
    uint64_t end_ns = now_ns();
    longest_ns = end_ns - *begin_ns > longest_ns ? end_ns - *begin_ns : longest_ns;
    *begin_ns = end_ns;
}

static void *copy_shortly(void *unused)
{
    char bytes[64] = {1};
    CUdeviceptr memory;
    CUstream stream;
    (void)unused;
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, sizeof bytes));
    for (uint64_t at_ns = now_ns(); !atomic_load(&over); copies++) {
        CHECK(cu.cuMemcpyHtoDAsync(memory, bytes, sizeof bytes, stream));
        note_since(&at_ns);
        CHECK(cu.cuStreamSynchronize(stream));
        note_since(&at_ns);
    }
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

/* Nearly all memory that was free before the launch. */
static void fill(size_t free_bytes)
{
    CUdeviceptr memory;
    CHECK(cu.cuMemAlloc(&memory, free_bytes - (1u << 16)));
    CHECK(cu.cuMemFree(memory));
}

/* REPEAT_TIMING: a file for "longest call in ns, copies made, kernel in ns". REPEAT_SLOW: steps of the kernel. REPEAT_FILL:
 * no copies; nearly all memory is allocated after the launch. */
int repeat_slow(void)
{
    const char *file = getenv("REPEAT_TIMING"), *asked = getenv("REPEAT_SLOW");
    unsigned turns = asked != NULL ? (unsigned)strtoul(asked, NULL, 10) : 40000000;
    CUdeviceptr memory;
    CUfunction slow;
    CUmodule module;
    CUstream stream;
    pthread_t thread;
    void *parameters[] = {&memory, &turns};
    context = client_start();
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&slow, module, "safe_slow"));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, 128));
    CHECK(cu.cuMemsetD32(memory, 1, 32));
    CHECK(cu.cuCtxSynchronize());
    bool fills = getenv("REPEAT_FILL") != NULL;
    if (!fills && pthread_create(&thread, NULL, copy_shortly, NULL) != 0) {
        return 4;
    }
    size_t free_before = 0, free_after = 0, total;
    CHECK(cu.cuMemGetInfo(&free_before, &total));
    uint64_t begin_ns = now_ns();
    CHECK(cu.cuLaunchKernel(slow, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    if (fills) {
        fill(free_before);
    }
    CHECK(cu.cuStreamSynchronize(stream));
    uint64_t kernel_ns = now_ns() - begin_ns;
    atomic_store(&over, true);
    if (!fills) {
        pthread_join(thread, NULL);
    }
    FILE *out = file != NULL ? fopen(file, "we") : NULL;
    if (out != NULL) {
        fprintf(out, "%llu %llu %llu\n", (unsigned long long)longest_ns, (unsigned long long)copies,
                (unsigned long long)kernel_ns);
        (void)fclose(out);
    }
    /* The other thread's 64 bytes are gone; a copy of memory that was left would be missing. */
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuMemGetInfo(&free_after, &total));
    puts(free_after >= free_before ? "done" : "memory is missing");
    return 0;
}

/* A kernel waits for a word that this very thread writes after the launch, and after one more launch. For a GPU: the
 * software device executes a kernel while it is launched. */
int repeat_waiting(void)
{
    CUdeviceptr word, others;
    CUfunction waiting;
    CUmodule module;
    CUstream stream, beside;
    unsigned one = 1, count = WORDS, factor = 3, result = 0;
    void *on_word[] = {&word}, *on_others[] = {&others, &count, &factor};
    context = client_start();
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&waiting, module, "safe_waiting"));
    CHECK(cu.cuModuleGetFunction(&step, module, "safe_step"));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&word, sizeof one));
    CHECK(cu.cuMemAlloc(&others, WORDS * sizeof one));
    CHECK(cu.cuMemsetD32(word, 0, 1));
    CHECK(cu.cuMemsetD32(others, 1, WORDS));
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuLaunchKernel(waiting, 1, 1, 1, 1, 1, 1, 0, stream, on_word, NULL));
    CHECK(cu.cuLaunchKernel(step, 3, 1, 1, 128, 1, 1, 0, stream, on_others, NULL));
    CHECK(cu.cuMemcpyHtoDAsync(word, &one, sizeof one, beside));
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuMemcpyDtoH(&result, word, sizeof result));
    printf("%u\n", result);
    return 0;
}
