/* SPDX-License-Identifier: Apache-2.0 */
/* A session of CUPTI's SASS metrics around one launch (sass.h). */
#include "libtrace/cupti/code/sass.h"

#include <stdlib.h>
#include <string.h>

#include "libtrace/cupti/code/cubins.h"

enum { DEVICES = 64 };
enum need { FIRST, MORE, INSTEAD };
enum sets { ACCESSES = 1 << GMT_INSTRUCTIONS_ACCESSES, ALL = 1 << GMT_INSTRUCTIONS_ALL };
#define BOTH (ACCESSES | ALL)

static const struct {
    const char *name;
    unsigned sets;
    enum gmt_sass_slot slot;
    enum need need;
} metrics[] = {
#define GMT_SASS_METRIC(sets, slot, name, need, meaning) {name, sets, GMT_SASS_##slot, need},
#include "libtrace/record/sass_metrics.def"
#undef GMT_SASS_METRIC
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static_assert(METRICS <= GMT_SASS_ROWS_MAX, "room for every metric");

static CUptiResult noted(struct gmt_sass *sass, const char *function, CUptiResult result)
{
    sass->failed = result == CUPTI_SUCCESS ? sass->failed : function;
    return result;
}
#define TRY(function, ...) noted(sass, #function, sass->api->function(__VA_ARGS__))

static uint32_t measured_slots(const struct gmt_sass *sass)
{
    uint32_t slots = 0;
    for (size_t i = 0; i < sass->row_count; i++) {
        slots |= 1u << sass->slots[i];
    }
    return slots;
}

/* Adds the rows of that need which the chip has. */
static CUptiResult add_rows(struct gmt_sass *sass, const char *chip, enum need need)
{
    uint32_t before = measured_slots(sass);
    for (size_t i = 0; i < METRICS; i++) {
        if (metrics[i].need != need || (metrics[i].sets >> sass->which & 1u) == 0 ||
            (need == INSTEAD && (before >> metrics[i].slot & 1u) != 0)) {
            continue;
        }
        CUpti_SassMetrics_GetProperties_Params params = {
            .structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
            .pChipName = chip,
            .pMetricName = metrics[i].name,
        };
        CUptiResult result = sass->api->cuptiSassMetricsGetProperties(&params);
        if (result != CUPTI_SUCCESS && need == FIRST) {
            return noted(sass, "cuptiSassMetricsGetProperties", result);
        }
        if (result == CUPTI_SUCCESS) {
            sass->slots[sass->row_count] = metrics[i].slot;
            sass->rows[sass->row_count++] = (CUpti_SassMetrics_Config){
                .metricId = params.metric.metricId,
                .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU,
            };
        }
    }
    return CUPTI_SUCCESS;
}

static CUptiResult configure(struct gmt_sass *sass, uint32_t device)
{
    CUpti_Profiler_Initialize_Params init = {
        .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
        .deviceIndex = device,
    };
    if (sass->configured == device + 1) {
        return CUPTI_SUCCESS;
    }
    sass->row_count = 0;
    CUptiResult result = TRY(cuptiProfilerInitialize, &init);
    if (result == CUPTI_SUCCESS) {
        result = TRY(cuptiDeviceGetChipName, &chip);
    }
    if (result == CUPTI_SUCCESS) {
        result = add_rows(sass, chip.pChipName, FIRST);
    }
    if (result == CUPTI_SUCCESS) {
        sass->first_count = sass->row_count;
        (void)add_rows(sass, chip.pChipName, MORE);
        (void)add_rows(sass, chip.pChipName, INSTEAD);
        sass->configured = device + 1;
    }
    return result;
}

/* With all that the chip has or, where that is more than it takes at a time, what is needed most.
 * Once for each device: after it was taken back, CUPTI (13.0) refuses another for want of memory. */
static CUptiResult set_config(struct gmt_sass *sass, uint32_t device)
{
    uint64_t bit = UINT64_C(1) << device;
    CUpti_SassMetricsSetConfig_Params params = {
        .structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
        .numOfMetricConfig = sass->row_count,
        .pConfigs = sass->rows,
        .deviceIndex = device,
    };
    if ((sass->set & bit) != 0) {
        return CUPTI_SUCCESS;
    }
    CUptiResult result = TRY(cuptiSassMetricsSetConfig, &params);
    if (result != CUPTI_SUCCESS && sass->row_count > sass->first_count) {
        sass->row_count = sass->first_count;
        params.numOfMetricConfig = sass->first_count;
        result = TRY(cuptiSassMetricsSetConfig, &params);
    }
    sass->set |= result == CUPTI_SUCCESS ? bit : 0;
    return result;
}

static void unset_config(struct gmt_sass *sass, uint32_t device)
{
    uint64_t bit = UINT64_C(1) << device;
    CUpti_SassMetricsUnsetConfig_Params params = {
        .structSize = CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE,
        .deviceIndex = device,
    };
    if ((sass->set & bit) != 0) {
        (void)TRY(cuptiSassMetricsUnsetConfig, &params);
        sass->set &= ~bit;
    }
}

void gmt_sass_forget(struct gmt_sass *sass, const void *context)
{
    for (size_t i = 0; i < sass->used_count; i++) {
        if (context == NULL || sass->used[i].context == context) {
            unset_config(sass, sass->used[i].device);
        }
    }
    for (size_t i = 0; i < sass->used_count;) {
        if ((sass->set >> sass->used[i].device & 1u) == 0) {
            sass->used[i] = sass->used[--sass->used_count];
        } else {
            i++;
        }
    }
}

/* False: there is no room to remember that something is counted in it. */
static bool remember(struct gmt_sass *sass, void *context, uint32_t device)
{
    size_t at = 0;
    while (at < sass->used_count && sass->used[at].context != context) {
        at++;
    }
    if (at == GMT_SASS_CONTEXTS_MAX) {
        return false;
    }
    sass->used[at].context = context;
    sass->used[at].device = device;
    sass->used_count += at == sass->used_count;
    return true;
}

CUptiResult gmt_sass_begin(struct gmt_sass *sass, void *context, uint32_t device)
{
    CUptiResult result = device < DEVICES ? configure(sass, device) : CUPTI_ERROR_INVALID_DEVICE;
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    if (sass->synchronize() != CUDA_SUCCESS) {
        return noted(sass, "cuCtxSynchronize", CUPTI_ERROR_INVALID_CONTEXT);
    }
    if (!remember(sass, context, device)) {
        return noted(sass, "contexts", CUPTI_ERROR_OUT_OF_MEMORY);
    }
    result = set_config(sass, device);
    if (result != CUPTI_SUCCESS) {
        return result;
    }
    CUpti_SassMetricsEnable_Params enable = {
        .structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE,
        .ctx = context,
        .enableLazyPatching = 1,
    };
    result = TRY(cuptiSassMetricsEnable, &enable);
    sass->context = result == CUPTI_SUCCESS ? context : NULL;
    return result;
}

/* What the session counted, put into `values`; `count` records of `instances` values each. */
static void collect(const struct gmt_sass *sass, const CUpti_SassMetrics_Data *data, size_t count,
                    size_t instances, struct gmt_sass_value *values)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < instances; k++) {
            const CUpti_SassMetrics_InstanceValue *instance = &data[i].pInstanceValues[k];
            struct gmt_sass_value *value = &values[i * instances + k];
            *value = (struct gmt_sass_value){
                .function = data[i].functionName,
                .crc = data[i].cubinCrc,
                .function_index = data[i].functionIndex,
                .pc = data[i].pcOffset,
            };
            for (size_t row = 0; row < sass->row_count; row++) {
                if (sass->rows[row].metricId == instance->metricId) {
                    value->slot = sass->slots[row];
                    value->value = instance->value;
                }
            }
        }
    }
}

static bool keep_cubins(const struct gmt_sass_value *values, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || values[i].crc != values[i - 1].crc) {
            all = gmt_cubins_keep(values[i].crc) && all;
        }
    }
    return all;
}

/* Whether wanted or not, the data has to be fetched: else CUPTI takes it for dropped. */
static CUptiResult flush(struct gmt_sass *sass, bool keep, uint32_t launch_seq,
                         uint32_t kernel_class, struct gmt_sass_outcome *outcome)
{
    CUpti_SassMetricsGetDataProperties_Params size = {
        .structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE,
        .ctx = sass->context,
    };
    CUptiResult result = TRY(cuptiSassMetricsGetDataProperties, &size);
    size_t records = size.numOfPatchedInstructionRecords, total = records * size.numOfInstances;
    if (result != CUPTI_SUCCESS || total == 0) {
        return result;
    }
    CUpti_SassMetrics_Data *data = calloc(records, sizeof(*data));
    CUpti_SassMetrics_InstanceValue *instances = calloc(total, sizeof(*instances));
    struct gmt_sass_value *values = calloc(total, sizeof(*values));
    CUpti_SassMetricsFlushData_Params params = {
        /* The macro leaves out the member behind: CUPTI takes no other size. */
        .structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
        .ctx = sass->context,
        .numOfPatchedInstructionRecords = records,
        .numOfInstances = size.numOfInstances,
        .pMetricsData = data,
    };
    if (data == NULL || instances == NULL || values == NULL) {
        result = noted(sass, "malloc", CUPTI_ERROR_OUT_OF_MEMORY);
    } else {
        for (size_t i = 0; i < records; i++) {
            data[i].pInstanceValues = &instances[i * size.numOfInstances];
        }
        result = TRY(cuptiSassMetricsFlushData, &params);
    }
    if (result == CUPTI_SUCCESS && keep) {
        collect(sass, data, records, size.numOfInstances, values);
        outcome->instructions = gmt_sass_write(values, total, measured_slots(sass), launch_seq,
                                               kernel_class);
        outcome->no_cubin = !keep_cubins(values, total);
    }
    free(data);
    free(instances);
    free(values);
    return result;
}

CUptiResult gmt_sass_end(struct gmt_sass *sass, bool keep, uint32_t launch_seq,
                         uint32_t kernel_class, struct gmt_sass_outcome *outcome)
{
    *outcome = (struct gmt_sass_outcome){0};
    CUptiResult result = sass->synchronize() == CUDA_SUCCESS
                             ? flush(sass, keep, launch_seq, kernel_class, outcome)
                             : noted(sass, "cuCtxSynchronize", CUPTI_ERROR_INVALID_CONTEXT);
    CUpti_SassMetricsDisable_Params disable = {
        .structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
        .ctx = sass->context,
    };
    CUptiResult disabled = TRY(cuptiSassMetricsDisable, &disable);
    sass->context = NULL;
    return result != CUPTI_SUCCESS ? result : disabled;
}
