/* SPDX-License-Identifier: Apache-2.0 */
/* What cuPointerGetAttribute says of an address. */
#include <string.h>

#include "simgpu/driver/driver.h"

/* An answer, and how many bytes of it the attribute has. */
struct answer {
    size_t bytes;
    union {
        uint64_t word;
        void *pointer;
        int number;
        bool is;
        struct {
            unsigned long long p2p, va_space;
        } tokens;
    };
};

#define FOUND(field, value) \
    do { \
        answer->bytes = sizeof answer->field; \
        answer->field = (value); \
    } while (0)

static int access_flags(const struct sim_range *range)
{
    const struct sim_context *context = sim_current();
    return context == NULL ||
                   sim_range_accessible(range, context->device, atomic_load(&context->peers))
               ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
               : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
}

static CUresult ask(const struct sim_range *range, CUpointer_attribute attribute, CUdeviceptr ptr,
                    struct answer *answer)
{
    bool on_host = (range->kind & SIM_ANY_HOST_MEMORY) != 0;
    bool managed = (range->kind & SIM_MEM_MANAGED) != 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: FOUND(pointer, range->context); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        FOUND(number, on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: FOUND(word, ptr); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        FOUND(word, on_host || managed ? ptr : 0);
        return on_host || managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: FOUND(is, true); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: FOUND(word, range->id); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: FOUND(is, managed); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: FOUND(number, range->device); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: FOUND(word, range->start); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: FOUND(word, range->bytes); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: FOUND(is, true); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        FOUND(is, range->kind == SIM_MEM_DEVICE && range->pool == NULL && range->mapped_bytes != 0);
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: FOUND(is, false); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: FOUND(word, 0); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: FOUND(number, access_flags(range)); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: FOUND(pointer, range->pool); break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        answer->bytes = sizeof answer->tokens;
        return CUDA_ERROR_NOT_SUPPORTED;
    default: answer->bytes = 0; return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct sim_range range;
    struct answer answer = {0};
    if (data == NULL || !sim_heap_find((uintptr_t)ptr, &range)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = ask(&range, attribute, ptr, &answer);
    if (result == CUDA_SUCCESS) {
        memcpy(data, &answer.word, answer.bytes);
    }
    return result;
}

/* Where there is no answer, zero; where there is no device, the number that means so. */
CUresult sim_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                    void **data, CUdeviceptr ptr)
{
    struct sim_range range = {0};
    if (attributes == NULL || data == NULL || numAttributes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool known = sim_heap_find((uintptr_t)ptr, &range);
    for (unsigned i = 0; i < numAttributes; i++) {
        struct answer answer = {0};
        CUresult result = ask(&range, attributes[i], ptr, &answer);
        if (answer.bytes == 0 || data[i] == NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        size_t bytes = answer.bytes;
        if (!known || result != CUDA_SUCCESS) {
            answer = (struct answer){0};
        }
        if (!known && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
            answer.number = CU_DEVICE_INVALID;
        }
        memcpy(data[i], &answer.word, bytes);
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                   CUdeviceptr ptr)
{
    struct sim_range range;
    return value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                   !sim_heap_find((uintptr_t)ptr, &range)
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}
