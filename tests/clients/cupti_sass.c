/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for CUPTI that counts instructions: whatever is launched while it is switched on gives the
 * counts of kernel `a` of tests/data/cubin (CUPTI_STANDIN_CUBIN), which it says was loaded: as the last
 * of CUPTI_STANDIN_MODULES modules, each of which has a kernel of that name. Of several cubins with
 * colons between, each is a module, and sessions are about the kernels of one after the other.
 *
 * It is as strict as CUPTI where that matters: nothing counts that was switched on out of order, a
 * process has one configuration, only the first session counts unless MODULE_PROFILED callbacks were
 * asked for; no other thread is inside of the driver meanwhile (cupti_inside.h); the configuration is taken back while the
 * contexts live in which something was counted. CUPTI_STANDIN_LOG shows what happened. To count a launch takes CUPTI_STANDIN_MS.
 * With CUPTI_STANDIN_OPENS the first session opens that library, as CUPTI opens its own, and nobody is looked for in the driver.
 */
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_inside.h"
#include "cupti_worker.h"

enum {
    CRC = 77,
    CONTEXTS = 16,
    METRICS = 64,
    INSTRUCTIONS = 16,
    INSTRUCTION_BYTES = 16,
    EXECUTED = 4
};

static const char *names[METRICS];
static size_t name_count;
static uint64_t configured[METRICS];
static size_t configured_count;
static bool is_configured, was_configured, is_enabled, patches_all;
static size_t sessions, asked_crcs;
static CUpti_CallbackFunc callback;
static CUcontext used[CONTEXTS]; /* where something was counted */
static size_t used_count;

/* The path of the `at`-th cubin; false: there are not so many. */
static bool cubin_path(size_t at, char *path, size_t bytes)
{
    const char *text = getenv("CUPTI_STANDIN_CUBIN");
    for (size_t i = 0; text != NULL && i < at; i++) {
        text = strchr(text, ':');
        text = text != NULL ? text + 1 : NULL;
    }
    if (text == NULL) {
        return false;
    }
    (void)snprintf(path, bytes, "%.*s", (int)strcspn(text, ":"), text);
    return true;
}

static uint32_t cubin_count(void)
{
    char path[PATH_MAX];
    uint32_t count = 0;
    while (cubin_path(count, path, sizeof(path))) {
        count++;
    }
    return count;
}

static uint32_t module_count(void)
{
    if (cubin_count() > 1) {
        return cubin_count();
    }
    const char *text = getenv("CUPTI_STANDIN_MODULES");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 1;
}

/* The last word of a session: what happened, for the test. */
static void note(const char *what)
{
    const char *path = getenv("CUPTI_STANDIN_LOG");
    FILE *log = path != NULL ? fopen(path, "ae") : NULL;
    if (log != NULL) {
        (void)fprintf(log, "%s\n", what);
        (void)fclose(log);
    }
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    (void)result;
    *text = "refused by the stand-in";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
    (void)params;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
    params->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function,
                           void *data)
{
    (void)data;
    if (callback != NULL) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    callback = function;
    inside_start(note);
    *subscriber = (CUpti_SubscriberHandle)(void *)&callback;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    bool known = subscriber == (CUpti_SubscriberHandle)(void *)&callback && callback != NULL;
    callback = NULL;
    return known ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static bool show_module(uint32_t number, CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    static char image[1 << 16];
    char path[PATH_MAX];
    bool known = cubin_path(number < cubin_count() ? number : 0, path, sizeof(path));
    FILE *in = known ? fopen(path, "re") : NULL;
    if (in == NULL) {
        return false;
    }
    CUpti_ModuleResourceData module = {.pCubin = image};
    CUpti_ResourceData resource = {.resourceDescriptor = &module};
    module.cubinSize = fread(image, 1, sizeof(image), in);
    (void)fclose(in);
    callback(NULL, domain, id, &resource);
    memset(image, 0, sizeof(image)); /* it is only there while it is being shown */
    return true;
}

/* Modules are there at once, as those that were loaded before the first launch. */
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    bool good = enable != 0 && cubin_count() > 0;
    (void)subscriber;
    if (good && id == CUPTI_CBID_RESOURCE_MODULE_PROFILED) {
        patches_all = true;
        return CUPTI_SUCCESS;
    }
    for (uint32_t i = 0; good && i < module_count(); i++) {
        good = show_module(i, domain, id);
    }
    return good ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams *params)
{
    params->cubinCrc = CRC + (uint32_t)(asked_crcs++ % module_count());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params *params)
{
    if (name_count == METRICS) {
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    params->metric.metricId = name_count;
    names[name_count++] = params->pMetricName;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params *params)
{
    if (was_configured || params->numOfMetricConfig > METRICS) {
        note("configured twice");
        return is_configured ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_ERROR_OUT_OF_MEMORY;
    }
    is_configured = was_configured = true;
    configured_count = params->numOfMetricConfig;
    for (size_t i = 0; i < configured_count; i++) {
        configured[i] = params->pConfigs[i].metricId;
    }
    return CUPTI_SUCCESS;
}

/* NVIDIA's reads them, also in a handler at the end of the process. */
static void read_contexts(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver != NULL ? dlsym(driver, "cuCtxGetApiVersion") : NULL;
    CUresult (*get_version)(CUcontext, unsigned *);
    unsigned version;
    memcpy(&get_version, &found, sizeof get_version);
    for (size_t i = 0; found != NULL && i < used_count; i++) {
        if (get_version(used[i], &version) == CUDA_ERROR_INVALID_CONTEXT) {
            note("crash: configured when a context had gone in which something was counted");
            abort();
        }
    }
}

__attribute__((destructor)) static void end(void)
{
    if (is_configured) {
        read_contexts();
    }
}

CUptiResult cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params *params)
{
    (void)params;
    read_contexts();
    if (is_enabled || !is_configured) {
        note("configuration taken back too early");
    }
    is_configured = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params *params)
{
    if (is_enabled || !is_configured || params->ctx == NULL) {
        note("enabled out of order");
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    if (worker_may_work()) {
        note("crash: CUPTI's worker thread works, or will soon");
        abort();
    }
    const char *opens = getenv("CUPTI_STANDIN_OPENS");
    if (opens == NULL) {
        inside_counting_begins();
    } else if (sessions == 0) {
        note(dlopen(opens, RTLD_NOW) != NULL ? "opened" : "not opened");
    }
    is_enabled = true;
    worker_must_sleep(true);
    sessions++;
    size_t at = 0;
    while (at < used_count && used[at] != params->ctx) {
        at++;
    }
    if (at < CONTEXTS) {
        used[at] = params->ctx;
        used_count += at == used_count;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params *params)
{
    (void)params;
    const char *ms = getenv("CUPTI_STANDIN_MS");
    (void)usleep(1000 * (useconds_t)(ms != NULL ? strtoul(ms, NULL, 10) : 0));
    note(is_enabled ? "session" : "disabled out of order");
    is_enabled = false;
    worker_must_sleep(false);
    inside_counting_ended();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params *params)
{
    bool patched = sessions == 1 || patches_all;
    params->numOfPatchedInstructionRecords = patched ? INSTRUCTIONS * configured_count : 0;
    params->numOfInstances = 1;
    return is_enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

/* Each instruction as a load of one float per lane, 8 sectors for what fits into 4. */
static uint64_t value_of(const char *name)
{
    static const struct {
        const char *end;
        uint64_t value;
    } values[] = {
        {"sectors_mem_global", 8 * EXECUTED},
        {"sectors_mem_global_ideal", 4 * EXECUTED},
        {"sass_inst_executed", EXECUTED},
        {"thread_inst_executed", 32 * EXECUTED},
        {"thread_inst_executed_pred_on", 32 * EXECUTED},
        {"op_memory_32b", EXECUTED},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        size_t length = strlen(values[i].end), whole = strlen(name);
        if (whole >= length && strcmp(name + whole - length, values[i].end) == 0) {
            return values[i].value;
        }
    }
    return 0;
}

CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params *params)
{
    if (!is_enabled || params->structSize != CUpti_SassMetricsFlushData_Params_STRUCT_SIZE) {
        note("flushed out of order");
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    uint32_t cubins = cubin_count();
    uint32_t module = cubins > 1 ? (uint32_t)((sessions - 1) % cubins) : module_count() - 1;
    for (size_t i = 0; i < params->numOfPatchedInstructionRecords; i++) {
        CUpti_SassMetrics_Data *record = &params->pMetricsData[i];
        uint64_t id = configured[i / INSTRUCTIONS];
        record->cubinCrc = CRC + module;
        record->functionName = "_Z1aPKfPf";
        record->pcOffset = (uint32_t)(i % INSTRUCTIONS * INSTRUCTION_BYTES);
        record->pInstanceValues[0].metricId = id;
        record->pInstanceValues[0].value = value_of(names[id]);
    }
    return CUPTI_SUCCESS;
}
