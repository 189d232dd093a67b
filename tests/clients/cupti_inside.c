/* SPDX-License-Identifier: Apache-2.0 */
/* Who is inside of the driver while instructions are counted (cupti_inside.h). */
#define _GNU_SOURCE
#include "cupti_inside.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/simgpu.h"

enum { THREADS = 1 << 16 };

/* Beginnings of names: they wait, ask or look up what is loaded. Of events nothing bad is known. */
static const char *const borne[] = {
    "cuInit",
    "cuGet",
    "cuDeviceGet",
    "cuDriverGet",
    "cuCtxGet",
    "cuCtxSetCurrent",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamGet",
    "cuStreamIsCapturing",
    "cuStreamWaitEvent",
    "cuEvent",
    "cuFuncGet",
    "cuFuncSet",
    "cuKernelGetAttribute",
    "cuKernelGetName",
    "cuKernelGetParamInfo",
    "cuOccupancy",
    "cuPointerGet",
    "cuMemGet",
    "cuMemHostGet",
    "cuModuleGetLoadingMode",
    "cuThreadExchangeStreamCaptureMode",
    "cuDevicePrimaryCtxGetState",
};

/* Of each thread the call that it is inside of and that matters; a place is never given to another thread. */
static const char *_Atomic inside[THREADS];
static _Atomic unsigned thread_count;
static _Atomic unsigned counting; /* the thread that does; 0: nobody */
static _Atomic unsigned capturer; /* the thread that has captured first */
static _Atomic bool several_captured;
static _Thread_local unsigned own, depth;
static void (*say_line)(const char *what);

static void crash(const char *what, const char *symbol)
{
    char line[160];
    (void)snprintf(line, sizeof line, "crash: %s %s", symbol, what);
    say_line(line);
    abort();
}

/* From 1. */
static unsigned number(void)
{
    if (own == 0) {
        own = atomic_fetch_add(&thread_count, 1) + 1;
        if (own >= THREADS) {
            crash("too many threads for the stand-in", "");
        }
    }
    return own;
}

static bool is_borne(const char *symbol)
{
    for (size_t i = 0; i < sizeof borne / sizeof borne[0]; i++) {
        if (strncmp(symbol, borne[i], strlen(borne[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void note_capture(const char *symbol)
{
    unsigned nobody = 0;
    if (strncmp(symbol, "cuStreamBeginCapture", strlen("cuStreamBeginCapture")) == 0 &&
        !atomic_compare_exchange_strong(&capturer, &nobody, number()) && nobody != number()) {
        atomic_store(&several_captured, true);
    }
}

/* Each side says where it is before it looks at the other. */
static void call_begins(const char *symbol)
{
    if (is_borne(symbol)) {
        return;
    }
    note_capture(symbol);
    atomic_store(&inside[number()], symbol);
    unsigned counter = atomic_load(&counting);
    if (counter != 0 && counter != number()) {
        crash("by another thread during counting", symbol);
    }
}

static void watch(const struct simgpu_call *call)
{
    if (call->result == NULL && depth++ == 0) {
        call_begins(call->symbol);
    } else if (call->result != NULL && depth != 0 && --depth == 0) {
        atomic_store(&inside[number()], NULL);
    }
}

void inside_start(void (*say)(const char *what))
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver != NULL ? dlsym(driver, SIMGPU_WATCH_SYMBOL) : NULL;
    simgpu_watch_function start;
    memcpy(&start, &found, sizeof start);
    say_line = say;
    if (found != NULL) {
        start(watch);
    }
}

void inside_counting_begins(void)
{
    atomic_store(&counting, number());
    if (several_captured || (atomic_load(&capturer) != 0 && atomic_load(&capturer) != number())) {
        crash("by another thread before counting", "cuStreamBeginCapture");
    }
    for (unsigned i = 1; i <= atomic_load(&thread_count) && i < THREADS; i++) {
        const char *symbol = atomic_load(&inside[i]);
        if (i != number() && symbol != NULL) {
            crash("of another thread under way when counting began", symbol);
        }
    }
}

void inside_counting_ended(void)
{
    atomic_store(&counting, 0);
}
