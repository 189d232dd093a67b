/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many contexts the process has: those that it has created, as its calls show, and primary ones, as the driver says. What a free waits
 * for in another context is not documented, so fixes that keep memory want only one.
 */
#include <stdatomic.h>

#include "preload/apply/cache.h"
#include "preload/apply/calls.h"
#include "preload/apply/state.h"

#define MOST_CREATED 16

static void *real[GMT_HOOK_COUNT];
static _Atomic(CUcontext) created[MOST_CREATED];
static _Atomic unsigned
    created_count; /* also those that found no place, which are never destroyed */

static void note(CUcontext context)
{
    CUcontext none = NULL;
    atomic_fetch_add(&created_count, 1);
    for (unsigned i = 0; context != NULL && i < MOST_CREATED; i++, none = NULL) {
        if (atomic_compare_exchange_strong(&created[i], &none, context)) {
            return;
        }
    }
}

void gmt_contexts_destroyed(CUcontext context)
{
    for (unsigned i = 0; context != NULL && i < MOST_CREATED; i++) {
        CUcontext expected = context;
        if (atomic_compare_exchange_strong(&created[i], &expected, NULL)) {
            atomic_fetch_sub(&created_count, 1);
            return;
        }
    }
}

static unsigned primary_count(void)
{
    int devices = 0;
    unsigned active_count = 0;
    if (gmt_apply_driver.cuDeviceGetCount == NULL || gmt_apply_driver.cuDeviceGet == NULL ||
        gmt_apply_driver.cuDeviceGetCount(&devices) != CUDA_SUCCESS) {
        return 2; /* not known */
    }
    for (int i = 0; i < devices; i++) {
        CUdevice device = 0;
        unsigned flags = 0;
        int active = 1;
        if (gmt_apply_driver.cuDeviceGet(&device, i) != CUDA_SUCCESS ||
            gmt_apply_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS) {
            return 2;
        }
        active_count += active != 0;
    }
    return active_count;
}

bool gmt_contexts_is_created(CUcontext context)
{
    bool is_created = false;
    for (unsigned i = 0; i < MOST_CREATED; i++) {
        is_created = is_created || atomic_load(&created[i]) == context;
    }
    return is_created;
}

bool gmt_contexts_is_only(CUcontext context)
{
    unsigned count = atomic_load(&created_count);
    bool is_created = count != 0 && gmt_contexts_is_created(context);
    return count + primary_count() == 1 && is_created == (count == 1);
}

#define CREATE(SYMBOL, HANDLE, PARAMETERS, ARGUMENTS) \
    static CUresult context_##SYMBOL PARAMETERS \
    { \
        CUresult result = ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
        if (result == CUDA_SUCCESS && !gmt_apply_is_forked()) { \
            note(HANDLE); \
        } \
        return result; \
    }
CREATE(cuCtxCreate_v2, *context, (CUcontext * context, unsigned flags, CUdevice device),
       (context, flags, device))
CREATE(cuCtxCreate_v3, *context,
       (CUcontext * context, CUexecAffinityParam *affinity, int count, unsigned flags,
        CUdevice device),
       (context, affinity, count, flags, device))
CREATE(cuCtxCreate_v4, *context,
       (CUcontext * context, CUctxCreateParams *params, unsigned flags, CUdevice device),
       (context, params, flags, device))
/* Contexts of a part of a device, of which no end is looked for. */
CREATE(cuGreenCtxCreate, NULL,
       (CUgreenCtx * context, CUdevResourceDesc resources, CUdevice device, unsigned flags),
       (context, resources, device, flags))

#define REPLACED(SYMBOL) \
    gmt_apply_replace(GMT_HOOK_##SYMBOL, (void *)context_##SYMBOL, &real[GMT_HOOK_##SYMBOL])

void gmt_apply_install_contexts(void)
{
    REPLACED(cuCtxCreate_v2);
    REPLACED(cuCtxCreate_v3);
    REPLACED(cuCtxCreate_v4);
    REPLACED(cuGreenCtxCreate);
}
