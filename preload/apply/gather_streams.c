/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that do not wait for the legacy one (gather.h), and calls that show device memory to others by a parameter. */
#include <cuda.h>
#include <stdatomic.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/gather.h"
#include "preload/apply/gather_batch.h"
#include "preload/apply/state.h"

#define MOST_STREAMS 16 /* each is asked: 0.3 us */

static void *real[GMT_HOOK_COUNT];

static struct {
    CUstream stream;
    CUcontext context;
    CUdevice device;
} streams[MOST_STREAMS];
static unsigned count;
static bool is_full; /* from the first one on that found no place, or was destroyed with work */

bool gmt_streams_are_idle(void)
{
    bool idle = !is_full;
    for (unsigned i = 0; i < count && idle; i++) {
        idle = gmt_apply_driver.cuStreamQuery(streams[i].stream) == CUDA_SUCCESS;
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
    if (count < MOST_STREAMS) {
        streams[count].stream = stream;
        streams[count].context = context;
        streams[count].device = device;
        count++;
    } else {
        is_full = true;
    }
    gmt_gather_release();
}

/* A stream that is destroyed does what it has to do, and cannot be asked any more. */
static bool is_done(CUstream stream)
{
    return atomic_load(&gmt_apply_captures) == 0 &&
           gmt_apply_driver.cuStreamQuery(stream) == CUDA_SUCCESS;
}

/* Before the handle is gone. */
static void forget(CUstream stream)
{
    if (gmt_apply_is_forked() || !gmt_gather_hold()) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (streams[i].stream == stream) {
            is_full = is_full || !is_done(stream);
            streams[i] = streams[--count];
            break;
        }
    }
    gmt_gather_release();
}

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
    REPLACED(cuStreamCreate);
    REPLACED(cuStreamCreateWithPriority);
    REPLACED(cuStreamDestroy);
    REPLACED(cuStreamDestroy_v2);
    REPLACED(cuPointerGetAttribute);
    REPLACED(cuPointerGetAttributes);
}
