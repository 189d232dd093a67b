/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in of CUPTI over the software device: calls back at both ends of each enabled driver function.
 *
 * STANDIN_CUPTI=refuse: somebody else has subscribed already. =old: a CUPTI that knows no function;
 * =recent: none of the last ones.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_version.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/simgpu.h"

static const struct {
    const char *name;
    CUpti_CallbackId id;
} functions[] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) {#symbol, CUPTI_DRIVER_TRACE_CBID_##symbol},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};

static CUpti_CallbackFunc subscriber;
static void *subscriber_data;
static _Atomic bool enabled[CUPTI_DRIVER_TRACE_CBID_SIZE];

static bool asked_to_be(const char *kind)
{
    const char *wanted = getenv("STANDIN_CUPTI");
    return wanted != NULL && strcmp(wanted, kind) == 0;
}

static CUpti_CallbackId id_of(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].id;
        }
    }
    return CUPTI_DRIVER_TRACE_CBID_INVALID;
}

static void watch(const struct simgpu_call *call)
{
    CUpti_CallbackId id = id_of(call->symbol);
    CUpti_CallbackData data = {
        .callbackSite = call->result == NULL ? CUPTI_API_ENTER : CUPTI_API_EXIT,
        .functionName = call->symbol,
        .functionParams = call->parameters,
        .functionReturnValue = call->result,
        .correlationId = call->number,
    };
    if (!enabled[id]) {
        return;
    }
    /* As with the driver, whose callbacks come while cancellation is as the program has it; the software
     * device holds it. */
    int held, left;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &held);
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
    pthread_setcancelstate(held, &left);
    if (left != PTHREAD_CANCEL_ENABLE) {
        fprintf(stderr, "cupti_calls: %s: the subscriber leaves cancellation off\n", call->symbol);
        abort();
    }
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS"
                                    : "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    (void)context;
    *id = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)stream;
    (void)per_thread;
    *id = 1;
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver != NULL ? dlsym(driver, SIMGPU_INTERFACE_SYMBOL) : NULL;
    simgpu_interface_function ask;
    memcpy(&ask, &found, sizeof ask);
    const struct simgpu_interface *interface = found != NULL ? ask() : NULL;
    if (interface == NULL || asked_to_be("refuse")) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    subscriber = callback;
    subscriber_data = data;
    interface->watch(watch);
    *handle = (CUpti_SubscriberHandle)&subscriber;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    (void)handle;
    memset((void *)enabled, 0, sizeof enabled);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)handle;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= CUPTI_DRIVER_TRACE_CBID_SIZE ||
        asked_to_be("old") ||
        (asked_to_be("recent") && id >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync)) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    enabled[id] = enable != 0;
    return CUPTI_SUCCESS;
}
