/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, devices and streams of the program, as ids in the trace. */
#include "preload/state/context.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"
#include "libtrace/threads/mutex.h"
#include "preload/driver/resolve.h"
#include "preload/session/session.h"
#include "preload/state/device.h"

#define MAX_CONTEXTS 4096u /* test programs reset their device after each test */
#define STREAM_SLOTS 16384u
#define GONE UINT64_MAX
#define ASKING_NS UINT64_C(1000000000)
#define MOST_ASKED 64u /* contexts that are asked whether they are idle */

static struct gmt_mutex mutex = GMT_MUTEX(CONTEXTS);

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

/* Streams seen: the mixed handle, for default streams mixed with the context's id and, for those of threads,
 * the thread. A context's id is there before the key is. */
static _Atomic uint64_t streams[STREAM_SLOTS];
static _Atomic uint16_t stream_contexts[STREAM_SLOTS];
static CUstream stream_handles[STREAM_SLOTS];
static unsigned stream_count;
static _Atomic unsigned asking; /* threads that go through the streams (gmt_streams_idle) */
static _Atomic unsigned stream_generation = 1; /* changes when a stream is forgotten */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint64_t key;
    unsigned generation;
    uint16_t context;
} last_stream;

_Atomic int gmt_captures;
/* The thread that has begun captures, by its number, which no later thread gets; SEVERAL, or 0: none. */
#define SEVERAL UINT32_MAX
static _Atomic uint32_t capturer;

static uint16_t find(CUcontext handle)
{
    unsigned id = context_count;
    while (id > 0 && contexts[id - 1].handle != handle) {
        id--;
    }
    return (uint16_t)id;
}

/* False: the context has been destroyed. That of a thread may be such a one: a primary context stays current
 * after its last release and after a reset, and cuCtxGetDevice goes on answering. */
static bool is_alive(CUcontext handle)
{
    unsigned version;
    return gmt_driver.cuCtxGetApiVersion == NULL ||
           gmt_driver.cuCtxGetApiVersion(handle, &version) != CUDA_ERROR_INVALID_CONTEXT;
}

/* `handle` is the current context. 0: it has been destroyed, or there are too many. */
static uint16_t find_or_add(CUcontext handle)
{
    gmt_mutex_lock(&mutex);
    unsigned id = find(handle);
    gmt_mutex_unlock(&mutex);
    if (id != 0 || !is_alive(handle)) {
        return (uint16_t)id;
    }
    gmt_mutex_lock(&mutex);
    id = find(handle); /* another thread may have been here */
    bool is_new = id == 0 && context_count < MAX_CONTEXTS;
    if (is_new) {
        contexts[context_count++].handle = handle;
        id = context_count;
    }
    gmt_mutex_unlock(&mutex);
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
        last.handle = last.id != 0 ? current : NULL; /* one that is gone may come back */
        last.generation = now;
    }
    return last.id;
}

unsigned gmt_context_live(void)
{
    unsigned live = 0;
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < context_count; i++) {
        live += contexts[i].handle != NULL;
    }
    gmt_mutex_unlock(&mutex);
    return live;
}

bool gmt_context_several(void)
{
    return __atomic_load_n(&context_count, __ATOMIC_RELAXED) > 1;
}

/* What `ask` says in that context; `otherwise` where it cannot be entered. */
static bool ask_in(CUcontext context, uint16_t id, bool (*ask)(uint16_t id), bool otherwise)
{
    CUcontext own;
    if (gmt_driver.cuCtxPushCurrent_v2 == NULL || gmt_driver.cuCtxPopCurrent_v2 == NULL ||
        gmt_driver.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS) {
        return otherwise;
    }
    bool says = ask(id);
    (void)gmt_driver.cuCtxPopCurrent_v2(&own);
    return says;
}

/* A context that was destroyed where no hook saw it has nothing under way. False: `ask` says no in one, or it cannot be
 * entered. */
static bool all_others(bool (*ask)(uint16_t id))
{
    CUcontext current = NULL, others[MOST_ASKED];
    uint16_t ids[MOST_ASKED];
    unsigned count = 0;
    bool all = gmt_driver.cuCtxGetCurrent != NULL &&
               gmt_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS;
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < context_count && all; i++) {
        if (contexts[i].handle != NULL && contexts[i].handle != current) {
            all = count < MOST_ASKED;
            if (all) {
                others[count] = contexts[i].handle;
                ids[count++] = (uint16_t)(i + 1);
            }
        }
    }
    gmt_mutex_unlock(&mutex);
    for (unsigned i = 0; i < count && all; i++) {
        all = !is_alive(others[i]) || ask_in(others[i], ids[i], ask, false);
    }
    return all;
}

static bool wait_for_all(uint16_t id)
{
    (void)id;
    return gmt_driver.cuCtxSynchronize != NULL && gmt_driver.cuCtxSynchronize() == CUDA_SUCCESS;
}

bool gmt_contexts_idle(void)
{
    return gmt_streams_idle(gmt_context_current(NULL)) &&
           (!gmt_context_several() || all_others(gmt_streams_idle));
}

bool gmt_context_idle(CUcontext context)
{
    gmt_mutex_lock(&mutex);
    uint16_t id = find(context);
    gmt_mutex_unlock(&mutex);
    /* Nobody can be asked where the driver has ended. */
    return id == 0 || !is_alive(context) || ask_in(context, id, gmt_streams_idle, true);
}

bool gmt_contexts_wait_for_others(void)
{
    return !gmt_context_several() || all_others(wait_for_all);
}

/* Locked. They went with their context. */
static void forget_streams_of(uint16_t context_id)
{
    for (unsigned at = 0; at < STREAM_SLOTS; at++) {
        if (streams[at] != 0 && stream_contexts[at] == context_id) {
            atomic_store_explicit(&streams[at], GONE, memory_order_relaxed);
        }
    }
    stream_generation++;
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

void gmt_context_releasing(CUcontext handle)
{
    for (unsigned i = 0; gmt_collector != NULL && i < context_count; i++) {
        if (handle != NULL && contexts[i].handle == handle) {
            gmt_collector->context_gone(handle);
        }
    }
}

uint16_t gmt_context_forget(CUcontext handle)
{
    unsigned at = 0;
    while (at < context_count && (handle == NULL || contexts[at].handle != handle)) {
        at++;
    }
    if (at < context_count) {
        gmt_mutex_lock(&mutex);
        contexts[at].handle = NULL;
        generation++;
        forget_streams_of((uint16_t)(at + 1));
        gmt_mutex_unlock(&mutex);
        return (uint16_t)(at + 1);
    }
    return 0;
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

static unsigned stream_slot(uint64_t key)
{
    return (unsigned)(key >> 40) % STREAM_SLOTS;
}

/* Its slot, STREAM_SLOTS if there is none. */
static unsigned stream_find(uint64_t key)
{
    for (unsigned at = stream_slot(key);; at = (at + 1) % STREAM_SLOTS) {
        uint64_t seen = atomic_load_explicit(&streams[at], memory_order_acquire);
        if (seen == key || seen == 0) {
            return seen == key ? at : STREAM_SLOTS;
        }
    }
}

static bool stream_add(uint64_t key, uint16_t context_id, CUstream stream)
{
    bool added = false;
    gmt_mutex_lock(&mutex);
    if (stream_count < STREAM_SLOTS / 2) {
        unsigned at = stream_slot(key);
        while (streams[at] != 0 && streams[at] != GONE && streams[at] != key) {
            at = (at + 1) % STREAM_SLOTS;
        }
        added = streams[at] != key;
        stream_count += streams[at] == 0;
        stream_contexts[at] = context_id;
        stream_handles[at] = stream;
        atomic_store_explicit(&streams[at], key, memory_order_release);
    }
    gmt_mutex_unlock(&mutex);
    return added;
}

/* Asking a stream that is being captured for its properties ends the capture with an error. */
static bool may_ask(CUstream stream)
{
    return stream != NULL && atomic_load_explicit(&gmt_captures, memory_order_relaxed) == 0;
}

/* The context that the stream was made in if it is a known one, else the current one stays. */
static void find_own_context(CUstream stream, CUcontext *context, uint16_t *context_id)
{
    CUcontext own = NULL;
    if (!may_ask(stream) || stream == CU_STREAM_PER_THREAD || gmt_driver.cuStreamGetCtx == NULL ||
        gmt_driver.cuStreamGetCtx(stream, &own) != CUDA_SUCCESS || own == NULL || own == *context) {
        return;
    }
    gmt_mutex_lock(&mutex);
    for (unsigned i = 0; i < context_count; i++) {
        if (contexts[i].handle == own) {
            *context = own;
            *context_id = (uint16_t)(i + 1);
        }
    }
    gmt_mutex_unlock(&mutex);
}

static void describe_stream(CUcontext context, uint16_t context_id, CUstream stream, bool own)
{
    struct gmt_stream record = {
        .handle = (uint64_t)(uintptr_t)stream,
        .context = context_id,
        .thread = own ? gmt_spool_thread_id() : 0,
    };
    unsigned flags;
    int priority;
    if (may_ask(stream) && gmt_driver.cuStreamGetFlags != NULL &&
        gmt_driver.cuStreamGetFlags(stream, &flags) == CUDA_SUCCESS) {
        record.flags = (uint16_t)flags;
    }
    if (may_ask(stream) && gmt_driver.cuStreamGetPriority != NULL &&
        gmt_driver.cuStreamGetPriority(stream, &priority) == CUDA_SUCCESS) {
        record.priority = priority;
        record.has_priority = 1;
    }
    if (gmt_collector != NULL &&
        gmt_collector->stream_id(context, stream, own, &record.cupti_id) == 0) {
        record.has_cupti_id = 1;
    }
    (void)gmt_spool_side(GMT_REC_STREAM, &record, sizeof(record), NULL, 0);
}

uint16_t gmt_stream_note(CUcontext context, uint16_t context_id, CUstream stream, bool per_thread)
{
    bool own = stream == CU_STREAM_PER_THREAD || (per_thread && stream == NULL);
    CUstream normal = own ? CU_STREAM_PER_THREAD : stream == CU_STREAM_LEGACY ? NULL : stream;
    bool is_default = own || normal == NULL;
    uint64_t key = stream_key(is_default ? context_id : 0, normal, own);
    unsigned now = atomic_load_explicit(&stream_generation, memory_order_relaxed);
    if (__builtin_expect(key == last_stream.key && now == last_stream.generation, 1)) {
        return last_stream.context;
    }
    if (context_id == 0) {
        return 0;
    }
    unsigned at = stream_find(key);
    if (at != STREAM_SLOTS) {
        context_id = stream_contexts[at];
    } else {
        find_own_context(normal, &context, &context_id);
        if (stream_add(key, context_id, normal)) {
            describe_stream(context, context_id, normal, own);
        }
    }
    last_stream.key = key;
    last_stream.generation = now;
    last_stream.context = context_id;
    return context_id;
}

bool gmt_streams_idle(uint16_t context_id)
{
    bool idle = gmt_driver.cuStreamQuery != NULL;
    atomic_fetch_add(&asking, 1);
    atomic_thread_fence(memory_order_seq_cst);
    for (unsigned at = 0; at < STREAM_SLOTS && idle; at++) {
        uint64_t key = atomic_load_explicit(&streams[at], memory_order_acquire);
        idle = key == 0 || key == GONE || stream_contexts[at] != context_id ||
               gmt_driver.cuStreamQuery(stream_handles[at]) != CUDA_ERROR_NOT_READY;
    }
    atomic_fetch_sub(&asking, 1);
    return idle;
}

/* Those that found a stream before it was taken out of the table are done with it. */
static void wait_for_asking(void)
{
    uint64_t began_ns = 0;
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load(&asking) != 0) {
        uint64_t now_ns = gmt_clock_monotonic_ns();
        began_ns = began_ns == 0 ? now_ns : began_ns;
        if (now_ns - began_ns > ASKING_NS) {
            return; /* one of them may wait for what this thread does next */
        }
        (void)sched_yield();
    }
}

uint16_t gmt_stream_forget(CUstream stream)
{
    uint16_t context_id = 0;
    gmt_mutex_lock(&mutex);
    unsigned at = stream_find(stream_key(0, stream, false));
    if (at != STREAM_SLOTS) {
        context_id = stream_contexts[at];
        atomic_store_explicit(&streams[at], GONE, memory_order_relaxed);
    }
    stream_generation++;
    gmt_mutex_unlock(&mutex);
    wait_for_asking();
    return context_id != 0 ? context_id : gmt_context_current(NULL);
}

/* ---- captures ------------------------------------------------------------------------------- */

void gmt_capture_began(void)
{
    uint32_t nobody = 0, own = gmt_spool_thread_id();
    if (!atomic_compare_exchange_strong(&capturer, &nobody, own) && nobody != own) {
        atomic_store(&capturer, SEVERAL);
    }
    atomic_fetch_add(&gmt_captures, 1);
}

bool gmt_captures_of_others(void)
{
    uint32_t known = atomic_load(&capturer);
    return known != 0 && known != gmt_spool_thread_id();
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
    gmt_mutex_renew(&mutex);
    context_count = 0;
    generation++;
    stream_count = 0;
    memset((void *)streams, 0, sizeof(streams)); // NOLINT
    stream_generation++;
    gmt_captures = 0;
    atomic_store(&capturer, 0);
    atomic_store(&asking, 0);
    gmt_device_reset();
}
