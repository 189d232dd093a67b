/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the metrics of a group for a chip: the whole group if that is one pass, else row after row
 * as long as it stays one. Asked of CUPTI itself, so that it holds for chips nobody has tried.
 */
#include "libtrace/cupti/measure/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct gmt_metric_row gmt_metric_rows[] = {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) \
    {id, GMT_GROUP_##group, #name, cupti_name},
#include "libtrace/metrics.def"
#undef GMT_METRIC
};
const size_t gmt_metric_row_count = sizeof(gmt_metric_rows) / sizeof(gmt_metric_rows[0]);

static const struct {
    uint16_t id;
    const char *cupti_name;
} alternatives[] = {
#define GMT_METRIC_ALTERNATIVE(id, cupti_name, chips) {id, cupti_name},
#include "libtrace/metric_alternatives.def"
#undef GMT_METRIC_ALTERNATIVE
};

static const char *alternative_of(uint16_t id)
{
    for (size_t i = 0; i < sizeof(alternatives) / sizeof(alternatives[0]); i++) {
        if (alternatives[i].id == id) {
            return alternatives[i].cupti_name;
        }
    }
    return NULL;
}

static CUpti_Profiler_Host_Object *make_host(const struct gmt_cupti_api *api, const char *chip,
                                             const uint8_t *availability, CUptiResult *result)
{
    CUpti_Profiler_Host_Initialize_Params params = {
        .structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        .pChipName = chip,
        .pCounterAvailabilityImage = availability,
    };
    *result = api->cuptiProfilerHostInitialize(&params);
    return *result == CUPTI_SUCCESS ? params.pHostObject : NULL;
}

static void drop_host(const struct gmt_cupti_api *api, CUpti_Profiler_Host_Object *host)
{
    if (host != NULL) {
        CUpti_Profiler_Host_Deinitialize_Params params = {
            .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
            .pHostObject = host,
        };
        (void)api->cuptiProfilerHostDeinitialize(&params);
    }
}

/* The image for all metrics that `group` names now, which must take group->passes passes. */
static CUptiResult make_image(struct gmt_group *group, const struct gmt_cupti_api *api)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
        .pHostObject = group->host,
        .ppMetricNames = group->cupti_names,
        .numMetrics = group->count,
    };
    CUptiResult result = api->cuptiProfilerHostConfigAddMetrics(&add);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
        .pHostObject = group->host,
    };
    result = api->cuptiProfilerHostGetConfigImageSize(&size);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    group->image = malloc(size.configImageSize);
    if (group->image == NULL) {
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    group->image_bytes = size.configImageSize;
    CUpti_Profiler_Host_GetConfigImage_Params image = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
        .pHostObject = group->host,
        .configImageSize = group->image_bytes,
        .pConfigImage = group->image,
    };
    result = api->cuptiProfilerHostGetConfigImage(&image);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {
        .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
        .configImageSize = group->image_bytes,
        .pConfigImage = group->image,
    };
    result = api->cuptiProfilerHostGetNumOfPasses(&passes);
    if (result == CUPTI_SUCCESS && passes.numOfPasses != group->passes) {
        result = CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    return result;
}

/* A host object in which one request failed is unusable, so each try takes a new one. */
static CUptiResult try_metrics(struct gmt_group *group, const struct gmt_cupti_api *api,
                               const char *chip, const uint8_t *availability)
{
    gmt_group_release(group, api);
    CUptiResult result;
    group->host = make_host(api, chip, availability, &result);
    return group->host != NULL ? make_image(group, api) : result;
}

int gmt_group_build(struct gmt_group *group, const struct gmt_cupti_api *api, const char *chip,
                    const uint8_t *availability, enum gmt_counter_group which, CUptiResult *result)
{
    memset(group, 0, sizeof(*group));
    group->passes = 1;
    for (size_t i = 0; i < gmt_metric_row_count && group->count < GMT_GROUP_METRICS; i++) {
        if (gmt_metric_rows[i].group == which) {
            group->ids[group->count] = gmt_metric_rows[i].id;
            group->cupti_names[group->count++] = gmt_metric_rows[i].cupti_name;
        }
    }
    *result = try_metrics(group, api, chip, availability);
    if (*result == CUPTI_SUCCESS) {
        return 0;
    }
    if (group->host == NULL) {
        return -ENOTSUP; /* not a chip this CUPTI knows */
    }

    struct gmt_group wanted = *group;
    CUptiResult last = *result;
    group->count = 0;
    for (size_t i = 0; i < wanted.count; i++) {
        const char *names[] = {wanted.cupti_names[i], alternative_of(wanted.ids[i])};
        bool taken = false;
        for (size_t n = 0; n < 2 && names[n] != NULL && !taken; n++) {
            group->ids[group->count] = wanted.ids[i];
            group->cupti_names[group->count++] = names[n];
            last = try_metrics(group, api, chip, availability);
            taken = last == CUPTI_SUCCESS;
            group->count -= taken ? 0 : 1;
        }
        if (!taken) {
            group->dropped[group->dropped_count++] = wanted.ids[i];
        }
    }
    *result = last;
    if (group->count != 0) { /* the last try may have been a failed one */
        *result = try_metrics(group, api, chip, availability);
    }
    if (group->count == 0 || *result != CUPTI_SUCCESS) {
        gmt_group_release(group, api);
        return -ENOTSUP;
    }
    return 0;
}

int gmt_group_merge(struct gmt_group *group, const struct gmt_cupti_api *api, const char *chip,
                    const uint8_t *availability, const struct gmt_group *first,
                    const struct gmt_group *second)
{
    const struct gmt_group *parts[] = {first, second};
    memset(group, 0, sizeof(*group));
    group->passes = 2;
    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < parts[p]->count && group->count < GMT_GROUP_METRICS; i++) {
            group->ids[group->count] = parts[p]->ids[i];
            group->cupti_names[group->count++] = parts[p]->cupti_names[i];
        }
    }
    if (try_metrics(group, api, chip, availability) != CUPTI_SUCCESS) {
        gmt_group_release(group, api);
        return -ENOTSUP;
    }
    return 0;
}

void gmt_group_release(struct gmt_group *group, const struct gmt_cupti_api *api)
{
    free(group->image);
    group->image = NULL;
    group->image_bytes = 0;
    drop_host(api, group->host);
    group->host = NULL;
}
