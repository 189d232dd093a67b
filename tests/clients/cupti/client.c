/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupticlient SCENARIO [N]: a program that uses CUPTI itself, as PyTorch's profiler does.
 *
 * Linked with CUPTI, or (without CUPTI_LINKED) loading it when it is needed first: from CUPTICLIENT_CUPTI, if
 * that is set, and with CUPTICLIENT_BESIDE, another one, which it does not use. It prints what it got of
 * CUPTI; that must be the same whoever else is in the process.
 */
#define _GNU_SOURCE
#include "profiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    report_strangers();
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
    report_strangers();
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

/* A launch and a memset, whose records make the latter longer; the device did them before the calls returned. */
static bool priced_calls(CUdeviceptr memory)
{
    enum { FEW = 512, MANY = 1 << 18 };
    bool kernels = cupti.standin_cupti_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    launch_begun(4, kernels);
    bool on = cupti.standin_cupti_enabled(CUPTI_ACTIVITY_KIND_MEMSET);
    CHECK(cu.cuMemsetD8Async(memory, 0, on ? MANY : FEW, NULL));
    cupti.standin_cupti_begun(CUPTI_ACTIVITY_KIND_MEMSET, NULL, on ? MANY : FEW, on);
    return on;
}

static void priced_rest(CUdeviceptr memory)
{
    for (unsigned i = 0; i < 200; i++) {
        (void)priced_calls(memory);
    }
    CHECK(cu.cuCtxSynchronize());
}

int scenario_priced(long n)
{
    CUdeviceptr memory;
    long off = 0;
    bool was_on = true;
    start();
    load_cupti();
    CHECK(cu.cuMemAlloc(&memory, 1 << 18));
    uint64_t until_ns = realtime_ns() + (n < 0 ? (uint64_t)-n : 60) * UINT64_C(1000000000);
    for (unsigned i = 0; (n < 0 || off < n) && realtime_ns() < until_ns; i++) {
        bool on = priced_calls(memory);
        off += was_on && !on;
        was_on = on;
        if (i % 64 == 63) {
            CHECK(cu.cuCtxSynchronize());
        }
    }
    printf("off %ld times\n", off);
    if (n > 0) { /* they are off now: the program takes CUPTI, and gives it back */
        profile_on();
        priced_rest(memory);
        profile_off();
        report("own");
        priced_rest(memory);
    }
    return 0;
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
