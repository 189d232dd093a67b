/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autotuneclient COUNT: what XLA does while it chooses kernels, and beside it.
 *
 * One thread compiles: it loads COUNT modules of one kernel each, as libraries or as modules. One tries them: buffers
 * between two zones of a pattern, a launch to warm up, then one that is timed by events behind a kernel that spins on a
 * word of page-locked memory until the host has launched all (and gives up after a while), then kernels that look at the zones and
 * compare the result, and small results by copies to page-locked memory. One executes a step again and again in streams of its
 * own, with events between streams and a host function behind it.
 */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, WORDS = 2048, ZONE = 256, STEPS = 60, PATTERN = 0x5a5a5a5a };

const char *client_program;

void client_check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "autotuneclient: %s: error %d\n", call, (int)result);
        exit(3);
    }
}

static void fill(unsigned *words, unsigned word_count, unsigned seed)
{
    for (unsigned i = 0; i < word_count; i++) {
        seed = seed * 1664525u + 1013904223u;
        words[i] = seed;
    }
}

static unsigned sum_of(const unsigned *words, unsigned word_count)
{
    unsigned sum = 2166136261u;
    for (unsigned i = 0; i < word_count; i++) {
        sum = (sum ^ words[i]) * 16777619u;
    }
    return sum;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

#define START ".version 7.0\n.target sm_75\n.address_size 64\n"
#define INDEX \
    "    .reg .pred %p<3>;\n    .reg .b32 %r<9>;\n    .reg .b64 %rd<6>;\n" \
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n" \
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n    mul.wide.u32 %rd4, %r4, 4;\n"

/* delay_kernel(word): until the word is 1, or some thousand looks at it. */
static const char delay_ptx[] = START
    ".visible .entry delay_kernel(.param .u64 word)\n{\n"
    "    .reg .pred %p<3>;\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [word];\n    mov.u32 %r1, 0;\n"
    "$L_wait:\n    ld.volatile.global.u32 %r2, [%rd1];\n    setp.eq.u32 %p1, %r2, 1;\n"
    "    @%p1 bra $L_end;\n    add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p2, %r1, 2000;\n"
    "    @%p2 bra $L_wait;\n$L_end:\n    ret;\n}\n";

/* redzone_checker(zone, pattern, bytes, count): adds the words that are not the pattern to *count. */
static const char check_ptx[] = START
    ".visible .entry redzone_checker(.param .u64 zone, .param .u8 pattern, .param .u64 bytes,\n"
    "    .param .u64 count)\n{\n" INDEX
    "    ld.param.u64 %rd1, [zone];\n    ld.param.u8 %r5, [pattern];\n"
    "    ld.param.u64 %rd2, [bytes];\n    ld.param.u64 %rd3, [count];\n"
    "    setp.ge.u64 %p1, %rd4, %rd2;\n    @%p1 bra $L_end;\n    add.u64 %rd5, %rd1, %rd4;\n"
    "    ld.global.u32 %r6, [%rd5];\n    and.b32 %r6, %r6, 255;\n    setp.eq.u32 %p2, %r6, %r5;\n"
    "    @%p2 bra $L_end;\n    red.global.add.u32 [%rd3], 1;\n$L_end:\n    ret;\n}\n"
    ".visible .entry buffer_comparator(.param .u64 one, .param .u64 other, .param .u32 words,\n"
    "    .param .u64 count)\n{\n" INDEX
    "    ld.param.u64 %rd1, [one];\n    ld.param.u64 %rd2, [other];\n"
    "    ld.param.u32 %r5, [words];\n    ld.param.u64 %rd3, [count];\n"
    "    setp.ge.u32 %p1, %r4, %r5;\n    @%p1 bra $L_end;\n    add.u64 %rd1, %rd1, %rd4;\n"
    "    add.u64 %rd2, %rd2, %rd4;\n    ld.global.u32 %r6, [%rd1];\n"
    "    ld.global.u32 %r7, [%rd2];\n    setp.eq.u32 %p2, %r6, %r7;\n    @%p2 bra $L_end;\n"
    "    red.global.add.u32 [%rd3], 1;\n$L_end:\n    ret;\n}\n";

/* NAME(in, out): out[i] = in[i] * 3 + the number of its module. */
static void write_fusion(char *text, size_t room, const char *name, unsigned number)
{
    (void)snprintf(text, room,
                   START ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n"
                         "    .reg .b32 %%r<9>;\n    .reg .b64 %%rd<6>;\n"
                         "    mov.u32 %%r1, %%ctaid.x;\n    mov.u32 %%r2, %%ntid.x;\n"
                         "    mov.u32 %%r3, %%tid.x;\n    mad.lo.u32 %%r4, %%r1, %%r2, %%r3;\n"
                         "    mul.wide.u32 %%rd4, %%r4, 4;\n    ld.param.u64 %%rd1, [in];\n"
                         "    ld.param.u64 %%rd2, [out];\n    add.u64 %%rd1, %%rd1, %%rd4;\n"
                         "    add.u64 %%rd2, %%rd2, %%rd4;\n    ld.global.u32 %%r5, [%%rd1];\n"
                         "    mad.lo.u32 %%r5, %%r5, 3, %u;\n    st.global.u32 [%%rd2], %%r5;\n"
                         "    ret;\n}\n",
                   name, number);
}

/* ---- the thread that compiles -------------------------------------------------------------------- */

static CUcontext context;
static unsigned count;

static struct candidate {
    CUlibrary library; /* NULL: it is a module */
    CUmodule module;
    CUfunction function;
    char name[32];
} candidates[MOST];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned loaded, tried;

static void *compile(void *unused)
{
    char text[1024];
    (void)unused;
    CHECK(cu.cuCtxSetCurrent(context));
    for (unsigned i = 0; i < count; i++) {
        struct candidate *candidate = &candidates[i];
        (void)snprintf(candidate->name, sizeof candidate->name, "gemm_fusion_dot_%u", i);
        write_fusion(text, sizeof text, candidate->name, i);
        if (i % 2 == 0) {
            CUkernel kernel;
            CHECK(cu.cuLibraryLoadData(&candidate->library, text, NULL, NULL, 0, NULL, NULL, 0));
            CHECK(cu.cuLibraryGetKernel(&kernel, candidate->library, candidate->name));
            candidate->function = (CUfunction)kernel;
        } else {
            CHECK(cu.cuModuleLoadData(&candidate->module, text));
            CHECK(cu.cuModuleGetFunction(&candidate->function, candidate->module, candidate->name));
        }
        pthread_mutex_lock(&mutex);
        loaded++;
        pthread_cond_broadcast(&changed);
        while (loaded > tried + 4) { /* a few ahead of who tries them */
            pthread_cond_wait(&changed, &mutex);
        }
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void await_loaded(unsigned number)
{
    pthread_mutex_lock(&mutex);
    while (loaded <= number) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void note_tried(void)
{
    pthread_mutex_lock(&mutex);
    tried++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* ---- the thread that tries them ------------------------------------------------------------------ */

struct tuner {
    CUstream stream;
    CUmodule modules[2];
    CUfunction delay, check, compare;
    CUevent begin, end;
    unsigned *word, *result; /* page-locked */
    CUdeviceptr word_address, mismatches;
    unsigned seen; /* in all */
};

static void launch(CUfunction function, unsigned words, CUstream stream, void **parameters)
{
    unsigned threads = words < 128 ? words : 128;
    CHECK(cu.cuLaunchKernel(function, (words + threads - 1) / threads, 1, 1, threads, 1, 1, 0,
                            stream, parameters, NULL));
}

/* What a kernel has counted, which is 0 afterwards. */
static unsigned take_mismatches(struct tuner *tuner)
{
    CHECK(cu.cuMemcpyDtoHAsync(tuner->result, tuner->mismatches, sizeof *tuner->result,
                               tuner->stream));
    CHECK(cu.cuMemsetD32Async(tuner->mismatches, 0, 1, tuner->stream));
    CHECK(cu.cuStreamSynchronize(tuner->stream));
    return *tuner->result;
}

static unsigned check_zone(struct tuner *tuner, CUdeviceptr zone)
{
    unsigned char pattern = PATTERN & 255;
    cuuint64_t bytes = ZONE * 4;
    void *parameters[] = {&zone, &pattern, &bytes, &tuner->mismatches};
    launch(tuner->check, ZONE, tuner->stream, parameters);
    return take_mismatches(tuner);
}

/* Returns the allocation; what is used begins ZONE words behind. */
static CUdeviceptr with_zones(const struct tuner *tuner, unsigned words)
{
    CUdeviceptr memory;
    CHECK(cu.cuMemAlloc(&memory, (words + 2 * ZONE) * 4));
    CHECK(cu.cuMemsetD32Async(memory, PATTERN, words + 2 * ZONE, tuner->stream));
    return memory;
}

static void time_behind_delay(struct tuner *tuner, CUfunction function, unsigned words,
                              void **parameters)
{
    void *on_word[] = {&tuner->word_address};
    *(volatile unsigned *)tuner->word = 0;
    launch(tuner->delay, 1, tuner->stream, on_word);
    CHECK(cu.cuEventRecord(tuner->begin, tuner->stream));
    launch(function, words, tuner->stream, parameters);
    CHECK(cu.cuEventRecord(tuner->end, tuner->stream));
    *(volatile unsigned *)tuner->word = 1;
    CHECK(cu.cuStreamSynchronize(tuner->stream));
}

static void try_one(struct tuner *tuner, unsigned number)
{
    unsigned words = 128 * (1 + number % 16), values[WORDS];
    CUdeviceptr in = with_zones(tuner, words), out = with_zones(tuner, words),
                reference = with_zones(tuner, words);
    CUdeviceptr in_used = in + ZONE * 4, out_used = out + ZONE * 4,
                reference_used = reference + ZONE * 4;
    void *parameters[] = {&in_used, &out_used};
    fill(values, words, number);
    CHECK(cu.cuMemcpyHtoDAsync(in_used, values, words * 4, tuner->stream));
    for (unsigned i = 0; i < words; i++) {
        values[i] = values[i] * 3 + number;
    }
    CHECK(cu.cuMemcpyHtoDAsync(reference_used, values, words * 4, tuner->stream));
    await_loaded(number);
    launch(candidates[number].function, words, tuner->stream, parameters);
    CHECK(cu.cuStreamSynchronize(tuner->stream));
    time_behind_delay(tuner, candidates[number].function, words, parameters);
    tuner->seen += check_zone(tuner, in) + check_zone(tuner, in_used + words * 4) +
                   check_zone(tuner, out) + check_zone(tuner, out_used + words * 4);
    void *compared[] = {&out_used, &reference_used, &words, &tuner->mismatches};
    launch(tuner->compare, words, tuner->stream, compared);
    tuner->seen += take_mismatches(tuner);
    CHECK(cu.cuMemFree(in));
    CHECK(cu.cuMemFree(out));
    CHECK(cu.cuMemFree(reference));
    note_tried();
}

static void start_tuner(struct tuner *tuner)
{
    CHECK(cu.cuStreamCreate(&tuner->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuModuleLoadData(&tuner->modules[0], delay_ptx));
    CHECK(cu.cuModuleGetFunction(&tuner->delay, tuner->modules[0], "delay_kernel"));
    CHECK(cu.cuModuleLoadData(&tuner->modules[1], check_ptx));
    CHECK(cu.cuModuleGetFunction(&tuner->check, tuner->modules[1], "redzone_checker"));
    CHECK(cu.cuModuleGetFunction(&tuner->compare, tuner->modules[1], "buffer_comparator"));
    CHECK(cu.cuEventCreate(&tuner->begin, CU_EVENT_DEFAULT));
    CHECK(cu.cuEventCreate(&tuner->end, CU_EVENT_DEFAULT));
    CHECK(cu.cuMemHostAlloc((void **)&tuner->word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cu.cuMemHostAlloc((void **)&tuner->result, 64, 0));
    CHECK(cu.cuMemHostGetDevicePointer(&tuner->word_address, tuner->word, 0));
    CHECK(cu.cuMemAlloc(&tuner->mismatches, 8));
    CHECK(cu.cuMemsetD32Async(tuner->mismatches, 0, 2, tuner->stream));
}

static void end_tuner(const struct tuner *tuner)
{
    CHECK(cu.cuEventDestroy(tuner->begin));
    CHECK(cu.cuEventDestroy(tuner->end));
    CHECK(cu.cuMemFree(tuner->mismatches));
    CHECK(cu.cuMemFreeHost(tuner->word));
    CHECK(cu.cuMemFreeHost(tuner->result));
    CHECK(cu.cuModuleUnload(tuner->modules[0]));
    CHECK(cu.cuModuleUnload(tuner->modules[1]));
    CHECK(cu.cuStreamDestroy(tuner->stream));
}

/* ---- the thread that executes -------------------------------------------------------------------- */

static atomic_uint called;

static void CUDA_CB note_call(void *unused)
{
    (void)unused;
    atomic_fetch_add(&called, 1);
}

/* A step: an upload and a kernel in one stream, a second kernel in another one behind an event, its result, a host function. */
static void *execute(void *sum)
{
    CUstream streams[2];
    CUmodule module;
    CUfunction fusion;
    CUdeviceptr memory[2];
    CUevent done;
    unsigned *bytes;
    char text[1024];
    CHECK(cu.cuCtxSetCurrent(context));
    write_fusion(text, sizeof text, "loop_fusion", 7);
    CHECK(cu.cuModuleLoadData(&module, text));
    CHECK(cu.cuModuleGetFunction(&fusion, module, "loop_fusion"));
    CHECK(cu.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    CHECK(cu.cuMemHostAlloc((void **)&bytes, WORDS * 4, 0));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(cu.cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CHECK(cu.cuMemAlloc(&memory[i], WORDS * 4));
    }
    fill(bytes, WORDS, 1);
    for (unsigned step = 0; step < STEPS; step++) {
        void *forth[] = {&memory[0], &memory[1]}, *back[] = {&memory[1], &memory[0]};
        CHECK(cu.cuMemcpyHtoDAsync(memory[0], bytes, WORDS * 4, streams[0]));
        launch(fusion, WORDS, streams[0], forth);
        CHECK(cu.cuEventRecord(done, streams[0]));
        CHECK(cu.cuStreamWaitEvent(streams[1], done, 0));
        launch(fusion, WORDS / 2, streams[1], back);
        CHECK(cu.cuMemcpyDtoHAsync(bytes, memory[0], WORDS * 4, streams[1]));
        CHECK(cu.cuLaunchHostFunc(streams[1], note_call, NULL));
        CHECK(cu.cuStreamSynchronize(streams[1]));
    }
    *(unsigned *)sum = sum_of(bytes, WORDS);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(cu.cuStreamDestroy(streams[i]));
        CHECK(cu.cuMemFree(memory[i]));
    }
    CHECK(cu.cuMemFreeHost(bytes));
    CHECK(cu.cuEventDestroy(done));
    CHECK(cu.cuModuleUnload(module));
    return NULL;
}

static void unload(void)
{
    for (unsigned i = 0; i < count; i++) {
        if (candidates[i].library != NULL) {
            CHECK(cu.cuLibraryUnload(candidates[i].library));
        } else {
            CHECK(cu.cuModuleUnload(candidates[i].module));
        }
    }
}

int main(int argc, char **argv)
{
    struct tuner tuner = {.seen = 0};
    pthread_t compiler, executor;
    unsigned sum = 0;
    CUdevice device;
    client_program = argv[0];
    count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (count == 0 || count > MOST) {
        fprintf(stderr, "usage: autotuneclient COUNT (1 to %d)\n", MOST);
        return 2;
    }
    client_load(VIA_PROC);
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cu.cuCtxSetCurrent(context));
    start_tuner(&tuner);
    if (pthread_create(&compiler, NULL, compile, NULL) != 0 ||
        pthread_create(&executor, NULL, execute, &sum) != 0) {
        return 4;
    }
    for (unsigned i = 0; i < count; i++) {
        try_one(&tuner, i);
    }
    pthread_join(compiler, NULL);
    pthread_join(executor, NULL);
    CHECK(cu.cuCtxSynchronize());
    printf("%u candidates, %u words differ; %08x after %u steps\n", count, tuner.seen, sum,
           atomic_load(&called));
    end_tuner(&tuner);
    unload();
    return tuner.seen != 0;
}
