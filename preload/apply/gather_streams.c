/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that do not wait for the legacy one (gather.h), and calls that show device memory to others by a parameter. */
#include <cuda.h>
#include <stddef.h>
#include <sys/mman.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/gather.h"
#include "preload/apply/gather_batch.h"
#include "preload/apply/state.h"

#define MOST_LISTED 16384u /* memory for so many is there, and used as they come */
#define MOST_ASKED 256u    /* each takes 0.3 us */

static void *real[GMT_HOOK_COUNT];

/* A stream, or (NULL) what one that was destroyed with work still has to do. */
struct listed_stream {
    CUstream stream;
    CUevent
        event; /* behind that work. NULL: nobody knows when it is done. It ends with the context. */
    CUcontext context;
    CUdevice device;
};
/* The one that had work when it was asked last is at the end, where asking begins. */
static struct listed_stream *streams;
static unsigned count;
static bool is_full; /* from the first one on that found no place */

/* Takes it from the list where it will never have work again. */
static bool is_idle(unsigned at)
{
    struct listed_stream *one = &streams[at];
    if (one->stream != NULL) {
        return gmt_apply_driver.cuStreamQuery(one->stream) == CUDA_SUCCESS;
    }
    if (one->event == NULL || gmt_apply_driver.cuEventQuery(one->event) != CUDA_SUCCESS) {
        return false;
    }
    (void)gmt_apply_driver.cuEventDestroy_v2(one->event);
    *one = streams[--count];
    return true;
}

static void drop_ended(void)
{
    for (unsigned i = count; i-- > 0;) {
        if (streams[i].stream == NULL) {
            (void)is_idle(i);
        }
    }
}

bool gmt_streams_are_idle(void)
{
    if (count > MOST_ASKED) {
        drop_ended();
    }
    bool idle = !is_full && count <= MOST_ASKED;
    for (unsigned i = count; i-- > 0 && idle;) {
        idle = is_idle(i);
        if (!idle) {
            struct listed_stream busy = streams[i];
            streams[i] = streams[count - 1];
            streams[count - 1] = busy;
        }
    }
    return idle;
}

static void note(CUstream stream, unsigned flags)
{
    CUcontext context = NULL;
    CUdevice device = -1;
    if ((flags & CU_STREAM_NON_BLOCKING) == 0 || gmt_apply_is_forked() || !gmt_gather_hold()) {
        return;
    }
    (void)gmt_apply_driver.cuCtxGetCurrent(&context);
    (void)gmt_apply_driver.cuCtxGetDevice(&device);
    if (streams != NULL && count < MOST_LISTED) {
        streams[count++] = (struct listed_stream){stream, NULL, context, device};
    } else {
        is_full = true;
    }
    gmt_gather_release();
}

/* An event behind all that the stream has to do, which goes on with that when it is destroyed. NULL: none could be had. */
static CUevent event_behind(const struct listed_stream *one)
{
    CUcontext popped;
    CUevent event = NULL;
    if (gmt_apply_driver.cuCtxPushCurrent_v2(one->context) != CUDA_SUCCESS) {
        return NULL;
    }
    if (gmt_apply_driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        event = NULL;
    } else if (gmt_apply_driver.cuEventRecord(event, one->stream) != CUDA_SUCCESS) {
        (void)gmt_apply_driver.cuEventDestroy_v2(event);
        event = NULL;
    }
    (void)gmt_apply_driver.cuCtxPopCurrent_v2(&popped);
    return event;
}

/* The stream is about to be destroyed, and cannot be asked any more. False: it has nothing to do. */
static bool leaves_work(struct listed_stream *one)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    bool leaves = true;
    if (gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS) {
        (void)gmt_apply_driver.cuStreamIsCapturing(one->stream, &status);
        if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
            leaves = gmt_apply_driver.cuStreamQuery(one->stream) != CUDA_SUCCESS;
            one->event = leaves ? event_behind(one) : NULL;
        }
        (void)gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode);
    }
    one->stream = NULL;
    return leaves && !GMT_APPLY_MUTANT(gather_ended);
}

/* Before the handle is gone. */
static void forget(CUstream stream)
{
    if (stream == NULL || gmt_apply_is_forked() || !gmt_gather_hold()) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (streams[i].stream == stream) {
            if (!leaves_work(&streams[i])) {
                streams[i] = streams[--count];
            }
            break;
        }
    }
    gmt_gather_release();
}

/* With its streams, and with the events of those that were destroyed before. */
void gmt_streams_context_ends(CUcontext context, CUdevice device)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        bool ends = context != NULL ? streams[i].context == context
                                    : streams[i].device == device &&
                                          !gmt_contexts_is_created(streams[i].context);
        if (!ends) {
            streams[left++] = streams[i];
        }
    }
    count = left;
}

/* ---- calls -------------------------------------------------------------------------------------- */

#define CREATE(SYMBOL, PARAMETERS, ARGUMENTS) \
    static CUresult streams_##SYMBOL PARAMETERS \
    { \
        CUresult result = ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
        if (result == CUDA_SUCCESS) { \
            note(*stream, flags); \
        } \
        return result; \
    }
#define DESTROY(SYMBOL) \
    static CUresult streams_##SYMBOL(CUstream stream) \
    { \
        forget(stream); \
        return ((CUresult(*)(CUstream))real[GMT_HOOK_##SYMBOL])(stream); \
    }
CREATE(cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags))
CREATE(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
       (stream, flags, priority))
DESTROY(cuStreamDestroy)
DESTROY(cuStreamDestroy_v2)

/* Its tokens let devices on the bus at the memory. */
static void ask(unsigned attribute_count, const CUpointer_attribute *attributes)
{
    for (unsigned i = 0; attributes != NULL && i < attribute_count; i++) {
        if (attributes[i] == CU_POINTER_ATTRIBUTE_P2P_TOKENS) {
            if (!gmt_apply_is_forked() && gmt_gather_hold()) {
                gmt_batch_share();
                gmt_gather_release();
            }
        }
    }
}

#define ASK(SYMBOL, PARAMETERS, ARGUMENTS, COUNT, ATTRIBUTES) \
    static CUresult streams_##SYMBOL PARAMETERS \
    { \
        ask(COUNT, ATTRIBUTES); \
        return ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
    }
ASK(cuPointerGetAttribute, (void *value, CUpointer_attribute attribute, CUdeviceptr address),
    (value, attribute, address), 1, &attribute)
ASK(cuPointerGetAttributes,
    (unsigned asked, CUpointer_attribute *attributes, void **values, CUdeviceptr address),
    (asked, attributes, values, address), asked, attributes)

#define REPLACED(SYMBOL) \
    gmt_apply_replace(GMT_HOOK_##SYMBOL, (void *)streams_##SYMBOL, &real[GMT_HOOK_##SYMBOL])

void gmt_streams_install(void)
{
    void *memory = mmap(NULL, MOST_LISTED * sizeof(*streams), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    streams = memory != MAP_FAILED ? memory : NULL;
    REPLACED(cuStreamCreate);
    REPLACED(cuStreamCreateWithPriority);
    REPLACED(cuStreamDestroy);
    REPLACED(cuStreamDestroy_v2);
    REPLACED(cuPointerGetAttribute);
    REPLACED(cuPointerGetAttributes);
}
