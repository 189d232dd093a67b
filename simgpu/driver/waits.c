/* SPDX-License-Identifier: Apache-2.0 */
/* Waits on values, other devices and other processes: the software device device supports none of them. */
#include "simgpu/driver/driver.h"

CUresult sim_cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                 unsigned int flags)
{
    (void)stream;
    (void)addr;
    (void)value;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                    unsigned int flags)
{
    return sim_cuStreamWaitValue32(stream, addr, value, flags);
}

CUresult sim_cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                 unsigned int flags)
{
    return sim_cuStreamWaitValue32(stream, addr, (cuuint32_t)value, flags);
}

CUresult sim_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                    unsigned int flags)
{
    return sim_cuStreamWaitValue64(stream, addr, value, flags);
}

CUresult sim_cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    (void)stream;
    (void)flags;
    return count != 0 && paramArray == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    return sim_cuStreamBatchMemOp(stream, count, paramArray, flags);
}

CUresult sim_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                           const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
                                           unsigned int numExtSems, CUstream stream)
{
    (void)extSemArray;
    (void)paramsArray;
    (void)numExtSems;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    (void)pdptr;
    (void)handle;
    (void)Flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    (void)phEvent;
    (void)handle;
    return CUDA_ERROR_NOT_SUPPORTED;
}
