/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's version. */
#include <cuda_runtime_api.h>

__attribute__((visibility("default"))) cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (version == NULL) {
        return cudaErrorInvalidValue;
    }
    *version = CUDART_VERSION;
    return cudaSuccess;
}
