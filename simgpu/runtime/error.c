/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of errors, and what a driver's result is in the runtime's numbers. */
#include "simgpu/runtime/runtime.h"

static const struct sim_error_row {
    cudaError_t code;
    bool sticky;
    const char *name, *text;
} rows[] = {
#define SIM_ERROR(name, text) {name, false, #name, text},
#define SIM_STICKY_ERROR(name, text) {name, true, #name, text},
#include "simgpu/runtime/errors.def"
};

static const struct sim_error_row *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == error) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Driver and runtime share their numbers; what only the driver has is unknown to programs here. */
cudaError_t sim_rt_error(CUresult result)
{
    if (result == CUDA_SUCCESS) {
        return cudaSuccess;
    }
    return find((cudaError_t)result) != NULL ? (cudaError_t)result : cudaErrorUnknown;
}

bool sim_error_is_sticky(cudaError_t error)
{
    const struct sim_error_row *row = find(error);
    return row != NULL && row->sticky;
}

SIM_EXPORT const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    const struct sim_error_row *row = find(error);
    return row != NULL ? row->name : "unrecognized error code";
}

SIM_EXPORT const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    const struct sim_error_row *row = find(error);
    return row != NULL ? row->text : "unrecognized error code";
}
