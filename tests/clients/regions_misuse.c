/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios that say by NVTX's memory extension what cannot be, and anything in any order. */
#define _GNU_SOURCE
#include "regions_calls.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void bad_heaps(void)
{
    nvtxMemVirtualRangeDesc_t range = regions_range(regions_pool.base, 4096);
    const nvtxMemHeapDesc_t good = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                    .structSize = sizeof good,
                                    .usage = 1,
                                    .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                    .typeSpecificDescSize = sizeof range,
                                    .typeSpecificDesc = &range};
    nvtxMemHeapDesc_t bad = good;
    (void)nvtxMemHeapRegister(regions_domain, NULL);
    bad.extCompatID = 0x0103;
    (void)nvtxMemHeapRegister(regions_domain, &bad);
    bad = good;
    bad.structSize = 8;
    (void)nvtxMemHeapRegister(regions_domain, &bad);
    bad = good;
    bad.typeSpecificDesc = NULL;
    (void)nvtxMemHeapRegister(regions_domain, &bad);
    bad = good;
    bad.typeSpecificDescSize = 8;
    (void)nvtxMemHeapRegister(regions_domain, &bad); /* 5 of a version that is not known */
    bad = good;
    bad.type = NVTX_MEM_TYPE_CUDA_ARRAY;
    (void)nvtxMemHeapRegister(regions_domain, &bad); /* 1 without addresses */
    range = regions_range(0, 4096);
    (void)nvtxMemHeapRegister(regions_domain, &good);
    range = regions_range(regions_pool.base, SIZE_MAX);
    (void)nvtxMemHeapRegister(regions_domain, &good); /* 2 nowhere */
    nvtxMemHeapUnregister(regions_domain, (nvtxMemHeapHandle_t)(uintptr_t)77);
    nvtxMemHeapUnregister(regions_domain, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    nvtxMemHeapReset(regions_domain, NVTX_MEM_HEAP_HANDLE_NO_TOOL); /* 3 of unknown heaps */
}

static void bad_batches(void)
{
    nvtxMemVirtualRangeDesc_t range = regions_range(regions_pool.base, 4096);
    nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                           .structSize = sizeof batch,
                                           .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           .heap = regions_pool.heap,
                                           .regionCount = 1,
                                           .regionDescElementSize = sizeof range};
    nvtxMemRegionsRegister(regions_domain, &batch); /* no elements */
    batch.regionDescElements = &range;
    batch.regionDescElementSize = 4;
    nvtxMemRegionsRegister(regions_domain, &batch);
    batch.regionDescElementSize = sizeof range;
    batch.regionCount = SIZE_MAX;
    nvtxMemRegionsRegister(regions_domain, &batch);
    nvtxMemRegionsRegister(regions_domain, NULL);
    nvtxMemRegionsResize(regions_domain, NULL);
    nvtxMemRegionsUnregister(regions_domain, NULL);
    nvtxMemRegionsName(regions_domain, NULL); /* 7 of a version that is not known */
    batch.regionCount = 1;
    batch.regionType = NVTX_MEM_TYPE_CU_ARRAY;
    nvtxMemRegionsRegister(regions_domain, &batch); /* 1 without addresses */
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionCount = 0;
    nvtxMemRegionsRegister(regions_domain, &batch); /* nothing at all */
    regions_end((nvtxMemRegionRef_t){.pointer = range.ptr},
                7); /* 1 of no known kind of reference */
}

static void unknown_regions(void)
{
    regions_end_at(regions_pool.base);
    regions_resize(regions_pool.base, 64);
    regions_name(regions_pool.base, "nothing");
    regions_end((nvtxMemRegionRef_t){.handle = NVTX_MEM_REGION_HANDLE_NO_TOOL},
                NVTX_MEM_REGION_REF_TYPE_HANDLE); /* 4 unknown regions */
}

static void bad_regions(void)
{
    nvtxMemVirtualRangeDesc_t inside = regions_range(regions_pool.base, 4096);
    nvtxMemVirtualRangeDesc_t outside = regions_range(regions_pool.base + POOL_BYTES - 64, 4096);
    nvtxMemVirtualRangeDesc_t nowhere = regions_range(regions_pool.base, SIZE_MAX);
    regions_register((nvtxMemHeapHandle_t)(uintptr_t)77, &inside, 1,
                     NULL); /* 1 of an unknown heap */
    regions_end_at(regions_pool.base);
    regions_register(regions_pool.heap, &outside, 1, NULL); /* 1 outside */
    regions_end_at(regions_pool.base + POOL_BYTES - 64);
    regions_register(regions_pool.heap, &nowhere, 1, NULL); /* 1 nowhere */
    regions_register(regions_pool.heap, &inside, 1, NULL);
    regions_register(regions_pool.heap, &inside, 1, NULL); /* 1 again */
    regions_resize(regions_pool.base, 2 * POOL_BYTES);     /* 1 outside */
    regions_end_at(regions_pool.base);
    regions_end_at(regions_pool.base); /* 1 unknown region */
}

/* Permissions are a memory checker's: programs get what they get without a tool. */
static void permissions(void)
{
    nvtxMemPermissionsHandle_t made = nvtxMemPermissionsCreate(regions_domain, 0);
    nvtxMemPermissionsAssignBatch_t assigned = {
        .extCompatID = NVTX_EXT_COMPATID_MEM, .structSize = sizeof assigned, .permissions = made};
    nvtxMemMarkInitializedBatch_t marked = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                            .structSize = sizeof marked};
    nvtxMemPermissionsAssign(regions_domain, &assigned);
    nvtxMemPermissionsBind(regions_domain, made, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD, 0);
    nvtxMemPermissionsUnbind(regions_domain, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD);
    nvtxMemPermissionsReset(regions_domain, made);
    nvtxMemPermissionsDestroy(regions_domain, made);
    nvtxMemPermissionsHandle_t process = nvtxMemCudaGetProcessWidePermissions(regions_domain);
    nvtxMemPermissionsHandle_t device = nvtxMemCudaGetDeviceWidePermissions(regions_domain, 0);
    nvtxMemCudaSetPeerAccess(regions_domain, device, NVTX_MEM_CUDA_PEER_ALL_DEVICES, 0);
    nvtxMemCudaMarkInitialized(regions_domain, NULL, 0, &marked);
    printf("permissions %d %d %d\n", made == NULL, process == NULL, device == NULL);
}

/* A library that was compiled with another version of the extension asks the tool, where there is one. */
static void other_version(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *tool = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    NvtxExtInitializeInjectionFunc_t ask = NULL;
    intptr_t slots[64] = {0};
    nvtxExtModuleSegment_t segment = {.segmentId = 1, .slotCount = 64, .functionSlots = slots};
    nvtxExtModuleInfo_t module = {.nvtxVer = NVTX_VERSION,
                                  .structSize = sizeof module,
                                  .moduleId = NVTX_EXT_MODULEID_MEM,
                                  .compatId = NVTX_EXT_COMPATID_MEM + 1,
                                  .segmentsCount = 1,
                                  .segments = &segment};
    if (tool != NULL) {
        *(void **)&ask = dlsym(tool, "InitializeInjectionNvtxExtension");
    }
    if (ask != NULL &&
        (ask(&module) != 0 || slots[0] != 0)) { /* 1 of a version that is not known */
        printf("another version is answered\n");
    }
    module.compatId = NVTX_EXT_COMPATID_MEM;
    segment.slotCount = 1; /* fewer functions than are known */
    if (ask != NULL && (ask(&module) != 1 || slots[0] == 0 || slots[1] != 0)) {
        printf("a shorter table is not filled in as far as it goes\n");
    }
}

/* Counts are those in tests/e2e/regions.sh. What makes no record at all is done N times, but at least once. */
int scenario_misuse(long n)
{
    regions_begin();
    regions_open_pool();
    for (long i = 0; i < n || i == 0; i++) {
        bad_heaps();
        bad_batches();
        unknown_regions();
    }
    bad_regions();
    permissions();
    other_version();
    /* The same heap once more, with more memory: the older one has ended; a smaller one lies in it. */
    nvtxMemVirtualRangeDesc_t range = regions_range(regions_pool.base + 4096, 4096);
    regions_register(regions_pool.heap, &range, 1, NULL);
    regions_pool.heap = regions_heap(regions_pool.base, POOL_BYTES, 1, "again"); /* 1 again */
    nvtxMemHeapHandle_t inner = regions_heap(regions_pool.base, MIB, 1, "inner");
    regions_register(inner, &range, 1, NULL);
    range = regions_range(regions_pool.base + 2 * MIB, MIB);
    regions_register(regions_pool.heap, &range, 1,
                     NULL);                 /* not in the inner one: of the outer one */
    CHECK(cu.cuMemFree(regions_pool.base)); /* with heaps and regions that nobody has ended */
    CHECK(cu.cuMemAlloc(&regions_pool.base, POOL_BYTES));
    CHECK(cu.cuMemFree(regions_pool.base));
    return 0;
}

/* N unknown regions, one of them before CUDA; then it is killed. */
int scenario_killed(long n)
{
    regions_end_at(4096);
    regions_begin();
    for (long i = 1; i < n; i++) {
        regions_end_at(4096);
    }
    (void)raise(SIGKILL);
    return 0;
}

/* ---- anything in any order ---------------------------------------------------------------------------- */

enum { PLACES = 37 }; /* 4 KiB each, where a region may begin */

static struct {
    size_t bytes[PLACES]; /* of the region there; 0: none */
    unsigned long begun, ended, unknown, again, heaps;
} model;

static uint32_t drawn(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void forget_all(void)
{
    for (int i = 0; i < PLACES; i++) {
        model.bytes[i] = 0;
    }
}

static void do_one(uint32_t *seed, unsigned what, uint32_t place)
{
    size_t bytes = 1 + drawn(seed, 8192);
    CUdeviceptr address = regions_pool.base + place * 4096;
    nvtxMemVirtualRangeDesc_t range = regions_range(address, bytes);
    size_t had = model.bytes[place];

    switch (what) {
    case 0: /* the whole heap, seldom */
        nvtxMemHeapReset(regions_domain, regions_pool.heap);
        model.heaps++;
        forget_all();
        return;
    case 1:
    case 2:
        regions_resize(address, bytes);
        model.bytes[place] = had > 0 ? bytes : 0;
        model.begun += had > 0;
        break;
    case 3:
    case 4:
    case 5:
        regions_end_at(address);
        model.bytes[place] = 0;
        break;
    default:
        regions_register(regions_pool.heap, &range, 1, NULL);
        model.bytes[place] = bytes;
        model.begun++;
        model.again += had > 0;
        model.ended += had > 0;
        return;
    }
    model.unknown += had == 0;
    model.ended += had > 0;
}

/* N calls; on standard output what has to be in the trace: heaps, regions, ended by themselves, what is there, its bytes, and losses. */
int scenario_random(long n)
{
    uint32_t seed = 7;
    unsigned long there = 0, bytes = 0;
    regions_begin();
    regions_open_pool();
    model.heaps = 1;
    for (long i = 0; i < n; i++) {
        do_one(&seed, drawn(&seed, 200) == 0 ? 0 : 1 + drawn(&seed, 9), drawn(&seed, PLACES));
    }
    for (int i = 0; i < PLACES; i++) {
        there += model.bytes[i] > 0;
        bytes += model.bytes[i];
    }
    printf("%lu %lu %lu %lu %lu %lu %lu\n", model.heaps, model.begun, model.ended, there, bytes,
           model.unknown, model.again);
    return 0;
}
