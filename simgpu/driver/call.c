/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a launch that has been checked, and says what comes of a fault. */
#include <pthread.h>
#include <string.h>

#include "simgpu/driver/late.h"

static pthread_mutex_t launch_lock = PTHREAD_MUTEX_INITIALIZER;

/* What a kernel's end means; the others are not the context's end. */
static CUresult fault_of(enum sim_status status)
{
    switch (status) {
    case SIM_ILLEGAL_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIM_MISALIGNED_ADDRESS: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIM_ILLEGAL_INSTRUCTION: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case SIM_ASSERT: return CUDA_ERROR_ASSERT;
    case SIM_DEADLOCK:
    case SIM_TIMEOUT: return CUDA_ERROR_LAUNCH_TIMEOUT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

static enum sim_status run(const struct sim_call *call, struct sim_context *context,
                           struct sim_error *error)
{
    static uint64_t grids;
    const struct sim_map *map = sim_map_of(context);
    if (map == NULL) {
        return SIM_OUT_OF_MEMORY;
    }
    struct sim_counts *counts = sim_counting_begin();
    struct sim_watchdog watchdog;
    sim_watchdog_begin(&watchdog, call->function->info->name);
    struct sim_launch launch = {
        .kernel = call->function->kernel,
        .dynamic_shared_bytes = call->dynamic_bytes,
        .params = call->params,
        .map = map,
        .stack_bytes = sim_stack_bytes(context),
        .grid_id = ++grids,
        .count = counts != NULL,
        .touches = sim_late_touches_begin(map),
        .check_races = counts != NULL && sim_looking_for_races(),
        .progress = sim_watchdog_look,
        .progress_argument = &watchdog,
    };
    memcpy(launch.grid, call->grid, sizeof launch.grid);
    memcpy(launch.block, call->block, sizeof launch.block);
    enum sim_status status = sim_run(&launch, counts, error);
    sim_late_touches_end(launch.touches);
    if (status == SIM_OK && counts != NULL) {
        sim_counting_end(call->function->kernel);
    }
    return status;
}

CUresult sim_call_run(const struct sim_call *call, struct sim_context *context)
{
    struct sim_error error = {.text = ""};
    /* A graph may outlive the modules its kernels come from. */
    if (!sim_object_element(call->function, SIM_FUNCTION, sizeof *call->function) ||
        call->param_bytes != call->function->info->param_bytes) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    pthread_mutex_lock(&launch_lock);
    enum sim_status status = run(call, context, &error);
    pthread_mutex_unlock(&launch_lock);
    if (status == SIM_OK) {
        if (!sim_order_on() && sim_object_is(call->completion, SIM_EVENT)) {
            sim_event_record(call->completion, NULL);
        }
        return CUDA_SUCCESS;
    }
    if (error.text[0] != '\0') {
        sim_say("%s%s", error.text, status == SIM_TIMEOUT ? " when SIMGPU_TIMEOUT had passed" : "");
    }
    if (status == SIM_OUT_OF_MEMORY || status == SIM_OUT_OF_RESOURCES) {
        return status == SIM_OUT_OF_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY
                                           : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    sim_fault_set(context, fault_of(status));
    return CUDA_SUCCESS; /* as on hardware, it is found when somebody waits */
}
