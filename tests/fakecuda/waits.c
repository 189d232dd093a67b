/* SPDX-License-Identifier: Apache-2.0 */
/* Waits on values, other devices and other processes: the stand-in device supports none of them. */
#include "fake.h"

CUresult fake_cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                  unsigned int flags)
{
    (void)stream;
    (void)addr;
    (void)value;
    (void)flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                     unsigned int flags)
{
    return fake_cuStreamWaitValue32(stream, addr, value, flags);
}

CUresult fake_cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                  unsigned int flags)
{
    return fake_cuStreamWaitValue32(stream, addr, (cuuint32_t)value, flags);
}

CUresult fake_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                     unsigned int flags)
{
    return fake_cuStreamWaitValue64(stream, addr, value, flags);
}

CUresult fake_cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                 CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    (void)stream;
    (void)flags;
    return count != 0 && paramArray == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                    CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    return fake_cuStreamBatchMemOp(stream, count, paramArray, flags);
}

CUresult fake_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
                                            unsigned int numExtSems, CUstream stream)
{
    (void)extSemArray;
    (void)paramsArray;
    (void)numExtSems;
    (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    (void)pdptr;
    (void)handle;
    (void)Flags;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fake_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    (void)phEvent;
    (void)handle;
    return CUDA_ERROR_NOT_SUPPORTED;
}
