/* SPDX-License-Identifier: Apache-2.0 */
/* A session that counts a launch's instructions: in which order CUPTI is called, and what is written.
 * CUPTI, its driver and the spool are fakes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/cupti/code/cubins.h"
#include "libtrace/cupti/code/sass.h"
#include "libtrace/record/spool.h"

enum { IDEAL_ID = 100, MOST = 64 };

static char calls[512];         /* in order, by their first letters */
static bool lacks_ideal;        /* the chip has it by kind of access only */
static size_t most_metrics;     /* that a configuration may have */
static CUptiResult enable_says; /* what cuptiSassMetricsEnable answers */
static const char *asked[MOST]; /* names, by id */
static size_t asked_count;
static uint64_t configured[MOST];
static size_t configured_count;
static struct gmt_sass_instruction written[MOST];
static size_t written_count;
static char functions[256];
static unsigned kept_cubins;
static bool has_cubin = true;

int gmt_spool_side(enum gmt_rec_type type, const void *fixed, size_t bytes,
                   const char *const *strings, size_t n)
{
    cr_expect_eq(type, GMT_REC_SASS_INSTRUCTION);
    cr_expect_eq(n, 1u);
    memcpy(&written[written_count++], fixed, bytes);
    (void)snprintf(functions, sizeof(functions), "%s", strings[0]);
    return 0;
}

/* The other half of the collector, which keeps cubins. */
bool gmt_cubins_keep(uint32_t crc)
{
    cr_expect_eq(crc, 77u);
    kept_cubins++;
    return has_cubin;
}

static void called(const char *what)
{
    size_t used = strlen(calls);
    (void)snprintf(calls + used, sizeof(calls) - used, "%s ", what);
}

static CUresult synchronize(void)
{
    called("wait");
    return CUDA_SUCCESS;
}

static CUptiResult CUPTIAPI initialize(CUpti_Profiler_Initialize_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI chip_name(CUpti_Device_GetChipName_Params *params)
{
    params->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI properties(CUpti_SassMetrics_GetProperties_Params *params)
{
    if (lacks_ideal && strcmp(params->pMetricName, "smsp__sass_sectors_mem_global_ideal") == 0) {
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    params->metric.metricId = asked_count;
    asked[asked_count++] = params->pMetricName;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_config(CUpti_SassMetricsSetConfig_Params *params)
{
    called("set");
    if (params->numOfMetricConfig > most_metrics) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    configured_count = params->numOfMetricConfig;
    for (size_t i = 0; i < configured_count; i++) {
        configured[i] = params->pConfigs[i].metricId;
    }
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI unset_config(CUpti_SassMetricsUnsetConfig_Params *params)
{
    (void)params;
    called("unset");
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable(CUpti_SassMetricsEnable_Params *params)
{
    called(params->enableLazyPatching != 0 ? "enable" : "enable-all");
    return enable_says;
}

static CUptiResult CUPTIAPI disable(CUpti_SassMetricsDisable_Params *params)
{
    (void)params;
    called("disable");
    return CUPTI_SUCCESS;
}

/* Two instructions: one record for each of them and metric. */
static CUptiResult CUPTIAPI data_size(CUpti_SassMetricsGetDataProperties_Params *params)
{
    params->numOfPatchedInstructionRecords = 2 * configured_count;
    params->numOfInstances = 1;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI flush(CUpti_SassMetricsFlushData_Params *params)
{
    called("flush");
    cr_expect_eq(params->structSize, (size_t)CUpti_SassMetricsFlushData_Params_STRUCT_SIZE);
    for (size_t i = 0; i < params->numOfPatchedInstructionRecords; i++) {
        CUpti_SassMetrics_Data *record = &params->pMetricsData[i];
        uint64_t id = configured[i / 2];
        bool executed = strcmp(asked[id], "smsp__sass_inst_executed") == 0 ||
                        strncmp(asked[id], "smsp__sass_inst_executed_op_",
                                strlen("smsp__sass_inst_executed_op_")) == 0;
        record->cubinCrc = 77;
        record->functionIndex = 5;
        record->functionName = "_Z1kv";
        record->pcOffset = i % 2 == 0 ? 32 : 16;
        record->pInstanceValues[0].metricId = id;
        record->pInstanceValues[0].value = executed ? 3 - i % 2 * 3 : 10 + id;
    }
    return CUPTI_SUCCESS;
}

static const struct gmt_cupti_api api = {
    .cuptiProfilerInitialize = initialize,
    .cuptiDeviceGetChipName = chip_name,
    .cuptiSassMetricsGetProperties = properties,
    .cuptiSassMetricsSetConfig = set_config,
    .cuptiSassMetricsUnsetConfig = unset_config,
    .cuptiSassMetricsEnable = enable,
    .cuptiSassMetricsDisable = disable,
    .cuptiSassMetricsGetDataProperties = data_size,
    .cuptiSassMetricsFlushData = flush,
};
static struct gmt_sass sass;

static void setup(void)
{
    most_metrics = MOST;
    sass = (struct gmt_sass){
        .api = &api, .which = GMT_INSTRUCTIONS_ALL, .synchronize = synchronize};
}

TestSuite(sass, .init = setup, .timeout = 60);

static size_t run(bool keep)
{
    struct gmt_sass_outcome outcome;
    cr_assert_eq(gmt_sass_begin(&sass, &sass, 0), CUPTI_SUCCESS);
    cr_assert_eq(gmt_sass_end(&sass, keep, 9, 3, &outcome), CUPTI_SUCCESS);
    cr_expect_eq(outcome.no_cubin, keep && !has_cubin);
    return outcome.instructions;
}

static uint64_t value_of(enum gmt_sass_slot slot)
{
    return written[0].values[slot];
}

Test(sass, waits_before_it_patches_and_before_it_reads)
{
    (void)run(true);
    cr_expect_str_eq(calls, "wait set enable wait flush disable ");
}

Test(sass, sets_a_device_s_configuration_once)
{
    (void)run(true);
    calls[0] = '\0';
    (void)run(true);
    cr_expect_str_eq(calls, "wait enable wait flush disable ");
}

Test(sass, writes_one_record_per_instruction_that_ran)
{
    cr_expect_eq(run(true), 1u); /* the one at 16 was never executed */
    cr_assert_eq(written_count, 1u);
    cr_expect_eq(written[0].pc_offset, 32u);
    cr_expect_eq(written[0].launch_seq, 9u);
    cr_expect_eq(written[0].kernel_class, 3u);
    cr_expect_eq(written[0].cubin_crc, 77u);
    cr_expect_eq(written[0].function_index, 5u);
    cr_expect_str_eq(functions, "_Z1kv");
    cr_expect_eq(value_of(GMT_SASS_EXECUTED), 3u);
    cr_expect_eq(written[0].measured, (1u << GMT_SASS_SLOTS) - 1);
    for (size_t id = 0; id < asked_count; id++) {
        if (strcmp(asked[id], "smsp__sass_sectors_mem_local") == 0) {
            cr_expect_eq(value_of(GMT_SASS_LOCAL_SECTORS), 10 + id);
        }
    }
    cr_expect_eq(kept_cubins, 1u);
}

Test(sass, adds_ideals_of_loads_and_stores_where_the_chip_has_no_other)
{
    lacks_ideal = true;
    (void)run(true);
    uint64_t sum = 0;
    for (size_t id = 0; id < asked_count; id++) {
        sum += strstr(asked[id], "_ideal") != NULL && strstr(asked[id], "_op_") != NULL ? 10 + id
                                                                                        : 0;
    }
    cr_expect_gt(sum, 20u);
    cr_expect_eq(value_of(GMT_SASS_IDEAL_SECTORS), sum);
}

Test(sass, asks_for_no_substitute_of_what_the_chip_has)
{
    (void)run(true);
    for (size_t id = 0; id < asked_count; id++) {
        cr_expect_null(strstr(asked[id], "_op_ld_ideal"));
    }
}

Test(sass, counts_what_is_needed_most_where_all_is_too_much)
{
    most_metrics = 6;
    cr_expect_eq(run(true), 1u);
    cr_expect_eq(written[0].measured & 1u << GMT_SASS_TAGS, 0u);
    cr_expect_neq(written[0].measured & 1u << GMT_SASS_SECTORS, 0u);
    cr_expect_str_eq(calls, "wait set set enable wait flush disable ");
}

Test(sass, throws_away_what_is_not_to_be_kept)
{
    cr_expect_eq(run(false), 0u);
    cr_expect_eq(written_count, 0u);
    cr_expect_eq(kept_cubins, 0u);
    cr_expect_not_null(strstr(calls, "flush"), "else CUPTI counts it as dropped");
}

static bool asked_for(const char *name)
{
    bool found = false;
    for (size_t id = 0; id < asked_count; id++) {
        found |= strcmp(asked[id], name) == 0;
    }
    return found;
}

/* Every metric of an instruction makes its kernel longer: none is asked for that no counter needs. */
Test(sass, counts_accesses_by_what_their_counters_need)
{
    sass.which = GMT_INSTRUCTIONS_ACCESSES;
    cr_expect_eq(run(true), 1u);
    cr_expect(!asked_for("smsp__sass_inst_executed"));
    cr_expect(!asked_for("smsp__sass_thread_inst_executed_pred_on"));
    cr_expect(!asked_for("smsp__sass_sectors_mem_global_ideal"));
    cr_expect(!asked_for("smsp__sass_inst_executed_op_memory_32b"));
    cr_expect(asked_for("smsp__sass_inst_executed_op_global"));
    cr_expect(asked_for("smsp__sass_sectors_mem_global"));
    cr_expect_eq(written[0].measured, 1u << GMT_SASS_EXECUTED | 1u << GMT_SASS_LANES_ON |
                                          1u << GMT_SASS_SECTORS | 1u << GMT_SASS_WAVEFRONTS |
                                          1u << GMT_SASS_LOCAL_SECTORS);
    cr_expect_eq(value_of(GMT_SASS_EXECUTED), 5u * 3, "of global, shared, local, LDGSTS and TMA");
}

Test(sass, asks_for_no_metric_of_accesses_where_all_is_counted)
{
    (void)run(true);
    cr_expect(!asked_for("smsp__sass_inst_executed_op_global"));
    cr_expect(!asked_for("smsp__sass_thread_inst_executed_op_global_pred_on"));
}

Test(sass, says_where_a_cubin_is_not_at_hand)
{
    has_cubin = false;
    cr_expect_eq(run(true), 1u);
}

/* CUPTI goes through what was configured when the process ends, and the context must be there then. */
Test(sass, takes_the_configuration_back_before_a_context_goes_in_which_it_counted)
{
    int other;
    (void)run(true);
    calls[0] = '\0';
    gmt_sass_forget(&sass, &other);
    cr_expect_str_eq(calls, "");
    gmt_sass_forget(&sass, &sass); /* the one of run() */
    cr_expect_str_eq(calls, "unset ");
    gmt_sass_forget(&sass, NULL);
    cr_expect_str_eq(calls, "unset ", "once");
}

Test(sass, takes_all_configurations_back_at_the_end)
{
    (void)run(true);
    calls[0] = '\0';
    gmt_sass_forget(&sass, NULL);
    cr_expect_str_eq(calls, "unset ");
}

Test(sass, has_no_session_after_a_refusal)
{
    enable_says = CUPTI_ERROR_NOT_SUPPORTED;
    cr_expect_eq(gmt_sass_begin(&sass, &sass, 0), CUPTI_ERROR_NOT_SUPPORTED);
    cr_expect_str_eq(sass.failed, "cuptiSassMetricsEnable");
    cr_expect_str_eq(calls, "wait set enable ");
    cr_expect_null(sass.context);
}
