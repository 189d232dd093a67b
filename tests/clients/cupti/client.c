/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupticlient SCENARIO [N]: a program that uses CUPTI itself, as PyTorch's profiler does.
 *
 * Linked with CUPTI, or (without CUPTI_LINKED) loading it when it is needed first. It prints what it got of
 * CUPTI; that must be the same whoever else is in the process.
 */
#define _GNU_SOURCE
#include "../client.h"
#include "standin.h"

#include <cupti_callbacks.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 8192u
#define BUFFERS 4096u
#define ELEMENTS 1024u

static struct {
#define FUNCTION(name) __typeof__(name) *name;
#include "functions.def"
#undef FUNCTION
} cupti;

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* What the profiler of the program saw. */
static uint8_t *_Atomic mine[BUFFERS];
static _Atomic unsigned foreign_buffers, foreign_records, strange_times, copies, sets, launches;
static _Atomic bool profiling;
static _Atomic uint64_t began_ns;

static CUdeviceptr memory[3];
static CUfunction vector_add;

static void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "cupticlient: %s\n", what);
        exit(4);
    }
}

static void load_cupti(void)
{
#ifdef CUPTI_LINKED
#define FUNCTION(name) cupti.name = name;
#include "functions.def"
#undef FUNCTION
#else
    void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL), *found;
    need(library != NULL, "no libcupti.so.13");
#define FUNCTION(name) \
    found = dlsym(library, #name); \
    need(found != NULL, #name); \
    memcpy(&cupti.name, &found, sizeof found);
#include "functions.def"
#undef FUNCTION
#endif
}

static uint64_t realtime_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- device work -------------------------------------------------------------------------------- */

static void start(void)
{
    CUmodule module;
    (void)client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&vector_add, module, "vector_add"));
    for (size_t i = 0; i < 3; i++) {
        CHECK(cu.cuMemAlloc(&memory[i], 16 * ELEMENTS * sizeof(float)));
    }
}

static void launch(unsigned blocks)
{
    CHECK(client_vector_add(vector_add, memory[0], memory[1], memory[2], blocks * 256, NULL));
    cupti.standin_cupti_work(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "vector_add", blocks);
}

static void work(unsigned times)
{
    static float host[ELEMENTS];
    for (unsigned i = 0; i < times; i++) {
        CHECK(cu.cuMemcpyHtoD(memory[1], host, sizeof host));
        cupti.standin_cupti_work(CUPTI_ACTIVITY_KIND_MEMCPY, NULL, sizeof host);
        CHECK(cu.cuMemsetD8(memory[2], 0, 512));
        cupti.standin_cupti_work(CUPTI_ACTIVITY_KIND_MEMSET, NULL, 512);
        launch(4);
    }
    CHECK(cu.cuCtxSynchronize());
}

/* ---- the program's profiler --------------------------------------------------------------------- */

static void CUPTIAPI give(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *bytes = BUFFER_BYTES;
    *max_records = 0;
    for (size_t i = 0; i < BUFFERS; i++) {
        uint8_t *none = NULL;
        if (atomic_compare_exchange_strong(&mine[i], &none, *buffer)) {
            return;
        }
    }
    need(false, "too many buffers");
}

static void read_record(const CUpti_Activity *record)
{
    uint64_t start_ns = 0;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        start_ns = ((const CUpti_ActivityKernel10 *)(const void *)record)->start;
        launches++;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        start_ns = ((const CUpti_ActivityMemcpy6 *)(const void *)record)->start;
        copies++;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        start_ns = ((const CUpti_ActivityMemset4 *)(const void *)record)->start;
        sets++;
    } else {
        foreign_records++;
    }
    strange_times += start_ns < began_ns || start_ns > realtime_ns();
    foreign_records += !profiling;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid)
{
    CUpti_Activity *record = NULL;
    bool known = false;
    (void)context;
    (void)stream;
    for (size_t i = 0; i < BUFFERS && !known; i++) {
        uint8_t *expected = buffer;
        known = atomic_compare_exchange_strong(&mine[i], &expected, NULL);
    }
    foreign_buffers += !known || bytes != BUFFER_BYTES;
    while (known && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        read_record(record);
    }
    if (known) {
        free(buffer);
    }
}

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *what)
{
    (void)data;
    (void)domain;
    (void)id;
    (void)what;
}

static void said(const char *what, int result)
{
    if (result != 0) {
        printf("%s: %d\n", what, result);
    }
}
#define SAY(call) said(#call, (int)(call))

static CUpti_SubscriberHandle subscriber;

static void profile_on(void)
{
    began_ns = realtime_ns();
    profiling = true;
    SAY(cupti.cuptiSubscribe(&subscriber, callback, NULL));
    SAY(cupti.cuptiActivityRegisterCallbacks(give, take));
    for (size_t i = 0; i < KINDS; i++) {
        SAY(cupti.cuptiActivityEnable(kinds[i]));
    }
}

static void profile_off(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        SAY(cupti.cuptiActivityDisable(kinds[i]));
    }
    SAY(cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    SAY(cupti.cuptiUnsubscribe(subscriber));
    profiling = false;
}

static void report(const char *when)
{
    printf("%s: %u copies, %u memsets, %u kernels; foreign buffers %u, foreign records %u, strange "
           "times %u\n",
           when, copies, sets, launches, foreign_buffers, foreign_records, strange_times);
}

static void *profile_thread(void *unused)
{
    (void)unused;
    CUcontext context;
    CUdevice device;
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cu.cuCtxSetCurrent(context));
    profile_on();
    work(30);
    profile_off();
    return NULL;
}

static void in_another_thread(void *(*function)(void *))
{
    pthread_t thread;
    need(pthread_create(&thread, NULL, function, NULL) == 0, "no thread");
    (void)pthread_join(thread, NULL);
}

/* ---- scenarios ---------------------------------------------------------------------------------- */

int scenario_twice(long n)
{
    (void)n;
    start();
    load_cupti();
    work(10);
    profile_on();
    work(20);
    profile_off();
    report("first");
    work(10);
    in_another_thread(profile_thread);
    report("second");
    work(10);
    return 0;
}

int scenario_keep(long n)
{
    (void)n;
    start();
    load_cupti();
    work(10);
    profile_on();
    work(20);
    SAY(cupti.cuptiActivityFlushAll(0));
    report("kept");
    work(5);
    return 0;
}

int scenario_early(long n)
{
    (void)n;
    load_cupti();
    profile_on();
    start();
    work(10);
    profile_off();
    report("early");
    work(10);
    return 0;
}

int scenario_finalize(long n)
{
    (void)n;
    start();
    load_cupti();
    work(10);
    profile_on();
    work(10);
    profile_off();
    SAY(cupti.cuptiFinalize());
    report("first");
    work(10);
    profile_on();
    work(10);
    profile_off();
    report("second");
    work(10);
    return 0;
}

static bool traced(void)
{
    const char *preloaded = getenv("LD_PRELOAD"), *collect = getenv("GMTRACE_COLLECT");
    return preloaded != NULL && strstr(preloaded, "gmtrace") != NULL && collect != NULL &&
           strcmp(collect, "standard") == 0;
}

/* The collector gets to it in its own time. */
static void launch_until_measured(unsigned blocks)
{
    unsigned before = cupti.standin_cupti_ranges();
    do {
        launch(blocks);
    } while (traced() && cupti.standin_cupti_ranges() == before);
}

int scenario_counters(long n)
{
    (void)n;
    CUpti_Profiler_Initialize_Params initialize = {
        .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Profiler_DeInitialize_Params end = {
        .structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_Enable_Params on = {
        .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    CUpti_RangeProfiler_Disable_Params off = {
        .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
    start();
    load_cupti();
    for (int i = 0; i < 20; i++) {
        launch(4);
    }
    SAY(cupti.cuptiProfilerInitialize(&initialize));
    SAY(cupti.cuptiRangeProfilerEnable(&on));
    unsigned before = cupti.standin_cupti_ranges();
    for (int i = 0; i < 20; i++) {
        launch(3);
    }
    printf("while the program has the counters: %u ranges of others, kernel records %d\n",
           cupti.standin_cupti_ranges() - before,
           cupti.standin_cupti_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    SAY(cupti.cuptiRangeProfilerDisable(&off));
    launch_until_measured(2);
    SAY(cupti.cuptiProfilerDeInitialize(&end));
    launch_until_measured(1);
    CHECK(cu.cuCtxSynchronize());
    return 0;
}

static uint64_t CUPTIAPI stopped_clock(void)
{
    return 12345;
}

static bool is_now(uint64_t ns)
{
    uint64_t now_ns = realtime_ns();
    return ns <= now_ns && now_ns - ns < UINT64_C(600000000000);
}

int scenario_settings(long n)
{
    (void)n;
    CUpti_SubscriberHandle second;
    CUpti_SubscriberParams no_size = {0};
    CUcontext context;
    uint64_t time_ns = 0;
    size_t bytes = sizeof bytes, value = 1;
    start();
    load_cupti();
    CHECK(cu.cuCtxGetCurrent(&context));
    work(5);
    SAY(cupti.cuptiActivityFlushAll(0)); /* nobody of the program's has registered */
    SAY(cupti.cuptiGetTimestamp(&time_ns));
    printf("the time is now: %d\n", is_now(time_ns));
    SAY(cupti.cuptiGetTimestamp(NULL));
    SAY(cupti.cuptiActivityRegisterCallbacks(NULL, NULL));
    SAY(cupti.cuptiActivityRegisterTimestampCallback(NULL));
    SAY(cupti.cuptiActivityRegisterCallbacks(give, take));
    SAY(cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &bytes, &value));
    SAY(cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, NULL, NULL));
    SAY(cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
    SAY(cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_INVALID));
    SAY(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID));
    work(5);
    SAY(cupti.cuptiActivityFlushAll(0));
    SAY(cupti.cuptiActivityFlushPeriod(50));
    SAY(cupti.cuptiActivityEnableContext(NULL, CUPTI_ACTIVITY_KIND_MEMSET));
    SAY(cupti.cuptiActivityRegisterTimestampCallback(stopped_clock));
    SAY(cupti.cuptiGetTimestamp(&time_ns));
    printf("the time is %d\n", (int)time_ns);
    profiling = true;
    SAY(cupti.cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_MEMSET));
    work(5);
    SAY(cupti.cuptiActivityDisableContext(context, CUPTI_ACTIVITY_KIND_MEMSET));
    SAY(cupti.cuptiActivityFlushAll(0));
    profiling = false;
    report("in one context, with the clock stopped");
    work(5);
    SAY(cupti.cuptiSubscribe(NULL, callback, NULL));
    SAY(cupti.cuptiSubscribe(&subscriber, callback, NULL));
    SAY(cupti.cuptiSubscribe(&second, callback, NULL));
    SAY(cupti.cuptiSubscribe_v2(&second, callback, NULL, &no_size));
    SAY(cupti.cuptiUnsubscribe(subscriber));
    SAY(cupti.cuptiUnsubscribe(subscriber));
    SAY(cupti.cuptiSubscribe_v2(&second, callback, NULL, NULL));
    SAY(cupti.cuptiUnsubscribe(second));
    work(5);
    return 0;
}

static _Atomic bool stop;
static _Atomic unsigned long launched;

static void *launch_on(void *context)
{
    CHECK(cu.cuCtxSetCurrent(context));
    for (unsigned i = 0; !stop; i++) {
        launch(1 + i / 8 % 64); /* new classes all the time: something is always being measured */
        launched++;
    }
    return NULL;
}

int scenario_busy(long n)
{
    pthread_t thread;
    CUcontext context;
    start();
    load_cupti();
    CHECK(cu.cuCtxGetCurrent(&context));
    need(pthread_create(&thread, NULL, launch_on, context) == 0, "no thread");
    for (long i = 0; i < n; i++) {
        unsigned long before = launched;
        while (launched < before + 5) {
            (void)sched_yield();
        }
        profile_on();
        before = launched;
        while (launched < before + 5) {
            (void)sched_yield();
        }
        profile_off();
    }
    stop = true;
    (void)pthread_join(thread, NULL);
    printf("kernels seen: %d\n", launches >= 5 * (unsigned)n - (unsigned)n);
    printf("foreign buffers %u, strange times %u, copies %u\n", foreign_buffers, strange_times,
           copies);
    return 0;
}

int scenario_inside(long n)
{
    (void)n;
    start();
    load_cupti();
    cupti.standin_cupti_call_in_range(profile_on);
    while (traced() && !profiling) {
        launch(8);
    }
    if (!profiling) {
        profile_on();
    }
    unsigned before = launches;
    work(20);
    profile_off();
    printf("%u copies, %u memsets, %d kernels\n", copies, sets, launches >= before + 20);
    printf("foreign buffers %u, foreign records %u\n", foreign_buffers, foreign_records);
    launch_until_measured(2);
    work(5);
    return 0;
}

int scenario_subscriber(long n)
{
    (void)n;
    start();
    load_cupti();
    work(10);
    SAY(cupti.cuptiSubscribe(&subscriber, callback, NULL));
    work(10);
    SAY(cupti.cuptiUnsubscribe(subscriber));
    work(10);
    return 0;
}

int scenario_fork(long n)
{
    (void)n;
    int status = 0;
    start();
    load_cupti();
    work(5);
    profile_on();
    work(5);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        uint64_t time_ns = 0;
        SAY(cupti.cuptiGetTimestamp(&time_ns));
        printf("child: the time is now: %d\n", is_now(time_ns));
        (void)fflush(stdout);
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    profile_off();
    report("parent");
    work(5);
    return status;
}

int scenario_nothing(long n)
{
    (void)n;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    printf("default %d, in another library %d\n", dlsym(RTLD_DEFAULT, "cuptiSubscribe") != NULL,
           library == NULL || dlsym(library, "cuptiActivityEnable") != NULL);
    printf("else %d\n", dlsym(RTLD_DEFAULT, "cuptiNoSuchFunction") != NULL);
    return 0;
}
