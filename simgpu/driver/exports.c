/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions: each is counted, refused where CUDA refuses it, and then carried out. */
#include <string.h>

#include "simgpu/cancel.h"
#include "simgpu/driver/late.h"

#include <generated_cuda_meta.h>

#include "simgpu/driver/ids.h"

#define SIM_EXPORT __attribute__((visibility("default")))

static bool works_uninitialized(unsigned id)
{
    switch (id) {
    case ID_cuInit:
    case ID_cuDriverGetVersion:
    case ID_cuGetProcAddress:
    case ID_cuGetProcAddress_v2:
    case ID_cuGetErrorName:
    case ID_cuGetErrorString:
    case ID_cuGetExportTable:
    case ID_cuThreadExchangeStreamCaptureMode: return true;
    default: return false;
    }
}

/*
 * What still works in a context whose kernel failed: what does not use its device, and what ends it.
 * (Beginnings of names; cuCtxSynchronize reports the error itself.)
 */
static const char *const works_faulted[] = {
    "cuInit",   "cuDriver", "cuDevice",    "cuCtx",     "cuGet",    "cuProfiler", "cuLibrary",
    "cuKernel", "cuFunc",   "cuOccupancy", "cuPointer", "cuThread", "cuMemPool",  "cuLink",
};

static CUresult faulted(unsigned id)
{
    struct sim_context *context = sim_current();
    for (size_t i = 0; i < sizeof works_faulted / sizeof works_faulted[0]; i++) {
        if (strncmp(sim_names[id], works_faulted[i], strlen(works_faulted[i])) == 0) {
            return CUDA_SUCCESS;
        }
    }
    return context != NULL ? sim_fault(context, false) : CUDA_SUCCESS;
}

CUresult sim_enter(unsigned id, bool per_thread)
{
    sim_tally(id);
    sim_thread.per_thread = per_thread;
    CUresult result = works_uninitialized(id)                   ? CUDA_SUCCESS
                      : sim_order_on() && sim_order_is_device() ? CUDA_ERROR_NOT_PERMITTED
                                                                : sim_call_allowed();
    return result == CUDA_SUCCESS && sim_faults_seen() ? faulted(id) : result;
}

/* Those of which CUPTI has no structure of parameters. */
typedef struct {
    const char *config, *output;
    CUoutput_mode mode;
} cuProfilerInitialize_params;
typedef struct {
    char none;
} cuProfilerStart_params, cuProfilerStop_params, cuCtxSynchronize_params,
    cuCtxResetPersistingL2Cache_params;

#define STRIP(...) __VA_ARGS__

#define DEFINE(symbol, impl, per_thread, params, args) \
    static CUresult call_##symbol params \
    { \
        CUresult allowed = sim_enter(ID_##symbol, per_thread); \
        if (__builtin_expect(sim_skipping, 0) && sim_skips(ID_##symbol)) { \
            return allowed; \
        } \
        return allowed != CUDA_SUCCESS ? allowed : impl args; \
    } \
    SIM_EXPORT CUresult CUDAAPI symbol params \
    { \
        SIM_UNCANCELLABLE; \
        if (__builtin_expect(sim_watcher == NULL, 1)) { \
            return call_##symbol args; \
        } \
        symbol##_params given = {STRIP args}; \
        struct simgpu_call call = sim_watch_begin(ID_##symbol, &given); \
        CUresult result = call_##symbol args; \
        sim_watch_end(&call, &result); \
        return result; \
    }

#define SIM(symbol, base, since, params, args) DEFINE(symbol, sim_##symbol, false, params, args)
#define SIM_PTDS(symbol, base, since, since_pt, params, args) \
    DEFINE(symbol, sim_##symbol, false, params, args) \
    DEFINE(symbol##_ptds, sim_##symbol, true, params, args)
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) \
    DEFINE(symbol, sim_##symbol, false, params, args) \
    DEFINE(symbol##_ptsz, sim_##symbol, true, params, args)
#include "simgpu/driver/functions.def"
