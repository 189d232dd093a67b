/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: what is reserved, made, mapped and made accessible, and what each needs. */
#include "sim_driver_fixture.h"

#define PIECE ((size_t)2 << 20)

static const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
static const CUmemAccessDesc both_ways = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
static CUdeviceptr base;
static CUmemGenericAllocationHandle memory;

static void start(void)
{
    sim_start(1);
    OK(cuMemAddressReserve(&base, 4 * PIECE, 0, 0, 0));
    OK(cuMemCreate(&memory, PIECE, &on_device, 0));
}

static size_t free_bytes(void)
{
    size_t left = 0, total = 0;
    OK(cuMemGetInfo(&left, &total));
    return left;
}

Test(sim_driver_virtual, two_mappings_of_one_memory_show_the_same_bytes)
{
    unsigned word = 77;
    start();
    OK(cuMemMap(base, PIECE, 0, memory, 0));
    OK(cuMemMap(base + 2 * PIECE, PIECE, 0, memory, 0));
    OK(cuMemSetAccess(base, PIECE, &both_ways, 1));
    OK(cuMemSetAccess(base + 2 * PIECE, PIECE, &both_ways, 1));
    OK(cuMemcpyHtoD(base, &word, sizeof word));
    cr_expect_eq(sim_word_at(base + 2 * PIECE), 77);
}

Test(sim_driver_virtual, what_may_not_be_accessed_cannot_be_copied_to)
{
    unsigned word = 1;
    start();
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(base, &word, sizeof word));
    OK(cuMemMap(base, PIECE, 0, memory, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(base, &word, sizeof word));
    OK(cuMemSetAccess(base, PIECE, &both_ways, 1));
    OK(cuMemcpyHtoD(base, &word, sizeof word));
    OK(cuMemUnmap(base, PIECE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(base, &word, sizeof word));
}

Test(sim_driver_virtual, a_copy_may_cross_from_one_mapping_into_the_next)
{
    CUmemGenericAllocationHandle second;
    start();
    OK(cuMemCreate(&second, PIECE, &on_device, 0));
    OK(cuMemMap(base, PIECE, 0, memory, 0));
    OK(cuMemMap(base + PIECE, PIECE, 0, second, 0));
    OK(cuMemSetAccess(base, 2 * PIECE, &both_ways, 1));
    OK(cuMemsetD32(base + PIECE - 4, 5, 2));
    cr_expect_eq(sim_word_at(base + PIECE), 5);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(base + 2 * PIECE - 4, 5, 2));
}

Test(sim_driver_virtual, mappings_end_whole)
{
    start();
    OK(cuMemMap(base, PIECE, 0, memory, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(base, PIECE, 0, memory, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, PIECE / 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, 2 * PIECE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(base));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 4 * PIECE));
    OK(cuMemUnmap(base, PIECE));
    OK(cuMemAddressFree(base, 4 * PIECE));
}

Test(sim_driver_virtual, memory_goes_with_its_last_handle_and_mapping)
{
    size_t before;
    start();
    before = free_bytes();
    OK(cuMemMap(base, PIECE, 0, memory, 0));
    OK(cuMemRelease(memory));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(memory));
    cr_expect_eq(free_bytes(), before);
    OK(cuMemUnmap(base, PIECE));
    cr_expect_eq(free_bytes(), before + PIECE);
}
