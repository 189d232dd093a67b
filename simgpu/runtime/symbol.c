/* SPDX-License-Identifier: Apache-2.0 */
/* __device__, __constant__ and __managed__ variables: where they are, copies to and from them. */
#include "simgpu/runtime/runtime.h"

cudaError_t sim_cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    size_t bytes;
    return devPtr == NULL ? cudaErrorInvalidValue
                          : sim_symbol_of(symbol, (CUdeviceptr *)devPtr, &bytes);
}

cudaError_t sim_cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    return size == NULL ? cudaErrorInvalidValue : sim_symbol_of(symbol, &address, size);
}

/* The address of [offset, offset + count) of the variable. */
static cudaError_t part_of(const void *symbol, size_t offset, size_t count, char **part)
{
    CUdeviceptr address;
    size_t bytes;
    cudaError_t error = sim_symbol_of(symbol, &address, &bytes);
    if (error == cudaSuccess && (offset > bytes || count > bytes - offset)) {
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        *part = (char *)address + offset;
    }
    return error;
}

/* The variable is on the device, whatever the other end is: `host` is the kind for host memory. */
static cudaError_t check(enum cudaMemcpyKind kind, enum cudaMemcpyKind host)
{
    return kind == host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

cudaError_t sim_cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    char *part;
    cudaError_t error = check(kind, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        error = part_of(symbol, offset, count, &part);
    }
    return error != cudaSuccess ? error : sim_cudaMemcpy(part, src, count, kind);
}

cudaError_t sim_cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                        size_t offset, enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    char *part;
    cudaError_t error = check(kind, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
        error = part_of(symbol, offset, count, &part);
    }
    return error != cudaSuccess ? error : sim_cudaMemcpyAsync(part, src, count, kind, stream);
}

cudaError_t sim_cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                     enum cudaMemcpyKind kind)
{
    char *part;
    cudaError_t error = check(kind, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) {
        error = part_of(symbol, offset, count, &part);
    }
    return error != cudaSuccess ? error : sim_cudaMemcpy(dst, part, count, kind);
}

cudaError_t sim_cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count,
                                          size_t offset, enum cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    char *part;
    cudaError_t error = check(kind, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) {
        error = part_of(symbol, offset, count, &part);
    }
    return error != cudaSuccess ? error : sim_cudaMemcpyAsync(dst, part, count, kind, stream);
}
