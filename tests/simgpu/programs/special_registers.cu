/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers: lane and warp, masks, clocks, and that all multiprocessors are named right. */
#include "program.cuh"

enum { LANE, WARP, EQ, LE, LT, GE, GT, WARPS, SHARED, RESULTS };

static __device__ unsigned long long clock_now()
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    return now;
}

static __global__ void read_registers(unsigned *out, unsigned *problems)
{
    extern __shared__ unsigned char unused[];
    unsigned *o = out + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * RESULTS;
    unsigned multiprocessor, multiprocessors, before, after;
    unsigned long long first = clock_now(), globaltimer;

#define READ(name, index) asm volatile("mov.u32 %0, %%" name ";" : "=r"(o[index]))
    READ("laneid", LANE);
    READ("lanemask_eq", EQ);
    READ("lanemask_le", LE);
    READ("lanemask_lt", LT);
    READ("lanemask_ge", GE);
    READ("lanemask_gt", GT);
    READ("dynamic_smem_size", SHARED);
    o[WARP] = threadIdx.x / warpSize;
    o[WARPS] = (blockDim.x + warpSize - 1) / warpSize;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(before));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(globaltimer));
    after = (unsigned)clock();
    if (multiprocessor >= multiprocessors || after - before > 1u << 30 || clock_now() < first ||
        globaltimer == 0)
        atomicAdd(problems, 1u);
    if (!__isShared(unused) || __isGlobal(unused) || !__isGlobal(out) || __isShared(out) ||
        !__isLocal(&before) || __isGlobal(&before))
        atomicAdd(problems, 1u << 16);
}

void sim_program_special_registers(sim_check &check)
{
    const unsigned blocks = 3, threads = 77;
    sim_array<unsigned> out(check, (size_t)blocks * threads * RESULTS), problems(check, 1);
    std::vector<unsigned> wanted;

    problems.zero();
    read_registers<<<blocks, threads, 640>>>(out.device, problems.device);
    SIM_LAUNCHED(check);
    for (unsigned i = 0; i < blocks * threads; i++) {
        unsigned lane = i % threads % 32, eq = 1u << lane;

        wanted.insert(wanted.end(), {lane, i % threads / 32, eq, eq | (eq - 1), eq - 1, ~(eq - 1),
                                     ~(eq | (eq - 1)), 3, 640});
    }
    sim_equal(check, "registers", out, wanted);
    sim_equal(check, "problems", problems, std::vector<unsigned>{0});
}
