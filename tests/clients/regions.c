/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of allocators that say by NVTX's memory extension what they hand out, with NVIDIA's headers. */
#define _GNU_SOURCE
#include "client.h"

#include <limits.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/kinds.h"
#include "preload/state/nvtx_memory.h"

#define SAME_PLACE(ours, member, theirs, their_member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #member)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)
SAME_SIZE(gmt_nvtx_extent, nvtxMemVirtualRangeDesc_t);
SAME_PLACE(gmt_nvtx_extent, address, nvtxMemVirtualRangeDesc_t, ptr);
SAME_SIZE(gmt_nvtx_heap, nvtxMemHeapDesc_t);
SAME_PLACE(gmt_nvtx_heap, struct_size, nvtxMemHeapDesc_t, structSize);
SAME_PLACE(gmt_nvtx_heap, usage, nvtxMemHeapDesc_t, usage);
SAME_PLACE(gmt_nvtx_heap, type, nvtxMemHeapDesc_t, type);
SAME_PLACE(gmt_nvtx_heap, extent_size, nvtxMemHeapDesc_t, typeSpecificDescSize);
SAME_PLACE(gmt_nvtx_heap, extent, nvtxMemHeapDesc_t, typeSpecificDesc);
SAME_PLACE(gmt_nvtx_heap, message_type, nvtxMemHeapDesc_t, messageType);
SAME_PLACE(gmt_nvtx_heap, message, nvtxMemHeapDesc_t, message);
SAME_SIZE(gmt_nvtx_regions, nvtxMemRegionsRegisterBatch_t);
SAME_PLACE(gmt_nvtx_regions, type, nvtxMemRegionsRegisterBatch_t, regionType);
SAME_PLACE(gmt_nvtx_regions, heap, nvtxMemRegionsRegisterBatch_t, heap);
SAME_PLACE(gmt_nvtx_regions, count, nvtxMemRegionsRegisterBatch_t, regionCount);
SAME_PLACE(gmt_nvtx_regions, extents, nvtxMemRegionsRegisterBatch_t, regionDescElements);
SAME_PLACE(gmt_nvtx_regions, handles, nvtxMemRegionsRegisterBatch_t, regionHandleElementsOut);
SAME_SIZE(gmt_nvtx_resizes, nvtxMemRegionsResizeBatch_t);
SAME_PLACE(gmt_nvtx_resizes, count, nvtxMemRegionsResizeBatch_t, regionDescCount);
SAME_PLACE(gmt_nvtx_resizes, extents, nvtxMemRegionsResizeBatch_t, regionDescElements);
SAME_SIZE(gmt_nvtx_endings, nvtxMemRegionsUnregisterBatch_t);
SAME_PLACE(gmt_nvtx_endings, reference_type, nvtxMemRegionsUnregisterBatch_t, refType);
SAME_PLACE(gmt_nvtx_endings, count, nvtxMemRegionsUnregisterBatch_t, refCount);
SAME_PLACE(gmt_nvtx_endings, references, nvtxMemRegionsUnregisterBatch_t, refElements);
SAME_SIZE(gmt_nvtx_region_name, nvtxMemRegionNameDesc_t);
SAME_PLACE(gmt_nvtx_region_name, message_type, nvtxMemRegionNameDesc_t, nameType);
SAME_PLACE(gmt_nvtx_region_name, region, nvtxMemRegionNameDesc_t, region);
SAME_PLACE(gmt_nvtx_region_name, message, nvtxMemRegionNameDesc_t, name);
SAME_SIZE(gmt_nvtx_region_names, nvtxMemRegionsNameBatch_t);
SAME_PLACE(gmt_nvtx_region_names, count, nvtxMemRegionsNameBatch_t, regionCount);
SAME_PLACE(gmt_nvtx_region_names, elements, nvtxMemRegionsNameBatch_t, regionElements);
_Static_assert(GMT_NVTX_MODULE_MEMORY == NVTX_EXT_MODULEID_MEM &&
                   GMT_NVTX_MEMORY_COMPATIBILITY == NVTX_EXT_COMPATID_MEM &&
                   GMT_NVTX_VIRTUAL_ADDRESS == NVTX_MEM_TYPE_VIRTUAL_ADDRESS &&
                   GMT_NVTX_REF_POINTER == NVTX_MEM_REGION_REF_TYPE_POINTER &&
                   GMT_NVTX_REF_HANDLE == NVTX_MEM_REGION_REF_TYPE_HANDLE,
               "memory extension");
_Static_assert(GMT_HEAP_SUB_ALLOCATOR == NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR &&
                   GMT_HEAP_LAYOUT == NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT,
               "usages of heaps");
_Static_assert(GMT_NVTX_HEAP_REGISTER == NVTX3EXT_CBID_nvtxMemHeapRegister &&
                   GMT_NVTX_HEAP_UNREGISTER == NVTX3EXT_CBID_nvtxMemHeapUnregister &&
                   GMT_NVTX_HEAP_RESET == NVTX3EXT_CBID_nvtxMemHeapReset &&
                   GMT_NVTX_REGIONS_REGISTER == NVTX3EXT_CBID_nvtxMemRegionsRegister &&
                   GMT_NVTX_REGIONS_RESIZE == NVTX3EXT_CBID_nvtxMemRegionsResize &&
                   GMT_NVTX_REGIONS_UNREGISTER == NVTX3EXT_CBID_nvtxMemRegionsUnregister &&
                   GMT_NVTX_REGIONS_NAME == NVTX3EXT_CBID_nvtxMemRegionsName,
               "slots of the memory extension");

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

static nvtxDomainHandle_t domain;
static CUcontext context;

static void begin(void)
{
    client_load(VIA_PROC);
    context = client_start();
}

/* ---- what an allocator calls ---------------------------------------------------------------------- */

static nvtxMemHeapHandle_t heap_of(CUdeviceptr base, size_t bytes, uint32_t usage, const char *name)
{
    nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = (const void *)(uintptr_t)base};
    nvtxMemHeapDesc_t desc = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                              .structSize = sizeof desc,
                              .usage = usage,
                              .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                              .typeSpecificDescSize = sizeof range,
                              .typeSpecificDesc = &range,
                              .messageType = NVTX_MESSAGE_TYPE_ASCII,
                              .message.ascii = name};
    return nvtxMemHeapRegister(domain, &desc);
}

static nvtxMemVirtualRangeDesc_t range_of(CUdeviceptr address, size_t bytes)
{
    return (nvtxMemVirtualRangeDesc_t){.size = bytes, .ptr = (const void *)(uintptr_t)address};
}

static void regions_in(nvtxMemHeapHandle_t heap, const nvtxMemVirtualRangeDesc_t *ranges,
                       size_t count, nvtxMemRegionHandle_t *handles)
{
    nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                           .structSize = sizeof batch,
                                           .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           .heap = heap,
                                           .regionCount = count,
                                           .regionDescElementSize = sizeof *ranges,
                                           .regionDescElements = ranges,
                                           .regionHandleElementsOut = handles};
    nvtxMemRegionsRegister(domain, &batch);
}

static void resize(CUdeviceptr address, size_t bytes)
{
    nvtxMemVirtualRangeDesc_t range = range_of(address, bytes);
    nvtxMemRegionsResizeBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                         .structSize = sizeof batch,
                                         .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                         .regionDescCount = 1,
                                         .regionDescElementSize = sizeof range,
                                         .regionDescElements = &range};
    nvtxMemRegionsResize(domain, &batch);
}

static void region_ends(nvtxMemRegionRef_t reference, uint32_t type)
{
    nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                             .structSize = sizeof batch,
                                             .refType = type,
                                             .refCount = 1,
                                             .refElementSize = sizeof reference,
                                             .refElements = &reference};
    nvtxMemRegionsUnregister(domain, &batch);
}

static void region_at_ends(CUdeviceptr address)
{
    nvtxMemRegionRef_t reference = {.pointer = (const void *)(uintptr_t)address};
    region_ends(reference, NVTX_MEM_REGION_REF_TYPE_POINTER);
}

static void name(CUdeviceptr address, const char *text)
{
    nvtxMemRegionNameDesc_t named = {.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER,
                                     .nameType = NVTX_MESSAGE_TYPE_ASCII,
                                     .region.pointer = (const void *)(uintptr_t)address,
                                     .name.ascii = text};
    nvtxMemRegionsNameBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                       .structSize = sizeof batch,
                                       .regionCount = 1,
                                       .regionElementSize = sizeof named,
                                       .regionElements = &named};
    nvtxMemRegionsName(domain, &batch);
}

/* ---- a pool ---------------------------------------------------------------------------------------- */

#define POOL_BYTES (64 * MIB)

static struct {
    CUdeviceptr base;
    size_t used;
    nvtxMemHeapHandle_t heap;
} pool;

static NOINLINE void pool_open(void)
{
    CHECK(cu.cuMemAlloc(&pool.base, POOL_BYTES));
    pool.used = 0;
    pool.heap = heap_of(pool.base, POOL_BYTES, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, "pool");
}

/* All places of the program have these two functions in common. */
static NOINLINE CUdeviceptr pool_carve(size_t bytes)
{
    CUdeviceptr address = pool.base + pool.used;
    nvtxMemVirtualRangeDesc_t range = range_of(address, bytes);
    pool.used += bytes;
    regions_in(pool.heap, &range, 1, NULL);
    return address;
}

static NOINLINE CUdeviceptr pool_alloc(size_t bytes)
{
    CUdeviceptr address = pool_carve(bytes);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return address;
}

static NOINLINE void make_weights(CUdeviceptr *weights)
{
    for (int i = 0; i < 3; i++) {
        weights[i] = pool_alloc(4 * MIB);
        name(weights[i], "weight");
    }
}

static NOINLINE CUdeviceptr make_activations(int step)
{
    CUdeviceptr activations = pool_alloc(8 * MIB);
    name(activations, step == 0 ? "first" : "later");
    return activations;
}

/* 64 MiB, of which 12 are weights to the end, and at the most 20 more are activations; 16 KiB beside the pool. Nothing but the pool
 * is given to the kernel, by its second MiB, so that no use shows what it is. */
int scenario_pool(long n)
{
    CUdeviceptr weights[3], activations[2], beside;
    CUmodule module;
    CUfunction add;
    (void)n;
    begin();
    domain = nvtxDomainCreateA("allocator");
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&beside, 16 << 10));
    pool_open();
    make_weights(weights);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 2; i++) {
            activations[i] = make_activations(step);
        }
        if (step == 1) {
            resize(activations[1], 12 * MIB); /* the most */
        }
        CHECK(client_vector_add(add, weights[1], weights[1], beside, 256, NULL));
        for (int i = 2; i-- > 0;) {
            region_at_ends(activations[i]);
            pool.used -= 8 * MIB;
        }
    }
    region_at_ends(weights[2]);
    nvtxMemHeapUnregister(domain, pool.heap); /* with what is left in it */
    CHECK(cu.cuMemFree(beside));
    CHECK(cu.cuModuleUnload(module));
    return 0;
}

/* Memory that is not used: an allocator's, which has not handed it out, where N is 1. */
int scenario_unused(long n)
{
    CUdeviceptr other;
    CUmodule module;
    CUfunction add;
    begin();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&other, 16 << 10));
    CHECK(cu.cuMemAlloc(&pool.base, POOL_BYTES));
    if (n == 1) {
        (void)heap_of(pool.base, POOL_BYTES, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, "unused");
    }
    CHECK(client_vector_add(add, other, other, other, 256, NULL));
    return 0;
}

/* ---- order, time, and other processes --------------------------------------------------------------- */

/* Before CUDA is used: of host memory. Reset, and the whole process as a heap. */
int scenario_early(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory, device;
    nvtxMemVirtualRangeDesc_t ranges[] = {range_of(base, 1024), range_of(base + 1024, 512)};
    (void)n;
    nvtxMemHeapHandle_t heap = heap_of(base, sizeof memory, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT,
                                       "early");
    regions_in(heap, ranges, 2, NULL);
    name(base, "named before");
    begin();
    CHECK(cu.cuMemAlloc(&device, 8192));
    nvtxMemHeapReset(domain, heap);
    regions_in(heap, ranges, 1, NULL);
    ranges[0] = range_of(device, 4096);
    regions_in(NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE, ranges, 1, NULL);
    name(device, "of the process");
    nvtxMemHeapReset(domain, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    CHECK(cu.cuMemFree(device));
    return 0;
}

int scenario_nothing(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;
    nvtxMemVirtualRangeDesc_t range = range_of(base, 64);
    (void)n;
    regions_in(heap_of(base, sizeof memory, 1, "nothing"), &range, 1, NULL);
    region_at_ends(base);
    region_at_ends(base);
    return 0;
}

static pthread_barrier_t together;

static void *allocate(void *number)
{
    size_t part = POOL_BYTES / 8;
    CUdeviceptr mine = pool.base + (uintptr_t)number * part;
    (void)pthread_barrier_wait(&together);
    for (unsigned i = 0; i < 500; i++) {
        nvtxMemVirtualRangeDesc_t range = range_of(mine + i % 7 * 4096, 4096);
        regions_in(pool.heap, &range, 1, NULL);
        region_at_ends(mine + i % 7 * 4096);
    }
    return NULL;
}

int scenario_threads(long n)
{
    pthread_t threads[8];
    (void)n;
    begin();
    pool_open();
    (void)pthread_barrier_init(&together, NULL, 8);
    for (uintptr_t i = 0; i < 8; i++) {
        (void)pthread_create(&threads[i], NULL, allocate, (void *)i);
    }
    for (int i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK(cu.cuMemFree(pool.base));
    return 0;
}

/* What the parent has registered is not the child's; what the child registers at the same addresses is. */
int scenario_fork(long n)
{
    static char memory[4096];
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)memory;
    nvtxMemVirtualRangeDesc_t range = range_of(base, 64);
    (void)n;
    nvtxMemHeapHandle_t heap = heap_of(base, sizeof memory, 1, "of the parent");
    regions_in(heap, &range, 1, NULL);
    pid_t child = fork();
    if (child == 0) {
        begin();
        heap = heap_of(base, sizeof memory, 1, "of the child");
        regions_in(heap, &range, 1, NULL);
        exit(0);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    return status;
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* N regions, begun and ended. On stderr: ns of processor time for one. */
int scenario_many(long n)
{
    begin();
    pool_open();
    double start = seconds();
    for (long i = 0; i < n; i++) {
        CUdeviceptr address = pool_alloc(4096);
        region_at_ends(address);
        pool.used = (size_t)(i % 1024) * 4096;
    }
    fprintf(stderr, "%.0f\n", 1e9 * (seconds() - start) / (double)(n > 0 ? n : 1));
    CHECK(cu.cuMemFree(pool.base));
    return 0;
}

/* ---- what nobody should do --------------------------------------------------------------------------- */

static void bad_heaps(void)
{
    nvtxMemVirtualRangeDesc_t range = range_of(pool.base, 4096);
    const nvtxMemHeapDesc_t good = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                    .structSize = sizeof good,
                                    .usage = 1,
                                    .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                    .typeSpecificDescSize = sizeof range,
                                    .typeSpecificDesc = &range};
    nvtxMemHeapDesc_t bad = good;
    (void)nvtxMemHeapRegister(domain, NULL);
    bad.extCompatID = 0x0103;
    (void)nvtxMemHeapRegister(domain, &bad);
    bad = good;
    bad.structSize = 8;
    (void)nvtxMemHeapRegister(domain, &bad);
    bad = good;
    bad.typeSpecificDesc = NULL;
    (void)nvtxMemHeapRegister(domain, &bad);
    bad = good;
    bad.typeSpecificDescSize = 8;
    (void)nvtxMemHeapRegister(domain, &bad); /* 5 of a version that is not known */
    bad = good;
    bad.type = NVTX_MEM_TYPE_CUDA_ARRAY;
    (void)nvtxMemHeapRegister(domain, &bad); /* 1 without addresses */
    range = range_of(0, 4096);
    (void)nvtxMemHeapRegister(domain, &good);
    range = range_of(pool.base, SIZE_MAX);
    (void)nvtxMemHeapRegister(domain, &good); /* 2 nowhere */
    nvtxMemHeapUnregister(domain, (nvtxMemHeapHandle_t)(uintptr_t)77);
    nvtxMemHeapUnregister(domain, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    nvtxMemHeapReset(domain, NVTX_MEM_HEAP_HANDLE_NO_TOOL); /* 3 of unknown heaps */
}

static void bad_batches(void)
{
    nvtxMemVirtualRangeDesc_t range = range_of(pool.base, 4096);
    nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                           .structSize = sizeof batch,
                                           .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           .heap = pool.heap,
                                           .regionCount = 1,
                                           .regionDescElementSize = sizeof range};
    nvtxMemRegionsRegister(domain, &batch); /* no elements */
    batch.regionDescElements = &range;
    batch.regionDescElementSize = 4;
    nvtxMemRegionsRegister(domain, &batch);
    batch.regionDescElementSize = sizeof range;
    batch.regionCount = SIZE_MAX;
    nvtxMemRegionsRegister(domain, &batch);
    nvtxMemRegionsRegister(domain, NULL);
    nvtxMemRegionsResize(domain, NULL);
    nvtxMemRegionsUnregister(domain, NULL);
    nvtxMemRegionsName(domain, NULL); /* 7 of a version that is not known */
    batch.regionCount = 1;
    batch.regionType = NVTX_MEM_TYPE_CU_ARRAY;
    nvtxMemRegionsRegister(domain, &batch); /* 1 without addresses */
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionCount = 0;
    nvtxMemRegionsRegister(domain, &batch); /* nothing at all */
    region_ends((nvtxMemRegionRef_t){.pointer = range.ptr},
                7); /* 1 of no known kind of reference */
}

static void bad_regions(void)
{
    nvtxMemVirtualRangeDesc_t inside = range_of(pool.base, 4096);
    nvtxMemVirtualRangeDesc_t outside = range_of(pool.base + POOL_BYTES - 64, 4096);
    nvtxMemVirtualRangeDesc_t nowhere = range_of(pool.base, SIZE_MAX);
    region_at_ends(pool.base);
    resize(pool.base, 64);
    name(pool.base, "nothing");
    region_ends((nvtxMemRegionRef_t){.handle = NVTX_MEM_REGION_HANDLE_NO_TOOL},
                NVTX_MEM_REGION_REF_TYPE_HANDLE);                     /* 4 unknown regions */
    regions_in((nvtxMemHeapHandle_t)(uintptr_t)77, &inside, 1, NULL); /* 1 of an unknown heap */
    region_at_ends(pool.base);
    regions_in(pool.heap, &outside, 1, NULL); /* 1 outside */
    region_at_ends(pool.base + POOL_BYTES - 64);
    regions_in(pool.heap, &nowhere, 1, NULL); /* 1 nowhere */
    regions_in(pool.heap, &inside, 1, NULL);
    regions_in(pool.heap, &inside, 1, NULL); /* 1 again */
    resize(pool.base, 2 * POOL_BYTES);       /* 1 outside */
    region_at_ends(pool.base);
    region_at_ends(pool.base); /* 1 unknown region */
}

/* Permissions are a memory checker's: programs get what they get without a tool. */
static void permissions(void)
{
    nvtxMemPermissionsHandle_t made = nvtxMemPermissionsCreate(domain, 0);
    nvtxMemPermissionsAssignBatch_t assigned = {
        .extCompatID = NVTX_EXT_COMPATID_MEM, .structSize = sizeof assigned, .permissions = made};
    nvtxMemMarkInitializedBatch_t marked = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                            .structSize = sizeof marked};
    nvtxMemPermissionsAssign(domain, &assigned);
    nvtxMemPermissionsBind(domain, made, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD, 0);
    nvtxMemPermissionsUnbind(domain, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD);
    nvtxMemPermissionsReset(domain, made);
    nvtxMemPermissionsDestroy(domain, made);
    nvtxMemPermissionsHandle_t process = nvtxMemCudaGetProcessWidePermissions(domain);
    nvtxMemPermissionsHandle_t device = nvtxMemCudaGetDeviceWidePermissions(domain, 0);
    nvtxMemCudaSetPeerAccess(domain, device, NVTX_MEM_CUDA_PEER_ALL_DEVICES, 0);
    nvtxMemCudaMarkInitialized(domain, NULL, 0, &marked);
    printf("permissions %d %d %d\n", made == NULL, process == NULL, device == NULL);
}

/* Counts are those in tests/e2e/regions.sh. */
int scenario_misuse(long n)
{
    (void)n;
    begin();
    pool_open();
    bad_heaps();
    bad_batches();
    bad_regions();
    permissions();
    /* The same heap once more, with more memory: the older one has ended; a smaller one lies in it. */
    nvtxMemVirtualRangeDesc_t range = range_of(pool.base + 4096, 4096);
    regions_in(pool.heap, &range, 1, NULL);
    pool.heap = heap_of(pool.base, POOL_BYTES, 1, "again"); /* 1 again */
    nvtxMemHeapHandle_t inner = heap_of(pool.base, MIB, 1, "inner");
    regions_in(inner, &range, 1, NULL);
    range = range_of(pool.base + 2 * MIB, MIB);
    regions_in(pool.heap, &range, 1, NULL); /* not in the inner one: of the outer one */
    CHECK(cu.cuMemFree(pool.base));         /* with heaps and regions that nobody has ended */
    CHECK(cu.cuMemAlloc(&pool.base, POOL_BYTES));
    CHECK(cu.cuMemFree(pool.base));
    return 0;
}
