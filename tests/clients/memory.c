/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about memory other than by cuMemAlloc: mappings, arrays, pools, and hints. */
#include "client.h"

#include <stdio.h>
#include <string.h>

enum { ROUND = 2 << 20 };

static CUmemGenericAllocationHandle physical(size_t bytes)
{
    CUmemGenericAllocationHandle handle;
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CHECK(cu.cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
}

static void allow(CUdeviceptr address, size_t bytes)
{
    const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cu.cuMemSetAccess(address, bytes, &access, 1));
}

/* As a caching allocator with growing segments does: n pieces side by side, unmapped by one call. */
int scenario_mapped(long n)
{
    static unsigned char host[3 * ROUND];
    size_t pieces = n > 0 ? (size_t)n : 3, granularity = 0;
    CUdeviceptr base;
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    client_start();
    CHECK(cu.cuMemGetAllocationGranularity(&granularity, &properties,
                                           CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cu.cuMemAddressReserve(&base, (pieces + 1) * ROUND, 0, 0, 0));
    for (size_t i = 0; i < pieces; i++) {
        CUmemGenericAllocationHandle handle = physical(ROUND);
        CHECK(cu.cuMemMap(base + i * ROUND, ROUND, 0, handle, 0));
        allow(base + i * ROUND, ROUND);
        CHECK(cu.cuMemRelease(handle));
    }
    client_fill(host, sizeof host, 1);
    unsigned sent = client_checksum(host, sizeof host);
    CHECK(cu.cuMemcpyHtoD(base, host, sizeof host < pieces * ROUND ? sizeof host : pieces * ROUND));
    memset(host, 0, sizeof host);
    CHECK(cu.cuMemcpyDtoH(host, base, sizeof host < pieces * ROUND ? sizeof host : pieces * ROUND));
    printf("granularity %s, %s\n", ROUND % granularity == 0 ? "divides" : "does not divide",
           client_checksum(host, sizeof host) == sent || pieces < 3 ? "same data" : "other data");
    CHECK(cu.cuMemUnmap(base, pieces * ROUND));
    CHECK(cu.cuMemAddressFree(base, (pieces + 1) * ROUND));
    return 0;
}

static void use_arrays(void)
{
    char host[64 * 8 * 4] = {1};
    const CUDA_ARRAY_DESCRIPTOR flat = {
        .Width = 64, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    const CUDA_ARRAY3D_DESCRIPTOR deep = {
        .Width = 16, .Height = 4, .Depth = 2, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    CUarray array, volume;
    CUdeviceptr memory;
    CUstream stream;
    CHECK(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    CHECK(cu.cuArrayCreate(&array, &flat));
    CHECK(cu.cuArray3DCreate(&volume, &deep));
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    CHECK(cu.cuCtxSynchronize()); /* the stream does not wait for the legacy one */
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {
        {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                 .op.ptr = {.ptr = memory, .rowLength = 64, .layerHeight = 8}},
         .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {.array = array}},
         .extent = {64, 8, 1},
         .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
        {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                 .op.ptr = {.ptr = memory, .rowLength = 128, .layerHeight = 2}},
         .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                 .op.ptr = {.ptr = memory + 1024, .rowLength = 128, .layerHeight = 2}},
         .extent = {128, 2, 4},
         .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
    };
    CHECK(cu.cuMemcpy3DBatchAsync(2, ops, 0, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuArrayDestroy(array));
    CHECK(cu.cuArrayDestroy(volume));
    CHECK(cu.cuStreamDestroy(stream));
}

static void use_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    cuuint64_t keep = 1 << 20, keep_all = UINT64_MAX;
    CUmemoryPool pool;
    CUdeviceptr memory;
    CUstream stream;
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemPoolCreate(&pool, &properties));
    CHECK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    CHECK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all));
    CHECK(cu.cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
    CHECK(cu.cuMemFreeAsync(memory, stream));
    CHECK(cu.cuMemPoolTrimTo(pool, 4096));
    CHECK(cu.cuMemPoolDestroy(pool));
    CHECK(cu.cuStreamDestroy(stream));
}

/* Memory of the host from a pool: page-locked. */
static void use_host_pool(void)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUmemoryPool pool;
    CUdeviceptr host, memory;
    CUstream stream;
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, 2048));
    CHECK(cu.cuMemPoolCreate(&pool, &properties));
    for (int i = 0; i < 2; i++) {
        CHECK(cu.cuMemAllocFromPoolAsync(&host, 2048, pool, stream));
        CHECK(cu.cuStreamSynchronize(stream));
        CHECK(cu.cuMemcpyAsync(memory, host, 2048, stream));
        CHECK(cu.cuMemFreeAsync(host, stream));
    }
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemPoolDestroy(pool));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
}

static void use_hints(void)
{
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUdeviceptr memory;
    CUstream stream;
    size_t bytes = 8192, first = 0;
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
    CHECK(cu.cuMemAdvise(memory, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, place));
    CHECK(cu.cuMemPrefetchAsync(memory, bytes, place, 0, stream));
    CHECK(cu.cuMemPrefetchBatchAsync(&memory, &bytes, 1, &place, &first, 1, 0, stream));
    CHECK(cu.cuStreamAttachMemAsync(stream, memory, bytes, CU_MEM_ATTACH_SINGLE));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
}

int scenario_memory(long n)
{
    (void)n;
    client_start();
    use_arrays();
    use_pool();
    use_hints();
    puts("arrays, pools, hints");
    return 0;
}

/* The software device has none of it but values that a stream writes: the others are calls that fail. */
int scenario_mapped_otherwise(long n)
{
    const CUmulticastObjectProp shared = {.numDevices = 1, .size = ROUND};
    CUmemGenericAllocationHandle handle = 0;
    CUarrayMapInfo piece = {0};
    CUmemDecompressParams packed = {.dstNumBytes = 4096};
    CUgraphicsResource resource = NULL;
    CUmipmappedArray mipmap;
    CUdeviceptr memory, drawn;
    CUstream stream;
    size_t bytes, failed;
    int refused = 0;
    uint64_t value = 0;
    (void)n;
    client_start();
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, 64));
    CHECK(cu.cuStreamWriteValue32(stream, memory, 5, 0));
    CHECK(cu.cuStreamWriteValue64(stream, memory + 8, 7, 0));
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemcpyDtoH(&value, memory + 8, sizeof value));
    refused += cu.cuMulticastCreate(&handle, &shared) != CUDA_SUCCESS;
    refused += cu.cuMulticastAddDevice(handle, 0) != CUDA_SUCCESS;
    refused += cu.cuMulticastBindMem(handle, 0, 0, 0, ROUND, 0) != CUDA_SUCCESS;
    refused += cu.cuMulticastBindAddr(handle, 0, memory, ROUND, 0) != CUDA_SUCCESS;
    refused += cu.cuMulticastUnbind(handle, 0, 0, ROUND) != CUDA_SUCCESS;
    refused += cu.cuMemMapArrayAsync(&piece, 1, stream) != CUDA_SUCCESS;
    refused += cu.cuGraphicsMapResources(1, &resource, stream) != CUDA_SUCCESS;
    refused += cu.cuGraphicsResourceGetMappedPointer(&drawn, &bytes, resource) != CUDA_SUCCESS;
    refused += cu.cuGraphicsResourceGetMappedMipmappedArray(&mipmap, resource) != CUDA_SUCCESS;
    refused += cu.cuGraphicsUnmapResources(1, &resource, stream) != CUDA_SUCCESS;
    refused += cu.cuMemBatchDecompressAsync(&packed, 1, 0, &failed, stream) != CUDA_SUCCESS;
    refused += cu.cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                             CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER) !=
               CUDA_SUCCESS;
    printf("value %d, %d calls refused\n", (int)value, refused);
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
    return 0;
}

int scenario_host_pool(long n)
{
    (void)n;
    client_start();
    use_host_pool();
    return 0;
}

/* As XLA does with the results of its autotuner: they lie in page-locked memory, at an address that is the device's, too. */
int scenario_copies_named_otherwise(long n)
{
    unsigned char plain[64] = {1, 2, 3}, back[64] = {0};
    void *pinned;
    CUdeviceptr memory, address;
    CUstream stream;
    (void)n;
    client_start();
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&memory, sizeof plain));
    CHECK(cu.cuMemHostAlloc(&pinned, sizeof plain, CU_MEMHOSTALLOC_DEVICEMAP));
    address = (CUdeviceptr)pinned;
    CHECK(cu.cuMemcpyHtoDAsync(address, plain, sizeof plain, stream));
    CHECK(cu.cuMemcpyDtoDAsync(memory, address, sizeof plain, stream));
    CHECK(cu.cuMemsetD8Async(address, 0, sizeof plain, stream));
    CHECK(cu.cuMemcpyDtoDAsync(address, memory, sizeof plain, stream));
    CHECK(cu.cuMemcpyDtoHAsync(back, address, sizeof back, stream));
    CHECK(cu.cuStreamSynchronize(stream));
    printf("the same: %d\n", memcmp(plain, back, sizeof back) == 0);
    CHECK(cu.cuMemFreeHost(pinned));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuStreamDestroy(stream));
    return 0;
}
