/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions of the runtime API: all expanded from functions.def and forwards.def. */
#include "simgpu/cancel.h"
#include "simgpu/runtime/runtime.h"

#define DEFINE(symbol, need, per_thread, params, call) \
    SIM_EXPORT cudaError_t CUDARTAPI symbol params \
    { \
        SIM_UNCANCELLABLE; \
        cudaError_t entered = sim_rt_enter(SIM_NEED_##need, per_thread); \
        return sim_leave(entered != cudaSuccess ? entered : call); \
    }

#define SIM_FN(name, need, params, args) DEFINE(name, need, false, params, sim_##name args)
#define SIM_FN_PTDS(name, need, params, args) \
    DEFINE(name, need, false, params, sim_##name args) \
    DEFINE(name##_ptds, need, true, params, sim_##name args)
#define SIM_FN_PTSZ(name, need, params, args) \
    DEFINE(name, need, false, params, sim_##name args) \
    DEFINE(name##_ptsz, need, true, params, sim_##name args)
#include "simgpu/runtime/functions.def"

#define SIM_FORWARD(name, need, params, call) \
    DEFINE(name, need, false, params, sim_rt_error(SIM_CU->call))
#define SIM_FORWARD_PTSZ(name, need, params, call) \
    DEFINE(name, need, false, params, sim_rt_error(SIM_CU->call)) \
    DEFINE(name##_ptsz, need, true, params, sim_rt_error(SIM_CU->call))
#include "simgpu/runtime/forwards.def"

/* Neither an error of its own nor an initialization: these only look at what other calls left. */

SIM_EXPORT cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
    return sim_rt_thread.last_error;
}

/* After a fault, too, the error is given once (seen on an H200, CUDA 13.0); the next call that enters
 * the device finds it again. */
SIM_EXPORT cudaError_t CUDARTAPI cudaGetLastError(void)
{
    cudaError_t error = sim_rt_thread.last_error;
    sim_rt_thread.last_error = cudaSuccess;
    return error;
}
