/* SPDX-License-Identifier: Apache-2.0 */
/* cupticlient managed_taken: faults before, while and after the program has CUPTI for itself. cupticlient managed N: two managed allocations, whose pages go to and fro, and N faults of the device. */
#include "profiler.h"

#include <unistd.h>

#define PAGE_BYTES 65536u
#define DEVICE 0u
#define HOST CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID

static void page(CUpti_ActivityUnifiedMemoryCounterKind kind, CUdeviceptr address, uint64_t value,
                 uint32_t source, uint32_t target, uint32_t flags)
{
    CUpti_ActivityUnifiedMemoryCounter3 counter = {
        .counterKind = kind,
        .value = value,
        .address = address,
        .srcId = source,
        .dstId = target,
        .processId = (uint32_t)getpid(),
        .flags = flags,
    };
    cupti.standin_cupti_page(&counter, 1000);
}

#define KIND(name) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##name
#define CAUSE(name) CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_##name
#define ACCESS(name) CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_##name

static void fault(CUdeviceptr address)
{
    page(KIND(GPU_PAGE_FAULT), address, 1, DEVICE, 0, ACCESS(READ));
}

int scenario_managed_taken(long n)
{
    CUdeviceptr memory;
    (void)n;
    start();
    load_cupti();
    CHECK(cu.cuMemAllocManaged(&memory, 3 * PAGE_BYTES, CU_MEM_ATTACH_GLOBAL));
    fault(memory);
    profile_on();
    work(5);
    fault(memory + PAGE_BYTES); /* while the program has CUPTI, which did not ask for it */
    profile_off();
    report("taken");
    work(5);
    fault(memory + 2 * PAGE_BYTES);
    CHECK(cu.cuMemFree(memory));
    return 0;
}

int scenario_managed(long n)
{
    CUdeviceptr first, second;
    start();
    load_cupti();
    work(2);
    page(KIND(GPU_PAGE_FAULT), 0x1000, 1, DEVICE, 0, ACCESS(READ)); /* before there is any */
    CHECK(cu.cuMemAllocManaged(&first, 4 * PAGE_BYTES, CU_MEM_ATTACH_GLOBAL));
    CHECK(cu.cuMemAllocManaged(&second, PAGE_BYTES, CU_MEM_ATTACH_GLOBAL));
    for (long i = 0; i < n; i++) {
        page(KIND(GPU_PAGE_FAULT), first + (uint64_t)(i % 4) * PAGE_BYTES, 3, DEVICE, 0,
             ACCESS(WRITE));
        if (i % 64 == 63) {
            launch(4);
            CHECK(cu.cuCtxSynchronize());
        }
    }
    page(KIND(BYTES_TRANSFER_HTOD), first, 4 * PAGE_BYTES, HOST, DEVICE, CAUSE(COHERENCE));
    page(KIND(BYTES_TRANSFER_DTOH), second, PAGE_BYTES, DEVICE, HOST, CAUSE(PREFETCH));
    page(KIND(CPU_PAGE_FAULT_COUNT), second, 0x401234, HOST, 0, ACCESS(READ));
    page(KIND(THRASHING), first, PAGE_BYTES, 1, 0, 0);
    page(KIND(REMOTE_MAP), first, PAGE_BYTES, DEVICE, HOST,
         CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_THRASHING);
    page((CUpti_ActivityUnifiedMemoryCounterKind)30, first, 1, DEVICE, HOST,
         0); /* of a later CUPTI */
    work(2);
    CHECK(cu.cuMemFree(first));
    CHECK(cu.cuMemFree(second));
    return 0;
}
