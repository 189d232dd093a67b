/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Occupancy on compute capability 9.0, worked out by hand: 64 warps, 32 blocks, 65,536 registers and
 * 228 KiB of shared memory per multiprocessor, of which every block takes 1 KiB for itself; 32
 * registers per thread where the PTX does not say.
 */
#include "sim_driver_fixture.h"

static const char ptx[] = SIM_PTX_HEAD
    ".visible .entry plain()\n{\n ret;\n}\n"
    ".visible .entry bounded()\n.maxntid 256, 1, 1\n{\n ret;\n}\n"
    ".visible .entry frugal()\n.maxnreg 16\n{\n ret;\n}\n"
    ".visible .entry sharing()\n{\n .reg .b32 %r<2>;\n .shared .align 4 .b8 tile[16384];\n"
    " ld.shared.u32 %r1, [tile];\n ret;\n}\n";

static int blocks(CUfunction function, int threads, size_t dynamic)
{
    int count = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, threads, dynamic));
    return count;
}

static CUfunction kernel(const char *name)
{
    return sim_kernel_of(ptx, name);
}

Test(sim_driver_occupancy, warps_and_blocks_limit)
{
    sim_start(1);
    CUfunction plain = kernel("plain");
    cr_expect_eq(blocks(plain, 32, 0), 32, "32 blocks, though 64 warps would fit");
    cr_expect_eq(blocks(plain, 48, 0), 32, "two warps each");
    cr_expect_eq(blocks(plain, 96, 0), 21, "64 / 3");
    cr_expect_eq(blocks(plain, 256, 0), 8, "64 / 8");
    cr_expect_eq(blocks(plain, 1024, 0), 2, "64 / 32");
}

Test(sim_driver_occupancy, shared_memory_limits)
{
    sim_start(1);
    CUfunction plain = kernel("plain");
    cr_expect_eq(blocks(plain, 128, 48 << 10), 4, "228 / 49");
    cr_expect_eq(blocks(plain, 128, 100 << 10), 0, "more than 48 KiB wants opting in");
    OK(cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    cr_expect_eq(blocks(plain, 128, 100 << 10), 2, "228 / 101");
    cr_expect_eq(blocks(plain, 128, 227 << 10), 1, "228 / 228");
    cr_expect_eq(blocks(kernel("sharing"), 128, 0), 13, "228 / 17");
}

Test(sim_driver_occupancy, the_largest_block_that_fills_the_device)
{
    int grid, block;
    sim_start(1);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("plain"), NULL, 0, 0));
    cr_expect_eq(block, 1024);
    cr_expect_eq(grid, 2 * 132);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("bounded"), NULL, 0, 0));
    cr_expect_eq(block, 256);
    cr_expect_eq(grid, 8 * 132);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("plain"), NULL, 0, 512));
    cr_expect_eq(block, 512);
    cr_expect_eq(grid, 4 * 132);
}

static size_t one_kib_per_warp(int block)
{
    return (size_t)block / 32 * 1024;
}

Test(sim_driver_occupancy, shared_memory_may_grow_with_the_block)
{
    int grid, block;
    sim_start(1);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("plain"), one_kib_per_warp, 0, 0));
    cr_expect_eq(block, 1024, "two blocks of 33 KiB");
    cr_expect_eq(grid, 2 * 132);
}

Test(sim_driver_occupancy, dynamic_shared_memory_that_is_left)
{
    size_t bytes;
    sim_start(1);
    CUfunction plain = kernel("plain");
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 1, 128));
    cr_expect_eq(bytes, 48 << 10, "without opting in");
    OK(cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 1, 128));
    cr_expect_eq(bytes, 227 << 10);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 33, 128));
}

Test(sim_driver_occupancy, attributes_of_functions)
{
    int value;
    sim_start(1);
    CUfunction sharing = kernel("sharing");
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, sharing));
    cr_expect_eq(value, 16384);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, sharing));
    cr_expect_eq(value, 49152 - 16384);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    cr_expect_eq(value, 256);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel("frugal")));
    cr_expect_eq(value, 16);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, sharing));
    cr_expect_eq(value, 32, "assumed");
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, sharing));
    cr_expect_eq(value, 90);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuFuncSetAttribute(sharing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             (227 << 10) - 16383));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(sharing, CU_FUNC_ATTRIBUTE_NUM_REGS, 16));
    FAILS(CUDA_ERROR_INVALID_HANDLE,
          cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)&value));
}
