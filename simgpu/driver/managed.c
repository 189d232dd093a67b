/* SPDX-License-Identifier: Apache-2.0 */
/* Advice and prefetching of managed memory: it has one place, so they change nothing but what queries say. */
#include <string.h>

#include "simgpu/driver/driver.h"

static const CUmemLocation nowhere = {.type = CU_MEM_LOCATION_TYPE_INVALID,
                                      .id = CU_DEVICE_INVALID};

static bool location_valid(const CUmemLocation *location)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return sim_device_valid(location->id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return location->id >= 0;
    default: return false;
    }
}

/* The older entry points name the host by a device number of its own. */
static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU
               ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0}
               : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

/* ---- prefetch ---- */

static void note_prefetch(struct sim_range *range, void *location)
{
    range->advice.prefetched = *(const CUmemLocation *)location;
}

static CUresult prefetch(CUdeviceptr ptr, size_t count, CUmemLocation location, CUstream hStream)
{
    struct sim_stream *stream;
    if (!location_valid(&location)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    CUresult result = sim_stream_of(hStream, &stream);
    if (result == CUDA_SUCCESS &&
        (count == 0 || !sim_heap_advise((uintptr_t)ptr, count, note_prefetch, &location))) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return result;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                CUstream hStream)
{
    return prefetch(devPtr, count, location_of(dstDevice), hStream);
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                   unsigned int flags, CUstream hStream)
{
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(devPtr, count, location, hStream);
}

/* Location k is that of the ranges from prefetchLocIdxs[k] on. */
CUresult sim_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                     CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                     size_t numPrefetchLocs, unsigned long long flags,
                                     CUstream hStream)
{
    if (dptrs == NULL || sizes == NULL || count == 0 || prefetchLocs == NULL ||
        prefetchLocIdxs == NULL || numPrefetchLocs == 0 || numPrefetchLocs > count ||
        prefetchLocIdxs[0] != 0 || flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0, at = 0; result == CUDA_SUCCESS && i < count; i++) {
        while (at + 1 < numPrefetchLocs && prefetchLocIdxs[at + 1] <= i) {
            at++;
        }
        result = prefetch(dptrs[i], sizes[i], prefetchLocs[at], hStream);
    }
    return result;
}

CUresult sim_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                    unsigned int flags)
{
    struct sim_stream *stream;
    struct sim_range range;
    CUresult result = sim_stream_of(hStream, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    bool whole = sim_heap_find((uintptr_t)dptr, &range) && range.start == (uintptr_t)dptr &&
                 (length == 0 || length == range.bytes) && (range.kind & SIM_MEM_MANAGED) != 0;
    return whole && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                     flags == CU_MEM_ATTACH_SINGLE)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- advice ---- */

struct advice {
    CUmem_advise what;
    CUmemLocation location;
};

static void note_advice(struct sim_range *range, void *data)
{
    const struct advice *advice = data;
    unsigned bit = advice->location.type == CU_MEM_LOCATION_TYPE_DEVICE
                       ? 1u << advice->location.id
                       : 1u << SIM_MAX_DEVICES; /* the host */
    switch (advice->what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: range->advice.read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: range->advice.read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: range->advice.preferred = advice->location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: range->advice.preferred = nowhere; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: range->advice.accessed_by |= bit; break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: range->advice.accessed_by &= ~bit; break;
    default: break;
    }
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                            CUmemLocation location)
{
    bool anywhere = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ||
                    advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY ||
                    advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        count == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!anywhere && !location_valid(&location)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    struct advice given = {.what = advice, .location = location};
    if (anywhere) {
        given.location = nowhere;
    }
    return sim_heap_advise((uintptr_t)devPtr, count, note_advice, &given)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return sim_cuMemAdvise_v2(devPtr, count, advice, location_of(device));
}

/* ---- queries ---- */

static int as_device(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE    ? location->id
           : location->type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID
                                                            : CU_DEVICE_CPU;
}

static CUresult accessed_by(const struct sim_range *range, int *out, size_t count)
{
    size_t used = 0;
    for (int device = 0; device <= SIM_MAX_DEVICES && used < count; device++) {
        if ((range->advice.accessed_by >> device & 1) != 0) {
            out[used++] = device == SIM_MAX_DEVICES ? CU_DEVICE_CPU : device;
        }
    }
    while (used < count) {
        out[used++] = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                    CUdeviceptr devPtr, size_t count)
{
    struct sim_range range;
    if (data == NULL || dataSize == 0 || dataSize % sizeof(int) != 0 || count == 0 ||
        !sim_heap_find((uintptr_t)devPtr, &range) || (range.kind & SIM_MEM_MANAGED) == 0 ||
        count > range.bytes - ((uintptr_t)devPtr - range.start)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int value;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        return accessed_by(&range, data, dataSize / sizeof(int));
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = range.advice.read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = as_device(&range.advice.preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = as_device(&range.advice.prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        value = (int)range.advice.preferred.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: value = range.advice.preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = (int)range.advice.prefetched.type;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = range.advice.prefetched.id;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (dataSize != sizeof value) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                     CUmem_range_attribute *attributes, size_t numAttributes,
                                     CUdeviceptr devPtr, size_t count)
{
    if (data == NULL || dataSizes == NULL || attributes == NULL || numAttributes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; result == CUDA_SUCCESS && i < numAttributes; i++) {
        result = sim_cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    }
    return result;
}
