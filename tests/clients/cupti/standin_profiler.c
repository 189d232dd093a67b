/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in CUPTI: the range profiler, which one client at a time can have, and its host side. */
#define _GNU_SOURCE
#include "standin.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_BYTES 64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialized, enabled, started, open;
static size_t in_session;
static unsigned in_all;
static char object; /* what handles point to */

static void (*_Atomic in_range)(void);

void standin_call_in_range(void (*function)(void))
{
    atomic_store(&in_range, function);
}

void standin_reset_profiler(void)
{
    pthread_mutex_lock(&lock);
    initialized = enabled = started = open = false;
    (void)pthread_mutex_unlock(&lock);
}

unsigned standin_ranges(void)
{
    pthread_mutex_lock(&lock);
    unsigned count = in_all;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

/* Success where `from` is what must be so, and `*state` becomes `to`. */
static CUptiResult step(bool allowed, bool *state, bool to, CUptiResult refusal)
{
    pthread_mutex_lock(&lock);
    bool fits = allowed && *state != to;
    *state = fits ? to : *state;
    (void)pthread_mutex_unlock(&lock);
    return fits ? CUPTI_SUCCESS : refusal;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
    standin_note(__func__);
    if (!standin_is_served()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    (void)params;
    (void)step(true, &initialized, true, CUPTI_SUCCESS);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *params)
{
    standin_note(__func__);
    if (!standin_is_served()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    (void)params;
    if (enabled) {
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    (void)step(true, &initialized, false, CUPTI_SUCCESS);
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *params)
{
    params->counterAvailabilityImageSize = IMAGE_BYTES;
    return initialized ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
    params->pChipName = "STANDIN";
    return CUPTI_SUCCESS;
}

/* ---- the host side: any metrics fit one pass, two groups together do not ------------------------- */

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
    params->pHostObject = (CUpti_Profiler_Host_Object *)(void *)&object;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
    params->configImageSize = IMAGE_BYTES;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params)
{
    memset(params->pConfigImage, 0, params->configImageSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
    params->numOfPasses = 1;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
    for (size_t i = 0; i < params->numMetrics; i++) {
        params->pMetricValues[i] = 1;
    }
    return CUPTI_SUCCESS;
}

/* ---- sessions ----------------------------------------------------------------------------------- */

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
    standin_note(__func__);
    if (!standin_is_served()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    params->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)(void *)&object;
    return initialized ? step(true, &enabled, true, CUPTI_ERROR_HARDWARE_BUSY)
                       : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
    standin_note(__func__);
    if (!standin_is_served()) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    (void)params;
    return step(!started, &enabled, false, CUPTI_ERROR_INVALID_OPERATION);
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
    (void)params;
    return enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
    (void)params;
    in_session = 0;
    return step(enabled, &started, true, CUPTI_ERROR_INVALID_OPERATION);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
    params->passIndex = 0;
    return step(!open, &started, false, CUPTI_ERROR_INVALID_OPERATION);
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *params)
{
    (void)params;
    void (*function)(void) = atomic_exchange(&in_range, NULL);
    if (function != NULL) {
        function();
    }
    standin_range_begins();
    return step(started, &open, true, CUPTI_ERROR_INVALID_OPERATION);
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *params)
{
    (void)params;
    in_session++;
    in_all++;
    return step(started, &open, false, CUPTI_ERROR_INVALID_OPERATION);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
    params->counterDataSize = IMAGE_BYTES;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
    params->numTotalRanges = in_session;
    return CUPTI_SUCCESS;
}
