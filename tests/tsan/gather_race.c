/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that copy rows and pieces, look at what is there, and make other calls, and the thread that issues batches in time, for ThreadSanitizer.
 *
 * The device is memory: whoever has made another call finds in its part of it what it has copied, whoever had that issued.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/apply/cache.h"
#include "preload/apply/every_call.h"
#include "preload/apply/gather.h"
#include "preload/apply/state.h"
#include "preload/driver/coverage.h"

enum { THREADS = 3, PART = 4096, ROUNDS = 3000, ROWS = 12, WIDTH = 48, STEP = 64 };

static uint8_t device[THREADS * PART];
static _Atomic int failures;
static _Atomic long held_back, in_time;
static _Thread_local int is_client;

struct gmt_apply_driver gmt_apply_driver;
struct gmt_plan gmt_apply_plan;
bool gmt_apply_on[GMT_FIX_COUNT];
_Atomic int gmt_apply_captures;

/* ---- what surrounds the fixes ------------------------------------------------------------------- */

bool gmt_apply_is_forked(void)
{
    return false;
}
void gmt_apply_count(enum gmt_fix fix, uint64_t bytes, uint64_t passed_bytes)
{
    (void)fix, (void)bytes, (void)passed_bytes;
    atomic_fetch_add(&held_back, 1);
}
void gmt_apply_refuse(enum gmt_fix fix, enum gmt_refusal reason, uint64_t bytes)
{
    (void)fix, (void)reason, (void)bytes;
}
bool gmt_contexts_is_only(CUcontext context)
{
    return context != NULL;
}
bool gmt_coverage_called(void)
{
    return false;
}
bool gmt_streams_are_idle(void)
{
    return true;
}
void gmt_streams_context_ends(CUcontext context, CUdevice of)
{
    (void)context, (void)of;
}
void gmt_streams_install(void)
{
}
static void *(*begin_call)(unsigned id);
_Atomic uint64_t gmt_every_call_count;
_Atomic uint32_t gmt_every_call_stops;
void gmt_every_call_install(void *(*begin)(unsigned id), bool (*leaves_out)(enum gmt_hook_id id))
{
    (void)leaves_out;
    begin_call = begin;
}
bool gmt_every_call_shares(unsigned id)
{
    return id == GMT_HOOK_cuIpcGetMemHandle;
}
void *gmt_every_call_real(unsigned id)
{
    return &device[id % sizeof(device)];
}

/* ---- the driver --------------------------------------------------------------------------------- */

static CUresult get_current(CUcontext *context)
{
    *context = is_client ? (CUcontext)(uintptr_t)16 : NULL;
    return CUDA_SUCCESS;
}
static CUresult push(CUcontext context)
{
    return context != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
static CUresult pop(CUcontext *context)
{
    *context = NULL;
    return CUDA_SUCCESS;
}
static CUresult get_device(CUdevice *found)
{
    *found = 0;
    return CUDA_SUCCESS;
}
static CUresult exchange(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return CUDA_SUCCESS;
}
static CUresult ask(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    if (address - (CUdeviceptr)(uintptr_t)device >= sizeof(device)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *(unsigned *)value = attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? CU_MEMORYTYPE_DEVICE : 0;
    return CUDA_SUCCESS;
}
static CUresult get_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    (void)address;
    *base = (CUdeviceptr)(uintptr_t)device;
    *bytes = sizeof(device);
    return CUDA_SUCCESS;
}
static CUresult copy_1d(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    (void)stream;
    atomic_fetch_add(&in_time, !is_client);
    memcpy((void *)(uintptr_t)dst, src, bytes);
    return CUDA_SUCCESS;
}
static CUresult copy_2d(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    for (size_t row = 0; row < copy->Height; row++) {
        (void)copy_1d(copy->dstDevice + row * copy->dstPitch,
                      (const uint8_t *)copy->srcHost + row * copy->srcPitch, copy->WidthInBytes,
                      stream);
    }
    return CUDA_SUCCESS;
}

/* ---- the program -------------------------------------------------------------------------------- */

static void upload(uint8_t *to, const uint8_t *from, size_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t count = 0;
    struct gmt_copy copy = {.dst = (uint64_t)(uintptr_t)to,
                            .src = (uint64_t)(uintptr_t)from,
                            .bytes = bytes,
                            .direction = GMT_COPY_UPLOAD,
                            .is_sync = true,
                            .stream = CU_STREAM_LEGACY};
    if (!gmt_gather_copy(&copy, &result, &count)) {
        memcpy(to, from, bytes);
        gmt_gather_passed(&copy, CUDA_SUCCESS, count);
    }
    if (result != CUDA_SUCCESS) {
        atomic_fetch_add(&failures, 1);
    }
}

/* As every_call.S does. */
static void make_other_call(void)
{
    atomic_fetch_add(&gmt_every_call_count, 1);
    if (atomic_load(&gmt_every_call_stops) != 0) {
        (void)begin_call(GMT_HOOK_cuLaunchKernel);
    }
}

static void *act(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    uint8_t *own = device + number * PART, model[PART] = {0}, row[WIDTH];
    is_client = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t first = round % (PART - ROWS * STEP);
        for (unsigned i = 0; i < ROWS; i++) {
            size_t bytes = round % 3 == 0 ? 1 + (round + i) % WIDTH : WIDTH;
            memset(row, (int)(round + i), bytes);
            upload(own + first + i * STEP, row, bytes);
            memcpy(model + first + i * STEP, row, bytes);
        }
        if (round % 5 == 0) {
            usleep(150);
        }
        if (round % 7 != 0) {
            make_other_call();
            if (memcmp(own, model, PART) != 0) {
                atomic_fetch_add(&failures, 1);
            }
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    gmt_apply_driver.cuCtxGetCurrent = get_current;
    gmt_apply_driver.cuCtxPushCurrent_v2 = push;
    gmt_apply_driver.cuCtxPopCurrent_v2 = pop;
    gmt_apply_driver.cuCtxGetDevice = get_device;
    gmt_apply_driver.cuThreadExchangeStreamCaptureMode = exchange;
    gmt_apply_driver.cuPointerGetAttribute = ask;
    gmt_apply_driver.cuMemGetAddressRange_v2 = get_range;
    gmt_apply_driver.cuMemcpyHtoDAsync_v2 = copy_1d;
    gmt_apply_driver.cuMemcpy2DAsync_v2 = copy_2d;
    gmt_apply_on[GMT_FIX_ROWS_IN_ONE] = gmt_apply_on[GMT_FIX_GATHERED_COPIES] = true;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_most_bytes] = 4096;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_batch_bytes] = 65536;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_most_us] = 50;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_most_bytes] = 4096;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_batch_bytes] = 1024;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_most_us] = 50;
    gmt_gather_start(NULL);
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, act, (void *)i) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    printf("gather_race: %ld copies held back, %ld issued in time, %d failures\n", held_back,
           in_time, failures);
    return failures == 0 && held_back != 0 && in_time != 0 ? 0 : 1;
}
