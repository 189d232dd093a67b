/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that copy rows and pieces, look at what is there, and make other calls, one that makes and destroys streams, and the thread that issues
 * batches in time, for ThreadSanitizer.
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
bool gmt_contexts_is_created(CUcontext context)
{
    return context == NULL;
}
static void *calls[GMT_HOOK_COUNT]; /* of the program, in place of the driver's */
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
static CUresult ask_several(unsigned count, CUpointer_attribute *which, void **values,
                            CUdeviceptr address)
{
    for (unsigned i = 0; i < count; i++) {
        if (ask(values[i], which[i], address) != CUDA_SUCCESS) {
            *(unsigned *)values[i] = 0;
        }
    }
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

/* Streams are numbers. One of 32 has work until it is destroyed, which then is done when it is asked for the third time. */
static _Atomic uintptr_t streams_made, events_made;
static _Atomic int events_asked;

static CUresult create_stream(CUstream *stream, unsigned flags)
{
    (void)flags;
    *stream = (CUstream)(atomic_fetch_add(&streams_made, 1) + 64);
    return CUDA_SUCCESS;
}
static CUresult destroy_stream(CUstream stream)
{
    return stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
static CUresult query_stream(CUstream stream)
{
    return (uintptr_t)stream % 32 == 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
static CUresult create_event(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = (CUevent)(atomic_fetch_add(&events_made, 1) + 16);
    return CUDA_SUCCESS;
}
static CUresult record_event(CUevent event, CUstream stream)
{
    return event != NULL && stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
static CUresult query_event(CUevent event)
{
    (void)event;
    return atomic_fetch_add(&events_asked, 1) % 3 == 2 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
static CUresult destroy_event(CUevent event)
{
    (void)event;
    atomic_fetch_sub(&events_made, 1);
    return CUDA_SUCCESS;
}
void gmt_apply_replace(enum gmt_hook_id id, void *function, void **before)
{
    CUresult (*create)(CUstream *, unsigned) = create_stream;
    CUresult (*destroy)(CUstream) = destroy_stream;
    calls[id] = function;
    memcpy(before, id == GMT_HOOK_cuStreamCreate ? (void *)&create : (void *)&destroy,
           sizeof(*before));
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

/* It makes and destroys streams until all others have ended. */
static _Atomic bool may_end;

static void *make_streams(void *unused)
{
    CUresult (*create)(CUstream *, unsigned);
    CUresult (*destroy)(CUstream);
    CUstream made[8] = {NULL};
    memcpy(&create, &calls[GMT_HOOK_cuStreamCreate], sizeof create);
    memcpy(&destroy, &calls[GMT_HOOK_cuStreamDestroy_v2], sizeof destroy);
    is_client = 1;
    for (unsigned i = 0; !atomic_load(&may_end); i++) {
        if (made[i % 8] != NULL) {
            make_other_call();
            (void)destroy(made[i % 8]);
        }
        make_other_call();
        (void)create(&made[i % 8], CU_STREAM_NON_BLOCKING);
        usleep(500);
    }
    for (unsigned i = 0; i < 8; i++) {
        (void)(made[i] != NULL && destroy(made[i]));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS], maker;
    gmt_apply_driver.cuCtxGetCurrent = get_current;
    gmt_apply_driver.cuCtxPushCurrent_v2 = push;
    gmt_apply_driver.cuCtxPopCurrent_v2 = pop;
    gmt_apply_driver.cuCtxGetDevice = get_device;
    gmt_apply_driver.cuThreadExchangeStreamCaptureMode = exchange;
    gmt_apply_driver.cuPointerGetAttribute = ask;
    gmt_apply_driver.cuPointerGetAttributes = ask_several;
    gmt_apply_driver.cuMemGetAddressRange_v2 = get_range;
    gmt_apply_driver.cuMemcpyHtoDAsync_v2 = copy_1d;
    gmt_apply_driver.cuMemcpy2DAsync_v2 = copy_2d;
    gmt_apply_driver.cuStreamQuery = query_stream;
    gmt_apply_driver.cuStreamIsCapturing = is_capturing;
    gmt_apply_driver.cuEventCreate = create_event;
    gmt_apply_driver.cuEventRecord = record_event;
    gmt_apply_driver.cuEventQuery = query_event;
    gmt_apply_driver.cuEventDestroy_v2 = destroy_event;
    gmt_apply_on[GMT_FIX_ROWS_IN_ONE] = gmt_apply_on[GMT_FIX_GATHERED_COPIES] = true;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_most_bytes] = 4096;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_batch_bytes] = 65536;
    gmt_apply_plan.values[GMT_FIX_ROWS_IN_ONE_most_us] = 50;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_most_bytes] = 4096;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_batch_bytes] = 1024;
    gmt_apply_plan.values[GMT_FIX_GATHERED_COPIES_most_us] = 50;
    gmt_gather_start(NULL);
    if (pthread_create(&maker, NULL, make_streams, NULL) != 0) {
        return 1;
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, act, (void *)i) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    atomic_store(&may_end, true);
    (void)pthread_join(maker, NULL);
    printf("gather_race: %ld copies held back, %ld issued in time, %lu streams, %d failures\n",
           held_back, in_time, (unsigned long)streams_made, failures);
    return failures == 0 && held_back != 0 && in_time != 0 && events_asked != 0 ? 0 : 1;
}
