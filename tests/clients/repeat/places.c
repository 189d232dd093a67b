/* SPDX-License-Identifier: Apache-2.0 */
/* All the ways to come by memory that a kernel can write to, and to give it back. */
#include "repeat/repeat.h"

#include <stdlib.h>
#include <unistd.h>

const char *const place_names[] = {
    [PLACE_ALLOC] = "alloc",
    [PLACE_ASYNC] = "async",
    [PLACE_POOL] = "pool",
    [PLACE_PITCHED] = "pitched",
    [PLACE_MAPPED] = "mapped",
    [PLACE_OWN_VARIABLE] = "own_variable",
    [PLACE_OTHER_VARIABLE] = "other_variable",
    [PLACE_HOST_ALLOC] = "host_alloc",
    [PLACE_ALLOC_HOST] = "alloc_host",
    [PLACE_REGISTERED] = "registered",
    [PLACE_HOST_POOL] = "host_pool",
    [PLACE_MANAGED] = "managed",
    [PLACE_MANAGED_VARIABLE] = "managed_variable",
    [PLACE_PEER] = "peer",
    [PLACE_IMPORTED] = "imported",
    [PLACE_EXPORTED] = "exported",
};

/* ---- memory of which a copy can be taken ---- */

static void give_back(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuMemFree(region->address));
}

static void give_back_async(struct program *program, struct region *region)
{
    CHECK(cu.cuMemFreeAsync(region->address, program->streams[1]));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
}

/* The default pool's memory may be freed either way. */
static void take_async(struct program *program, struct region *region)
{
    CHECK(cu.cuMemAllocAsync(&region->address, region->bytes, program->streams[1]));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
    region->release = region->bytes % 2 == 0 ? give_back_async : give_back;
}

static void give_back_mapped(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuMemUnmap(region->address, region->mapped_bytes));
    CHECK(cu.cuMemAddressFree(region->address, region->mapped_bytes));
}

static void take_mapped(const struct program *program, struct region *region)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = program->device}};
    const CUmemAccessDesc access = {.location = properties.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    size_t round;
    CHECK(cu.cuMemGetAllocationGranularity(&round, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    region->mapped_bytes = (region->bytes + round - 1) / round * round;
    CHECK(cu.cuMemAddressReserve(&region->address, region->mapped_bytes, 0, 0, 0));
    CHECK(cu.cuMemCreate(&handle, region->mapped_bytes, &properties, 0));
    CHECK(cu.cuMemMap(region->address, region->mapped_bytes, 0, handle, 0));
    CHECK(cu.cuMemSetAccess(region->address, region->mapped_bytes, &access, 1));
    CHECK(cu.cuMemRelease(handle));
    region->release = give_back_mapped;
}

static CUmemoryPool new_pool(const struct program *program, CUmemLocationType where,
                             CUmemAllocationHandleType handles)
{
    CUmemoryPool pool;
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = handles,
        .location = {.type = where,
                     .id = where == CU_MEM_LOCATION_TYPE_DEVICE ? program->device : 0}};
    CHECK(cu.cuMemPoolCreate(&pool, &properties));
    return pool;
}

static void take_from_pool(struct program *program, struct region *region)
{
    if (program->pool == NULL) {
        program->pool = new_pool(program, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE);
    }
    CHECK(cu.cuMemAllocFromPoolAsync(&region->address, region->bytes, program->pool,
                                     program->streams[1]));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
    region->release = give_back_async;
}

/* In rows of any width; the whole of it is the region. */
static void take_pitched(struct region *region)
{
    size_t height = 1 + region->bytes % 3, pitch = 0;
    CHECK(cu.cuMemAllocPitch(&region->address, &pitch, region->bytes / height + 1, height, 4));
    region->bytes = pitch * height;
    region->release = give_back;
}

/* ---- memory of the host ---- */

static void give_back_host(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuMemFreeHost(region->host));
}

static void give_back_registered(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuMemHostUnregister(region->host));
    free(region->host);
}

static void take_pinned(struct region *region, enum place place)
{
    void *host = NULL;
    switch (place) {
    case PLACE_HOST_ALLOC:
        CHECK(cu.cuMemHostAlloc(&host, region->bytes,
                                CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
        break;
    case PLACE_ALLOC_HOST: CHECK(cu.cuMemAllocHost(&host, region->bytes)); break;
    default:
        host = aligned_alloc(4096, (region->bytes + 4095) / 4096 * 4096);
        if (host == NULL) {
            exit(4);
        }
        CHECK(cu.cuMemHostRegister(host, region->bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
        break;
    }
    CHECK(cu.cuMemHostGetDevicePointer(&region->address, host, 0));
    region->host = host;
    region->release = place == PLACE_REGISTERED ? give_back_registered : give_back_host;
}

/* The device gets access to it as to any pool's memory that is not its own. */
static void take_from_host_pool(struct program *program, struct region *region)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = program->device},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (program->host_pool == NULL) {
        program->host_pool = new_pool(program, CU_MEM_LOCATION_TYPE_HOST, CU_MEM_HANDLE_TYPE_NONE);
        CHECK(cu.cuMemPoolSetAccess(program->host_pool, &access, 1));
    }
    CHECK(cu.cuMemAllocFromPoolAsync(&region->address, region->bytes, program->host_pool,
                                     program->streams[1]));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
    region->host = (unsigned char *)region->address;
    region->release = give_back_async;
}

static void take_managed(struct region *region)
{
    CHECK(cu.cuMemAllocManaged(&region->address, region->bytes, CU_MEM_ATTACH_GLOBAL));
    region->host = (unsigned char *)region->address;
    region->release = give_back;
}

/* ---- memory that belongs to others ---- */

static void give_back_peer(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuCtxPushCurrent(region->owner));
    CHECK(cu.cuMemFree(region->address));
    CHECK(cu.cuCtxPopCurrent(NULL));
}

CUcontext peer_of(struct program *program)
{
    if (program->peer == NULL) {
        CHECK(cu.cuCtxCreate(&program->peer, NULL, 0, program->device + 1));
        CHECK(cu.cuCtxPopCurrent(NULL));
    }
    return program->peer;
}

static void take_peer(struct program *program, struct region *region)
{
    region->owner = peer_of(program);
    if (!program->has_access) {
        CHECK(cu.cuCtxEnablePeerAccess(program->peer, 0));
        program->has_access = true;
    }
    CHECK(cu.cuCtxPushCurrent(region->owner));
    CHECK(cu.cuMemAlloc(&region->address, region->bytes));
    CHECK(cu.cuCtxPopCurrent(NULL));
    region->release = give_back_peer;
}

static void give_back_imported(struct program *program, struct region *region)
{
    (void)program;
    CHECK(cu.cuMemFree(region->address));
    CHECK(cu.cuMemPoolDestroy(region->pool));
}

static void give_back_exported(struct program *program, struct region *region)
{
    give_back_async(program, region);
    CHECK(cu.cuMemPoolDestroy(region->pool));
}

/* The same memory at two addresses: the program sees it at the other one, as another process would. */
static void take_shared(struct program *program, struct region *region, struct region *exported)
{
    CUmemPoolPtrExportData pointer;
    int descriptor;
    exported->pool = new_pool(program, CU_MEM_LOCATION_TYPE_DEVICE,
                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    exported->release = give_back_exported;
    CHECK(cu.cuMemAllocFromPoolAsync(&exported->address, exported->bytes, exported->pool,
                                     program->streams[1]));
    CHECK(cu.cuStreamSynchronize(program->streams[1]));
    CHECK(cu.cuMemPoolExportToShareableHandle(&descriptor, exported->pool,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CHECK(cu.cuMemPoolImportFromShareableHandle(&region->pool, (void *)(intptr_t)descriptor,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    (void)close(descriptor);
    CHECK(cu.cuMemPoolExportPointer(&pointer, exported->address));
    CHECK(cu.cuMemPoolImportPointer(&region->address, region->pool, &pointer));
    region->release = give_back_imported;
}

static void take_imported(struct program *program, struct region *region)
{
    take_shared(program, region, region_new(program, region->bytes));
}

static void take_exported(struct program *program, struct region *region)
{
    take_shared(program, region_new(program, region->bytes), region);
}

void place_take(struct program *program, struct region *region, enum place place)
{
    switch (place) {
    case PLACE_ASYNC: take_async(program, region); break;
    case PLACE_POOL: take_from_pool(program, region); break;
    case PLACE_PITCHED: take_pitched(region); break;
    case PLACE_HOST_ALLOC:
    case PLACE_ALLOC_HOST:
    case PLACE_REGISTERED: take_pinned(region, place); break;
    case PLACE_HOST_POOL: take_from_host_pool(program, region); break;
    case PLACE_MANAGED: take_managed(region); break;
    case PLACE_MAPPED: take_mapped(program, region); break;
    case PLACE_PEER: take_peer(program, region); break;
    case PLACE_IMPORTED: take_imported(program, region); break;
    case PLACE_EXPORTED: take_exported(program, region); break;
    default:
        CHECK(cu.cuMemAlloc(&region->address, region->bytes));
        region->release = give_back;
        break;
    }
}
