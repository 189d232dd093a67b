/* SPDX-License-Identifier: Apache-2.0 */
/*
 * countedclient MODE THREADS: launches of many kernel classes, and THREADS other threads that do what MODE says all the
 * while. How often they got through is not printed: it differs.
 *
 * In the mode `awaited` some launches are behind a host function that waits for their caller (on the software device with
 * SIMGPU_ORDER, which has host functions in a thread of its own).
 * The mode `rounds` has no other threads: it launches a few classes in turn, for SECONDS.
 * The mode `constructors` opens and closes the library COUNTED_LIBRARY, whose constructor uses CUDA.
 * The mode `unguarded` counts with the CUPTI of the environment (GMTRACE_CUPTI) itself, and keeps nobody out.
 */
#include "client.h"

#include <cupti_callbacks.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CLASSES = 60,
    TIMES = 5,
    WORDS = 64,
    MOST_THREADS = 16,
    ROUND = 12,
    SECONDS = 8,
    AWAITED = 20 /* one launch of every so many classes */
};

const char *client_program;
static CUcontext context;
static _Atomic bool over;
static _Atomic unsigned done[MOST_THREADS];

void client_check(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "countedclient: %s: error %d\n", call, (int)result);
        exit(3);
    }
}

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 table[64];\n"
    ".visible .entry next(.param .u64 words)\n{\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [words];\n    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd2, %r1, 4;\n"
    "    add.u64 %rd3, %rd1, %rd2;\n    ld.global.u32 %r2, [%rd3];\n    add.u32 %r2, %r2, 1;\n"
    "    st.global.u32 [%rd3], %r2;\n    ret;\n}\n";

/* Threads of one block: classes differ by them. */
static void launch(CUfunction next, CUdeviceptr words, unsigned threads)
{
    void *parameters[] = {&words};
    CHECK(cu.cuLaunchKernel(next, 1, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
}

static _Atomic bool may_go_on;

static void CUDA_CB await_host(void *unused)
{
    (void)unused;
    while (!atomic_load(&may_go_on)) {
        (void)usleep(100);
    }
}

/* Behind something that waits for what this thread does next. */
static void launch_behind(CUfunction next, CUdeviceptr words, unsigned threads)
{
    atomic_store(&may_go_on, false);
    CHECK(cu.cuLaunchHostFunc(NULL, await_host, NULL));
    launch(next, words, threads);
    atomic_store(&may_go_on, true);
    CHECK(cu.cuStreamSynchronize(NULL));
}

/* ---- what the others do, once ------------------------------------------------------------------- */

static void load_module(void)
{
    CUmodule module;
    CUfunction next;
    CUdeviceptr table;
    size_t bytes;
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&next, module, "next"));
    CHECK(cu.cuModuleGetGlobal(&table, &bytes, module, "table"));
    CHECK(cu.cuFuncLoad(next));
    CHECK(cu.cuModuleUnload(module));
}

static void load_library(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction next;
    CHECK(cu.cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cu.cuLibraryGetKernel(&kernel, library, "next"));
    CHECK(cu.cuKernelGetFunction(&next, kernel));
    CHECK(cu.cuLibraryUnload(library));
}

/* What loads code late, and only that. */
static void look_up(void)
{
    static _Thread_local CUmodule module;
    CUfunction next;
    if (module == NULL) {
        CHECK(cu.cuModuleLoadData(&module, ptx));
    }
    for (unsigned i = 0; i < 200; i++) {
        CHECK(cu.cuModuleGetFunction(&next, module, "next"));
    }
}

static void copy(void)
{
    unsigned words[WORDS] = {0};
    CUdeviceptr memory;
    CHECK(cu.cuMemAlloc(&memory, sizeof words));
    CHECK(cu.cuMemcpyHtoD(memory, words, sizeof words));
    CHECK(cu.cuMemcpyDtoH(words, memory, sizeof words));
    CHECK(cu.cuMemFree(memory));
}

static void launch_own(void)
{
    CUmodule module;
    CUfunction next;
    CUdeviceptr memory;
    CHECK(cu.cuMemAlloc(&memory, WORDS * 4));
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&next, module, "next"));
    for (unsigned i = 0; i < 8; i++) {
        launch(next, memory, WORDS);
    }
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuModuleUnload(module));
    CHECK(cu.cuMemFree(memory));
}

static void make_context(void)
{
    CUcontext made;
    CHECK(cu.cuCtxCreate(&made, NULL, 0, 0));
    CHECK(cu.cuCtxDestroy(made));
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuDevicePrimaryCtxRetain(&made, 0));
    CHECK(cu.cuDevicePrimaryCtxRelease(0)); /* main has a reference of its own */
}

static void capture(void)
{
    CUstream stream;
    CUgraph graph;
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(cu.cuGraphDestroy(graph));
    CHECK(cu.cuStreamDestroy(stream));
}

/* Threads that use CUDA for the first time, while there may be no other. */
static void *use_once(void *unused)
{
    (void)unused;
    CHECK(cu.cuCtxSetCurrent(context));
    copy();
    return NULL;
}

static void start_another(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_once, NULL) != 0) {
        exit(4);
    }
    (void)pthread_join(thread, NULL);
    (void)usleep(200);
}

/* Threads that use CUDA in a destructor that runs when those of other libraries have run. */
static pthread_key_t ending;

static void use_at_end(void *times)
{
    static char again;
    if (times != &again) {
        (void)pthread_setspecific(ending, &again);
        return;
    }
    CHECK(cu.cuCtxSetCurrent(context));
    for (unsigned i = 0; i < 20; i++) {
        load_module();
    }
}

static void *use_and_end(void *first)
{
    (void)pthread_setspecific(ending, first);
    return use_once(NULL);
}

static void start_one_that_ends(void)
{
    static char first;
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_and_end, &first) != 0) {
        exit(4);
    }
    (void)pthread_join(thread, NULL);
}

/* Is in no call any more, but may begin one. */
static void use_and_rest(void)
{
    static _Thread_local bool used;
    if (!used) {
        copy();
        used = true;
    }
    (void)usleep(1000);
}

/* Meanwhile nobody else can open one. */
static void construct(void)
{
    const char *path = getenv("COUNTED_LIBRARY");
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    if (library == NULL) {
        exit(4);
    }
    (void)dlclose(library);
}

static const struct mode {
    const char *name;
    void (*act)(void);
    bool late;    /* they begin when half of the classes were launched */
    bool foreign; /* the threads do not use CUDA themselves */
} modes[] = {
    {"modules", load_module, false, false},
    {"libraries", load_library, false, false},
    {"lookups", look_up, false, false},
    {"copies", copy, false, false},
    {"launches", launch_own, false, false},
    {"contexts", make_context, false, false},
    {"captures", capture, true, false},
    {"starts", start_another, false, true},
    {"destructors", start_one_that_ends, true, true},
    {"constructors", construct, false, false},
    {"awaited", use_and_rest, false, false},
    {"rounds", NULL, false, false},
    {"unguarded", load_module, false, false},
};
static const struct mode *mode;

static void *act(void *number)
{
    unsigned at = (unsigned)(uintptr_t)number;
    if (!mode->foreign) {
        CHECK(cu.cuCtxSetCurrent(context));
    }
    while (!atomic_load(&over)) {
        mode->act();
        atomic_fetch_add(&done[at], 1);
    }
    return NULL;
}

/* Until each of them has acted `times` more. */
static void await_acts(unsigned threads, unsigned times)
{
    for (unsigned i = 0; i < threads; i++) {
        unsigned before = atomic_load(&done[i]);
        while (atomic_load(&done[i]) < before + times) {
            (void)usleep(100);
        }
    }
}

/* ---- counting without anybody's help ------------------------------------------------------------ */

static struct {
    CUptiResult (*cuptiSubscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
    CUptiResult (*cuptiSassMetricsSetConfig)(CUpti_SassMetricsSetConfig_Params *);
    CUptiResult (*cuptiSassMetricsEnable)(CUpti_SassMetricsEnable_Params *);
    CUptiResult (*cuptiSassMetricsDisable)(CUpti_SassMetricsDisable_Params *);
} cupti;

static void find(void *library, const char *name, void *into)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "countedclient: no %s\n", name);
        exit(4);
    }
    memcpy(into, &found, sizeof found);
}

static void open_cupti(void)
{
    static CUpti_SubscriberHandle subscriber;
    CUpti_SassMetricsSetConfig_Params config = {.structSize = sizeof config};
    const char *path = getenv("GMTRACE_CUPTI");
    void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    if (library == NULL) {
        exit(4);
    }
    find(library, "cuptiSubscribe", &cupti.cuptiSubscribe);
    find(library, "cuptiSassMetricsSetConfig", &cupti.cuptiSassMetricsSetConfig);
    find(library, "cuptiSassMetricsEnable", &cupti.cuptiSassMetricsEnable);
    find(library, "cuptiSassMetricsDisable", &cupti.cuptiSassMetricsDisable);
    if (cupti.cuptiSubscribe(&subscriber, NULL, NULL) != CUPTI_SUCCESS ||
        cupti.cuptiSassMetricsSetConfig(&config) != CUPTI_SUCCESS) {
        exit(4);
    }
}

static void count_unguarded(CUfunction next, CUdeviceptr words, unsigned threads)
{
    CUpti_SassMetricsEnable_Params enable = {.structSize = sizeof enable, .ctx = context};
    CUpti_SassMetricsDisable_Params disable = {.structSize = sizeof disable, .ctx = context};
    (void)cupti.cuptiSassMetricsEnable(&enable);
    launch(next, words, threads);
    await_acts(1, 2);
    CHECK(cu.cuCtxSynchronize());
    (void)cupti.cuptiSassMetricsDisable(&disable);
}

/* ---- ------------------------------------------------------------------------------------------- */

static void choose(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            mode = &modes[i];
        }
    }
    if (mode == NULL) {
        fputs("usage: countedclient MODE THREADS\n", stderr);
        exit(2);
    }
}

static void start(pthread_t *others, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&others[i], NULL, act, (void *)(uintptr_t)i) != 0) {
            exit(4);
        }
    }
    await_acts(threads, 2);
}

static unsigned long sum_of(CUdeviceptr words)
{
    unsigned back[WORDS];
    unsigned long sum = 0;
    CHECK(cu.cuMemcpyDtoH(back, words, sizeof back));
    for (unsigned i = 0; i < WORDS; i++) {
        sum += back[i];
    }
    return sum;
}

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void launch_in_turn(CUfunction next, CUdeviceptr words)
{
    for (double began_s = now_s(); now_s() - began_s < SECONDS;) {
        for (unsigned i = 0; i < ROUND; i++) {
            launch(next, words, i + 1);
        }
        (void)usleep(1000);
    }
}

int main(int argc, char **argv)
{
    pthread_t others[MOST_THREADS];
    CUdevice device;
    CUmodule module;
    CUfunction next;
    CUdeviceptr words;
    unsigned zeros[WORDS] = {0};
    choose(argc, argv);
    unsigned threads = (unsigned)strtoul(argv[2], NULL, 10);
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    client_load(VIA_PROC);
    if (pthread_key_create(&ending, use_at_end) != 0) {
        return 4;
    }
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuModuleLoadData(&module, ptx));
    CHECK(cu.cuModuleGetFunction(&next, module, "next"));
    CHECK(cu.cuMemAlloc(&words, sizeof zeros));
    CHECK(cu.cuMemcpyHtoD(words, zeros, sizeof zeros));
    if (mode->act == NULL) {
        launch_in_turn(next, words);
        CHECK(cu.cuDevicePrimaryCtxRelease(device));
        return 0;
    }
    bool unguarded = strcmp(mode->name, "unguarded") == 0;
    bool awaited = strcmp(mode->name, "awaited") == 0;
    if (unguarded) {
        open_cupti();
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        if (i == (mode->late ? CLASSES / 2 : 0)) {
            start(others, threads);
        }
        for (unsigned k = 0; k < TIMES; k++) {
            if (unguarded) {
                count_unguarded(next, words, i + 1);
            } else if (awaited && i % AWAITED == 0 && k == 1) {
                launch_behind(next, words, i + 1);
            } else {
                launch(next, words, i + 1);
            }
            (void)usleep(
                1000); /* where others do not leave the driver in time nothing is tried for a while */
        }
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(others[i], NULL);
    }
    printf("sum %lu\n", sum_of(words));
    CHECK(cu.cuDevicePrimaryCtxRelease(device)); /* the last one: the context goes */
    return 0;
}
