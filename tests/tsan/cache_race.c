/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that allocate and free memory of the device and page-locked memory, one that asks how much is free, one that names addresses and
 * wants room, and captures that begin and end, for ThreadSanitizer. The device is memory: who has a block writes to it all the time, and
 * nobody else has it meanwhile; the driver frees each allocation once.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/apply/apply.h"
#include "preload/apply/cache.h"
#include "preload/apply/state.h"

enum { THREADS = 3, ROUNDS = 4000, BLOCKS = 256, PART = 256, SIZES = 3 };

static uint8_t memory[BLOCKS * PART];
static struct {
    _Atomic uint64_t id; /* 0: free */
    _Atomic size_t bytes;
    _Atomic int owned; /* by the program */
} blocks[BLOCKS];
static _Atomic uint64_t ids;
static _Atomic int failures;
static _Atomic bool may_end;
static _Atomic long handed_out, given_back;

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
    atomic_fetch_add(&handed_out, 1);
}
void gmt_apply_refuse(enum gmt_fix fix, enum gmt_refusal reason, uint64_t bytes)
{
    (void)fix, (void)reason, (void)bytes;
}
bool gmt_contexts_is_only(CUcontext context)
{
    return context != NULL;
}

/* ---- the driver --------------------------------------------------------------------------------- */

static unsigned number_of(uint64_t address)
{
    return (unsigned)((address - (uint64_t)(uintptr_t)memory) / PART);
}

static CUresult get_current(CUcontext *context)
{
    *context = (CUcontext)(uintptr_t)16;
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
static CUresult synchronize(void)
{
    return CUDA_SUCCESS;
}
static CUresult exchange(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return CUDA_SUCCESS;
}
static CUresult create_event(CUevent *event, unsigned flags)
{
    *event = (CUevent)(uintptr_t)(16 + flags);
    return CUDA_SUCCESS;
}
static CUresult use_event(CUevent event)
{
    return event != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
static CUresult record(CUcontext context, CUevent event)
{
    return context != NULL && event != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
static CUresult ask(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    unsigned number = number_of(address);
    uint64_t start = (uint64_t)(uintptr_t)memory + (uint64_t)number * PART;
    if (number >= BLOCKS || blocks[number].id == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *(uint64_t *)value = attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID ? blocks[number].id
                         : attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
                             ? start
                             : blocks[number].bytes;
    return CUDA_SUCCESS;
}
static CUresult get_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    uint64_t start, size;
    if (ask(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        ask(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS) {
        return CUDA_ERROR_NOT_FOUND;
    }
    *base = start;
    if (bytes != NULL) {
        *bytes = size;
    }
    return CUDA_SUCCESS;
}
static CUresult get_flags(unsigned *flags, void *address)
{
    *flags = 0;
    return number_of((uint64_t)(uintptr_t)address) < BLOCKS ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}
static CUresult free_device(CUdeviceptr address)
{
    if (atomic_exchange(&blocks[number_of(address)].id, 0) == 0) {
        atomic_fetch_add(&failures, 1); /* freed twice */
    }
    atomic_fetch_add(&given_back, 1);
    return CUDA_SUCCESS;
}
static CUresult free_host(void *address)
{
    return free_device((CUdeviceptr)(uintptr_t)address);
}

/* A new allocation, in a place that nobody has. */
static CUresult pass_alloc(const struct gmt_cache_call *call)
{
    for (unsigned i = 0, at = (unsigned)atomic_load(&ids); i < BLOCKS; i++, at++) {
        uint64_t none = 0, id = atomic_fetch_add(&ids, 1) + 1;
        if (atomic_compare_exchange_strong(&blocks[at % BLOCKS].id, &none, id)) {
            blocks[at % BLOCKS].bytes = call->bytes;
            *call->out = (uint64_t)(uintptr_t)memory + (uint64_t)(at % BLOCKS) * PART;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}
static CUresult pass_free(const struct gmt_cache_call *call)
{
    return free_device(call->address);
}

/* ---- the program -------------------------------------------------------------------------------- */

static uint64_t allocate(enum gmt_block_kind kind, size_t bytes, int number)
{
    uint64_t address = 0;
    const struct gmt_cache_call call = {
        .kind = kind, .out = &address, .bytes = bytes, .flags = 0, .pass = pass_alloc};
    if (gmt_cache_allocate(&call) != CUDA_SUCCESS) {
        return 0;
    }
    if (atomic_exchange(&blocks[number_of(address)].owned, 1) != 0) {
        atomic_fetch_add(&failures, 1); /* somebody else has it */
    }
    memset((void *)(uintptr_t)address, number, bytes);
    return address;
}

static void release(enum gmt_block_kind kind, uint64_t address, size_t bytes, int number)
{
    const struct gmt_cache_call call = {.kind = kind, .address = address, .pass = pass_free};
    const uint8_t *own = (const uint8_t *)(uintptr_t)address;
    for (size_t i = 0; i < bytes; i++) {
        if (own[i] != number) {
            atomic_fetch_add(&failures, 1);
            break;
        }
    }
    atomic_store(&blocks[number_of(address)].owned, 0);
    if (gmt_cache_free(&call) != CUDA_SUCCESS) {
        atomic_fetch_add(&failures, 1);
    }
}

static void *act(void *argument)
{
    int number = (int)(uintptr_t)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        enum gmt_block_kind kind = round % 2 == 0 ? GMT_BLOCK_DEVICE : GMT_BLOCK_LOCKED;
        size_t bytes = 64 * (1 + (round / 2 + (unsigned)number) % SIZES);
        uint64_t first = allocate(kind, bytes, number), second = allocate(kind, bytes, number);
        if (first != 0) {
            release(kind, first, bytes, number);
        }
        if (second != 0) {
            release(kind, second, bytes, number);
        }
    }
    return NULL;
}

static void *look(void *unused)
{
    for (unsigned round = 0; !atomic_load(&may_end); round++) {
        (void)gmt_cache_give_back();
        if (round % 3 == 0) {
            (void)gmt_apply_make_room();
        }
        gmt_cache_named((uint64_t)(uintptr_t)&memory[round * 97 % sizeof(memory)]);
        gmt_cache_show((uint64_t)(uintptr_t)&memory[round * 61 % sizeof(memory)]);
        usleep(200);
    }
    return unused;
}

static void *capture(void *unused)
{
    while (!atomic_load(&may_end)) {
        atomic_fetch_add(&gmt_apply_captures, 1);
        gmt_cache_let_begin();
        usleep(20);
        atomic_fetch_sub(&gmt_apply_captures, 1);
        usleep(1000);
    }
    return unused;
}

static bool prepare(void)
{
    gmt_apply_driver.cuCtxGetCurrent = get_current;
    gmt_apply_driver.cuCtxPushCurrent_v2 = push;
    gmt_apply_driver.cuCtxPopCurrent_v2 = pop;
    gmt_apply_driver.cuCtxSynchronize = synchronize;
    gmt_apply_driver.cuCtxRecordEvent = record;
    gmt_apply_driver.cuThreadExchangeStreamCaptureMode = exchange;
    gmt_apply_driver.cuEventCreate = create_event;
    gmt_apply_driver.cuEventQuery = use_event;
    gmt_apply_driver.cuEventDestroy_v2 = use_event;
    gmt_apply_driver.cuPointerGetAttribute = ask;
    gmt_apply_driver.cuMemGetAddressRange_v2 = get_range;
    gmt_apply_driver.cuMemHostGetFlags = get_flags;
    gmt_apply_driver.cuMemFree_v2 = free_device;
    gmt_apply_driver.cuMemFreeHost = free_host;
    gmt_apply_on[GMT_FIX_BLOCK_CACHE] = gmt_apply_on[GMT_FIX_PINNED_CACHE] = true;
    gmt_apply_plan.values[GMT_FIX_BLOCK_CACHE_min_bytes] = 1;
    gmt_apply_plan.values[GMT_FIX_BLOCK_CACHE_kept_bytes] = 512;
    gmt_apply_plan.values[GMT_FIX_PINNED_CACHE_min_bytes] = 1;
    gmt_apply_plan.values[GMT_FIX_PINNED_CACHE_kept_bytes] = 4096;
    gmt_apply_plan.values[GMT_FIX_PINNED_CACHE_clear] = 1;
    return gmt_blocks_make();
}

int main(void)
{
    pthread_t threads[THREADS], others[2];
    if (!prepare() || pthread_create(&others[0], NULL, look, NULL) != 0 ||
        pthread_create(&others[1], NULL, capture, NULL) != 0) {
        return 1;
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, act, (void *)(i + 1)) != 0) {
            return 1;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    atomic_store(&may_end, true);
    for (unsigned i = 0; i < 2; i++) {
        (void)pthread_join(others[i], NULL);
    }
    printf("cache_race: %ld handed out again, %ld given back, %d failures\n", handed_out,
           given_back, failures);
    return failures == 0 && handed_out != 0 && given_back != 0 ? 0 : 1;
}
