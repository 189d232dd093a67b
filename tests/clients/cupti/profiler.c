/* SPDX-License-Identifier: Apache-2.0 */
/* Device work of cupticlient, and the profiler that it has (profiler.h). */
#define _GNU_SOURCE
#include "profiler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES 8192u
#define BUFFERS 4096u
#define ELEMENTS 1024u

struct cupti_functions cupti;

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* What the profiler of the program saw. */
static uint8_t *_Atomic mine[BUFFERS];
static _Atomic unsigned foreign_buffers, foreign_records, strange_times;
_Atomic unsigned copies, sets, launches;
_Atomic bool profiling;
static _Atomic uint64_t began_ns;

static CUdeviceptr memory[3];
static CUfunction vector_add;

void need(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "cupticlient: %s\n", what);
        exit(4);
    }
}

#ifndef CUPTI_LINKED
/* CUPTI of CUDA 11.8 and 12.4 does not have these; only scenarios that measure ranges call them. */
static bool is_of_ranges(const char *name)
{
    return strncmp(name, "cuptiRangeProfiler", 18) == 0 ||
           strncmp(name, "cuptiProfilerHost", 17) == 0;
}
#endif

void load_cupti(void)
{
#ifdef CUPTI_LINKED
#define FUNCTION(name) cupti.name = name;
#include "functions.def"
#undef FUNCTION
#else
    const char *beside = getenv("CUPTICLIENT_BESIDE"), *wanted = getenv("CUPTICLIENT_CUPTI");
    need(beside == NULL || dlopen(beside, RTLD_NOW | RTLD_LOCAL) != NULL, "no CUPTI beside");
    wanted = wanted != NULL ? wanted : "libcupti.so.13";
    void *library = dlopen(wanted, RTLD_NOW | RTLD_LOCAL), *found;
    need(library != NULL, wanted);
#define FUNCTION(name) \
    found = dlsym(library, #name); \
    need(found != NULL || is_of_ranges(#name), #name); \
    memcpy(&cupti.name, &found, sizeof found);
#include "functions.def"
#undef FUNCTION
#endif
}

uint64_t realtime_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- device work -------------------------------------------------------------------------------- */

void start(void)
{
    CUmodule module;
    (void)client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&vector_add, module, "vector_add"));
    for (size_t i = 0; i < 3; i++) {
        CHECK(cu.cuMemAlloc(&memory[i], 16 * ELEMENTS * sizeof(float)));
    }
}

void launch(unsigned blocks)
{
    CHECK(client_vector_add(vector_add, memory[0], memory[1], memory[2], blocks * 256, NULL));
    cupti.standin_cupti_work(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "vector_add", blocks);
}

void launch_begun(unsigned blocks, bool enabled)
{
    CHECK(client_vector_add(vector_add, memory[0], memory[1], memory[2], blocks * 256, NULL));
    cupti.standin_cupti_begun(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "vector_add", blocks, enabled);
}

void work(unsigned times)
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

void CUPTIAPI give(uint8_t **buffer, size_t *bytes, size_t *max_records)
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

void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
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

void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                       const void *what)
{
    (void)data;
    (void)domain;
    (void)id;
    (void)what;
}

void said(const char *what, int result)
{
    if (result != 0) {
        printf("%s: %d\n", what, result);
    }
}

CUpti_SubscriberHandle subscriber;

void profile_on(void)
{
    began_ns = realtime_ns();
    profiling = true;
    SAY(cupti.cuptiSubscribe(&subscriber, callback, NULL));
    SAY(cupti.cuptiActivityRegisterCallbacks(give, take));
    for (size_t i = 0; i < KINDS; i++) {
        SAY(cupti.cuptiActivityEnable(kinds[i]));
    }
}

void profile_off(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        SAY(cupti.cuptiActivityDisable(kinds[i]));
    }
    SAY(cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    SAY(cupti.cuptiUnsubscribe(subscriber));
    profiling = false;
}

void report_strangers(void)
{
    printf("foreign buffers %u, foreign records %u, strange times %u\n", foreign_buffers,
           foreign_records, strange_times);
}

void report(const char *when)
{
    printf("%s: %u copies, %u memsets, %u kernels; ", when, copies, sets, launches);
    report_strangers();
}
