/* SPDX-License-Identifier: Apache-2.0 */
/* Whether there can be records of kernels that nobody has fetched (cupti_records.h). */
#define _GNU_SOURCE
#include "cupti_records.h"

#include <cupti.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic bool kernels_on, left;

static CUptiResult answer(void)
{
    return getenv("CUPTI_STANDIN_RECORDS") != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    (void)request;
    (void)complete;
    return answer();
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
    (void)clock;
    return answer();
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds)
{
    (void)milliseconds;
    return answer();
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        atomic_store(&kernels_on, true);
        atomic_store(&left, true);
    }
    return answer();
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        atomic_store(&kernels_on, false);
    }
    return answer();
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    atomic_store(&left, atomic_load(&kernels_on));
    return answer();
}

bool records_are_left(void)
{
    return answer() == CUPTI_SUCCESS && atomic_load(&left);
}
