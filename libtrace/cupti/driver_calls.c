/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribes to CUPTI's callbacks of the driver API and hands them on. */
#include "libtrace/cupti/driver_calls.h"

#include <cupti_callbacks.h>
#include <errno.h>
#include <stdio.h>

#include "libtrace/cupti/base/loader.h"

static struct gmt_cupti_api api;
static void (*receiver)(const struct gmt_driver_call *call);

static void CUPTIAPI pass_on(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *data)
{
    const CUpti_CallbackData *reported = data;
    (void)unused;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || reported == NULL) {
        return;
    }
    struct gmt_driver_call call = {
        .callback = id,
        .correlation = reported->correlationId,
        .entering = reported->callbackSite == CUPTI_API_ENTER,
        .parameters = reported->functionParams,
    };
    if (!call.entering && reported->functionReturnValue != NULL) {
        call.result = *(const int *)reported->functionReturnValue;
    }
    receiver(&call);
}

static bool is_active;

static int refused(const char *function, CUptiResult result, char *why, size_t why_bytes)
{
    (void)snprintf(why, why_bytes, "%s: %s", function, gmt_cupti_error(&api, result));
    return -EBUSY;
}

int gmt_driver_calls_start(const char *cupti, const uint32_t *callbacks, size_t count,
                           void (*report)(const struct gmt_driver_call *call), char *why,
                           size_t why_bytes)
{
    CUpti_SubscriberHandle subscriber;
    int error = gmt_cupti_load(&api, cupti);
    if (error != 0) {
        (void)snprintf(why, why_bytes, "%s",
                       error == -ENOENT ? "no CUPTI was found" : "this CUPTI is too old");
        return error;
    }
    if (api.missing_callbacks != NULL) {
        (void)snprintf(why, why_bytes, "this CUPTI has no %s", api.missing_callbacks);
        return -ENOSYS;
    }
    receiver = report;
    CUptiResult result = api.cuptiSubscribe(&subscriber, pass_on, NULL);
    if (result != CUPTI_SUCCESS) {
        return refused("cuptiSubscribe", result, why, why_bytes);
    }
    /* An older CUPTI does not know the youngest functions: nor does the driver that it is for. */
    size_t enabled = 0;
    for (size_t i = 0; i < count; i++) {
        CUptiResult answer = api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                     callbacks[i]);
        enabled += answer == CUPTI_SUCCESS;
        result = answer != CUPTI_SUCCESS ? answer : result;
    }
    if (enabled == 0) {
        (void)api.cuptiUnsubscribe(subscriber);
        return refused("cuptiEnableCallback", result, why, why_bytes);
    }
    is_active = true;
    return (int)(count - enabled);
}

bool gmt_driver_calls_active(void)
{
    return is_active;
}
