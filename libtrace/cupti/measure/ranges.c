/* SPDX-License-Identifier: Apache-2.0 */
/* A range-profiler session from Enable to the decoded values (ranges.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/ranges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/spool.h"

static CUptiResult failed(struct gmt_ranges *r, const char *function, CUptiResult result)
{
    r->failed = result == CUPTI_SUCCESS ? r->failed : function;
    return result;
}
#define TRY(function, ...) failed(r, #function, r->api->function(__VA_ARGS__))

/* Passes counted by software come after those of the hardware (write_values would fail otherwise). */
static size_t pass_of(const struct gmt_group *config, enum gmt_counter_group which)
{
    return which == GMT_GROUP_PATCHED ? config->passes - 1 : 0;
}

static void drop_stale(struct gmt_ranges *r)
{
    if (r->stale_image != NULL) {
        (void)munmap(r->stale_image, r->stale_bytes);
    }
    r->stale_image = NULL;
}

/* For the metrics of the group that is counted alone: an image for the whole configuration is up to four times as large, and all of it
 * is written when it is initialized (docs/cupti-notes.md). */
static CUptiResult make_image(struct gmt_ranges *r)
{
    const struct gmt_group *counted = r->whole_image ? r->config : &r->chip->groups[r->which];
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
        .pMetricNames = (const char **)counted->cupti_names,
        .numMetrics = counted->count,
        .maxNumOfRanges = GMT_RANGES_MAX,
        .maxNumRangeTreeNodes = GMT_RANGES_MAX,
    };
    CUptiResult result = TRY(cuptiRangeProfilerGetCounterDataSize, &size);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    if (size.counterDataSize > r->image_bytes) {
        if (r->stale_image != NULL) { /* the profiler has that one: it did not get the last */
            (void)munmap(r->image, r->image_bytes);
        } else if (r->image != NULL) {
            r->stale_image = r->image;
            r->stale_bytes = r->image_bytes;
        }
        r->image = NULL;
        r->image_bytes = 0;
        void *map = mmap(NULL, size.counterDataSize, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        r->image = map != MAP_FAILED ? map : NULL;
        if (r->image == NULL) {
            return failed(r, "mmap", CUPTI_ERROR_OUT_OF_MEMORY);
        }
        r->image_bytes = size.counterDataSize;
    }
    r->used_image_bytes = size.counterDataSize;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
        .counterDataSize = r->used_image_bytes,
        .pCounterData = r->image,
    };
    return TRY(cuptiRangeProfilerCounterDataImageInitialize, &init);
}

static CUptiResult set_config(struct gmt_ranges *r)
{
    CUpti_RangeProfiler_SetConfig_Params params = {
        .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
        .configSize = r->config->image_bytes,
        .pConfig = r->config->image,
        .counterDataImageSize = r->used_image_bytes,
        .pCounterDataImage = r->image,
        .range = CUPTI_UserRange,
        .replayMode = CUPTI_UserReplay,
        .maxRangesPerPass = GMT_RANGES_MAX,
        .numNestingLevels = 1,
        .minNestingLevel = 1,
        .passIndex = r->next_pass,
        .targetNestingLevel = 1,
    };
    return TRY(cuptiRangeProfilerSetConfig, &params);
}

bool gmt_ranges_alive(const struct gmt_ranges *r)
{
    uint32_t id = 0;
    return r->api->cuptiGetContextId(r->context, &id) == CUPTI_SUCCESS && id == r->context_id;
}

/* CUPTI would use the dead context. */
static void forget(struct gmt_ranges *r)
{
    if (r->count != 0) {
        gmt_spool_loss("kernel counters", "their context was destroyed first", r->count);
    }
    r->profiler = NULL;
    r->context = NULL;
    r->running = false;
    r->count = 0;
}

void gmt_ranges_disable(struct gmt_ranges *r)
{
    if (r->context == NULL) {
        return;
    }
    if (gmt_ranges_alive(r)) {
        CUpti_RangeProfiler_Disable_Params params = {
            .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
            .pRangeProfilerObject = r->profiler,
        };
        (void)r->api->cuptiRangeProfilerDisable(&params);
        r->count = 0;
    }
    forget(r);
}

bool gmt_ranges_is_cheap(const struct gmt_ranges *r, const void *context,
                         enum gmt_counter_group which)
{
    return r->context != NULL && r->context == context && gmt_ranges_alive(r) &&
           r->config == r->chip->config[which];
}

static CUptiResult enable(struct gmt_ranges *r, void *context, const struct gmt_chip *chip,
                          enum gmt_counter_group which)
{
    if (gmt_ranges_is_cheap(r, context, which)) {
        return CUPTI_SUCCESS;
    }
    gmt_ranges_disable(r);
    CUpti_RangeProfiler_Enable_Params params = {
        .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
        .ctx = context,
    };
    CUptiResult result = TRY(cuptiRangeProfilerEnable, &params);
    if (result == CUPTI_SUCCESS) {
        result = TRY(cuptiGetContextId, context, &r->context_id);
    }
    if (result == CUPTI_SUCCESS) {
        r->profiler = params.pRangeProfilerObject;
        r->context = context;
        r->chip = chip;
        r->config = chip->config[which];
        r->next_pass = pass_of(r->config, which); /* heeded by the first SetConfig only */
    }
    return result;
}

static CUptiResult start_with_image(struct gmt_ranges *r)
{
    CUptiResult result = make_image(r);
    if (result == CUPTI_SUCCESS) {
        result = set_config(r);
    }
    if (result == CUPTI_SUCCESS) {
        drop_stale(r);
        CUpti_RangeProfiler_Start_Params start = {
            .structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
            .pRangeProfilerObject = r->profiler,
        };
        result = TRY(cuptiRangeProfilerStart, &start);
    }
    return result;
}

/* An image for one group is known to be taken by CUPTI 13.0.1 only. */
static bool may_be_for_the_image(const struct gmt_ranges *r, CUptiResult result)
{
    return result != CUPTI_SUCCESS && result != CUPTI_ERROR_INSUFFICIENT_PRIVILEGES &&
           result != CUPTI_ERROR_HARDWARE_BUSY && result != CUPTI_ERROR_OUT_OF_MEMORY &&
           r->config->passes > 1 && !r->whole_image;
}

static CUptiResult start_pass(struct gmt_ranges *r)
{
    CUptiResult result = start_with_image(r);
    if (may_be_for_the_image(r, result)) {
        r->whole_image = true;
        result = start_with_image(r);
    }
    return result;
}

static CUptiResult stop_pass(struct gmt_ranges *r)
{
    CUpti_RangeProfiler_Stop_Params stop = {
        .structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
    };
    CUptiResult result = TRY(cuptiRangeProfilerStop, &stop);
    r->next_pass = stop.passIndex;
    return result;
}

CUptiResult gmt_ranges_start(struct gmt_ranges *r, void *context, uint32_t device,
                             enum gmt_counter_group which)
{
    const struct gmt_chip *chip = NULL;
    CUptiResult result = gmt_chip_find(r->api, context, device, &chip, &r->failed);
    if (result == CUPTI_SUCCESS && chip->config[which] == NULL) {
        r->failed = "cuptiProfilerHostConfigAddMetrics";
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    r->which = which;
    if (result == CUPTI_SUCCESS) {
        result = enable(r, context, chip, which);
    }
    if (result == CUPTI_SUCCESS) {
        result = start_pass(r);
    }
    /* An empty session takes a pass that is not wanted now out of the way. */
    for (size_t i = 1; result == CUPTI_SUCCESS && i < r->config->passes &&
                       r->next_pass != pass_of(r->config, which);
         i++) {
        result = stop_pass(r);
        if (result == CUPTI_SUCCESS) {
            result = start_pass(r);
        }
    }
    r->count = 0;
    r->running = result == CUPTI_SUCCESS;
    return result;
}

bool gmt_ranges_full(const struct gmt_ranges *r)
{
    return r->count >= GMT_RANGES_MAX;
}

CUptiResult gmt_ranges_push(struct gmt_ranges *r, uint32_t launch_seq, uint32_t kernel_class)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "%zu", r->count);
    CUpti_RangeProfiler_PushRange_Params params = {
        .structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
        .pRangeName = name,
    };
    CUptiResult result = TRY(cuptiRangeProfilerPushRange, &params);
    if (result == CUPTI_SUCCESS) {
        r->ranges[r->count++] = (struct gmt_range){launch_seq, kernel_class, false};
    }
    return result;
}

CUptiResult gmt_ranges_pop(struct gmt_ranges *r)
{
    CUpti_RangeProfiler_PopRange_Params params = {
        .structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
    };
    return TRY(cuptiRangeProfilerPopRange, &params);
}

void gmt_ranges_keep_last(struct gmt_ranges *r)
{
    r->ranges[r->count - 1].keep = true;
}

static void write_values(struct gmt_ranges *r, size_t index)
{
    const struct gmt_group *counted = &r->chip->groups[r->which];
    double values[GMT_GROUP_METRICS] = {0};
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params = {
        .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
        .pHostObject = r->config->host,
        .pCounterDataImage = r->image,
        .counterDataImageSize = r->used_image_bytes,
        .rangeIndex = index,
        .ppMetricNames = (const char **)counted->cupti_names,
        .numMetrics = counted->count,
        .pMetricValues = values,
    };
    CUptiResult result = TRY(cuptiProfilerHostEvaluateToGpuValues, &params);
    struct gmt_counter_value rows[GMT_GROUP_METRICS] = {0};
    struct gmt_counters counters = {
        .launch_seq = r->ranges[index].launch_seq,
        .kernel_class = r->ranges[index].kernel_class,
        .group = (uint8_t)r->which,
        .source = r->which == GMT_GROUP_PATCHED ? GMT_SOURCE_PATCHED : GMT_SOURCE_HARDWARE,
    };
    for (size_t i = 0; result == CUPTI_SUCCESS && i < counted->count; i++) {
        if (isfinite(values[i])) {
            rows[counters.count].metric = counted->ids[i];
            rows[counters.count++].value = values[i];
        }
    }
    if (counters.count == 0) {
        gmt_spool_loss("kernel counters", "CUPTI returned no values for a measured launch", 1);
        return;
    }
    (void)gmt_spool_side_data(GMT_REC_COUNTERS, &counters, sizeof(counters), rows,
                              counters.count * sizeof(rows[0]));
}

static CUptiResult decode(struct gmt_ranges *r)
{
    CUpti_RangeProfiler_DecodeData_Params data = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
        .pRangeProfilerObject = r->profiler,
    };
    CUptiResult result = TRY(cuptiRangeProfilerDecodeData, &data);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = r->image,
        .counterDataImageSize = r->used_image_bytes,
    };
    result = TRY(cuptiRangeProfilerGetCounterDataInfo, &info);
    /* Ranges come back in the order they were pushed; with one missing, none can be assigned. */
    if (result == CUPTI_SUCCESS && info.numTotalRanges != r->count) {
        result = failed(r, "cuptiRangeProfilerDecodeData", CUPTI_ERROR_UNKNOWN);
    }
    for (size_t i = 0; result == CUPTI_SUCCESS && i < r->count; i++) {
        if (r->ranges[i].keep) {
            write_values(r, i);
        }
    }
    return result;
}

CUptiResult gmt_ranges_stop(struct gmt_ranges *r)
{
    if (!r->running) {
        return CUPTI_SUCCESS;
    }
    if (!gmt_ranges_alive(r)) {
        forget(r);
        return CUPTI_SUCCESS;
    }
    CUptiResult result = stop_pass(r);
    if (result == CUPTI_SUCCESS && r->count != 0) {
        result = decode(r);
    }
    r->whole_image |= may_be_for_the_image(r, result);
    if (result != CUPTI_SUCCESS && r->count != 0) {
        char detail[128];
        (void)snprintf(detail, sizeof(detail),
                       "the values of a measuring session could not be read (%s: %d)", r->failed,
                       (int)result);
        gmt_spool_loss("kernel counters", detail, r->count);
    }
    r->running = false;
    r->count = 0;
    return result;
}
