/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and stopping a profiler: there is none to start, and programs that ask are not refused. */
#include "simgpu/driver/driver.h"

CUresult sim_cuProfilerInitialize(const char *configFile, const char *outputFile,
                                  CUoutput_mode outputMode)
{
    (void)configFile;
    (void)outputFile;
    (void)outputMode;
    return CUDA_ERROR_NOT_SUPPORTED; /* deprecated: no driver does it any more */
}

CUresult sim_cuProfilerStart(void)
{
    return sim_current() != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuProfilerStop(void)
{
    return sim_current() != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
