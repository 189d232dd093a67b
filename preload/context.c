/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, devices and streams of the program, as ids in the trace. */
#include "preload/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "preload/alloc.h"
#include "preload/device.h"
#include "preload/graph.h"
#include "preload/hook.h"
#include "preload/kernels.h"
#include "preload/resolve.h"
#include "preload/start.h"

#define MAX_CONTEXTS 256u
#define STREAM_SLOTS 16384u
#define GONE UINT64_MAX

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    CUcontext handle;     /* NULL once it is gone */
} contexts[MAX_CONTEXTS]; /* index + 1 = id */
static unsigned context_count;
static _Atomic unsigned generation = 1; /* changes when a context is forgotten */

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    CUcontext handle;
    unsigned generation;
    uint16_t id;
} last;

/* Streams seen: mixed key of (context id, handle, thread for per-thread streams). */
static _Atomic uint64_t streams[STREAM_SLOTS];
static unsigned stream_count;
static _Atomic unsigned stream_generation = 1; /* changes when a stream is forgotten */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint64_t key;
    unsigned generation;
} last_stream;

_Atomic int gmt_captures;

static uint16_t find_or_add(CUcontext handle)
{
    pthread_mutex_lock(&mutex);
    unsigned id = context_count;
    while (id > 0 && contexts[id - 1].handle != handle) {
        id--;
    }
    bool is_new = id == 0 && context_count < MAX_CONTEXTS;
    if (is_new) {
        contexts[context_count++].handle = handle;
        id = context_count;
    }
    pthread_mutex_unlock(&mutex);
    if (id == 0) {
        gmt_spool_loss("context not kept", "more contexts than the table holds", 1);
    }
    if (is_new) {
        CUdevice device = 0;
        if (gmt_driver.cuCtxGetDevice == NULL ||
            gmt_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS) {
            device = 0;
        }
        gmt_device_note(device);
        struct gmt_context record = {
            .handle = (uint64_t)(uintptr_t)handle, .id = id, .device = (uint32_t)device};
        (void)gmt_spool_side(GMT_REC_CONTEXT, &record, sizeof(record), NULL, 0);
        if (gmt_collector != NULL) {
            gmt_collector->context_seen(handle, id, (uint32_t)device);
        }
    }
    return (uint16_t)id;
}

uint16_t gmt_context_current(CUcontext *handle)
{
    CUcontext current = NULL;
    if (gmt_driver.cuCtxGetCurrent == NULL ||
        gmt_driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS) {
        current = NULL;
    }
    if (handle != NULL) {
        *handle = current;
    }
    if (current == NULL) {
        return 0;
    }
    unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (__builtin_expect(last.handle != current || last.generation != now, 0)) {
        last.id = find_or_add(current);
        last.handle = current;
        last.generation = now;
    }
    return last.id;
}

CUcontext gmt_context_primary(CUdevice device)
{
    unsigned flags;
    int active = 0;
    CUcontext primary = NULL;
    if (gmt_driver.cuDevicePrimaryCtxGetState == NULL ||
        gmt_driver.cuDevicePrimaryCtxRetain == NULL ||
        gmt_driver.cuDevicePrimaryCtxRelease_v2 == NULL ||
        gmt_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS ||
        active == 0 || gmt_driver.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) {
        return NULL;
    }
    (void)gmt_driver.cuDevicePrimaryCtxRelease_v2(device);
    return primary;
}

void gmt_context_going(CUcontext handle)
{
    for (unsigned i = 0; gmt_collector != NULL && i < context_count; i++) {
        if (handle != NULL && contexts[i].handle == handle) {
            gmt_collector->context_gone(handle);
        }
    }
}

void gmt_context_gone(const struct gmt_site *site, CUcontext handle)
{
    if (site->result != CUDA_SUCCESS) {
        return;
    }
    for (unsigned i = 0; handle != NULL && i < context_count; i++) {
        struct gmt_allocation gone;
        if (contexts[i].handle != handle) {
            continue;
        }
        pthread_mutex_lock(&mutex);
        contexts[i].handle = NULL;
        generation++;
        pthread_mutex_unlock(&mutex);
        while (gmt_allocmap_take_from((uint16_t)(i + 1), &gone)) {
            gmt_alloc_record_free(site, true, &gone);
        }
    }
    gmt_kernel_modules_changed();
}

void gmt_context_released(const struct gmt_site *site, CUcontext primary, CUdevice device)
{
    unsigned flags;
    int active = 1;
    if (primary != NULL && site->result == CUDA_SUCCESS &&
        gmt_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS &&
        active == 0) {
        gmt_context_gone(site, primary);
    }
}

/* ---- streams -------------------------------------------------------------------------------- */

static uint64_t stream_key(uint16_t context_id, CUstream stream, bool per_thread)
{
    uint64_t key = (uint64_t)(uintptr_t)stream * UINT64_C(0x9e3779b97f4a7c15);
    key ^= (uint64_t)context_id << 48;
    if (per_thread) {
        key ^= (uint64_t)gmt_spool_thread_id() * UINT64_C(0xc2b2ae3d27d4eb4f);
    }
    return key == 0 || key == GONE ? 1 : key;
}

static bool stream_is_known(uint64_t key)
{
    for (unsigned at = (unsigned)(key >> 40) % STREAM_SLOTS;; at = (at + 1) % STREAM_SLOTS) {
        uint64_t seen = atomic_load_explicit(&streams[at], memory_order_relaxed);
        if (seen == key || seen == 0) {
            return seen == key;
        }
    }
}

static bool stream_add(uint64_t key)
{
    bool added = false;
    pthread_mutex_lock(&mutex);
    if (stream_count < STREAM_SLOTS / 2) {
        unsigned at = (unsigned)(key >> 40) % STREAM_SLOTS;
        while (streams[at] != 0 && streams[at] != GONE && streams[at] != key) {
            at = (at + 1) % STREAM_SLOTS;
        }
        added = streams[at] != key;
        stream_count += streams[at] == 0;
        atomic_store_explicit(&streams[at], key, memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
    return added;
}

void gmt_stream_note(CUcontext context, uint16_t context_id, CUstream stream, bool per_thread)
{
    bool own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == NULL);
    CUstream normal = own ? CU_STREAM_PER_THREAD : stream == CU_STREAM_LEGACY ? NULL : stream;
    uint64_t key = stream_key(context_id, normal, own);
    unsigned now = atomic_load_explicit(&stream_generation, memory_order_relaxed);
    if (__builtin_expect(
            (key == last_stream.key && now == last_stream.generation) || context_id == 0, 1)) {
        return;
    }
    last_stream.key = key;
    last_stream.generation = now;
    if (stream_is_known(key) || !stream_add(key)) {
        return;
    }
    struct gmt_stream record = {
        .handle = (uint64_t)(uintptr_t)normal,
        .context = context_id,
        .thread = own ? gmt_spool_thread_id() : 0,
    };
    /* Asking a stream that is being captured for its properties ends the capture with an error. */
    bool may_ask = normal != NULL && atomic_load_explicit(&gmt_captures, memory_order_relaxed) == 0;
    unsigned flags;
    int priority;
    if (may_ask && gmt_driver.cuStreamGetFlags != NULL &&
        gmt_driver.cuStreamGetFlags(normal, &flags) == CUDA_SUCCESS) {
        record.flags = (uint16_t)flags;
    }
    if (may_ask && gmt_driver.cuStreamGetPriority != NULL &&
        gmt_driver.cuStreamGetPriority(normal, &priority) == CUDA_SUCCESS) {
        record.priority = priority;
        record.has_priority = 1;
    }
    if (gmt_collector != NULL &&
        gmt_collector->stream_id(context, normal, own, &record.cupti_id) == 0) {
        record.has_cupti_id = 1;
    }
    (void)gmt_spool_side(GMT_REC_STREAM, &record, sizeof(record), NULL, 0);
}

void gmt_stream_forget(uint16_t context_id, CUstream stream)
{
    uint64_t key = stream_key(context_id, stream, false);
    pthread_mutex_lock(&mutex);
    for (unsigned at = (unsigned)(key >> 40) % STREAM_SLOTS; streams[at] != 0;
         at = (at + 1) % STREAM_SLOTS) {
        if (streams[at] == key) {
            atomic_store_explicit(&streams[at], GONE, memory_order_relaxed);
            break;
        }
    }
    stream_generation++;
    pthread_mutex_unlock(&mutex);
}

/* ---- captures ------------------------------------------------------------------------------- */

void gmt_capture_began(void)
{
    atomic_fetch_add(&gmt_captures, 1);
}

void gmt_capture_ended(void)
{
    int count = gmt_captures;
    while (count > 0 && !atomic_compare_exchange_weak(&gmt_captures, &count, count - 1)) {
    }
}

static CUstreamCaptureStatus capture_status(CUstream stream, bool per_thread)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (atomic_load_explicit(&gmt_captures, memory_order_relaxed) == 0) {
        return status;
    }
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) = per_thread
                                                             ? gmt_driver.cuStreamIsCapturing_ptsz
                                                             : gmt_driver.cuStreamIsCapturing;
    if (ask == NULL || ask(stream, &status) != CUDA_SUCCESS) {
        status = CU_STREAM_CAPTURE_STATUS_NONE;
    }
    return status;
}

bool gmt_stream_is_capturing(CUstream stream, bool per_thread)
{
    return capture_status(stream, per_thread) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

bool gmt_stream_is_in_capture(CUstream stream, bool per_thread)
{
    return capture_status(stream, per_thread) != CU_STREAM_CAPTURE_STATUS_NONE;
}

void gmt_context_reset(void)
{
    pthread_mutex_init(&mutex, NULL);
    context_count = 0;
    generation++;
    stream_count = 0;
    memset((void *)streams, 0, sizeof(streams)); // NOLINT
    stream_generation++;
    gmt_captures = 0;
    gmt_graph_reset();
    gmt_device_reset();
}
