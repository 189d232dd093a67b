/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups within a block: the block, tiles of several sizes, the active threads. */
#include "program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

#define BLOCK 192

static __global__ void block_scope(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ int cache[BLOCK];
    unsigned rank = block.thread_rank();

    cache[rank] = in[block.group_index().x * block.size() + rank];
    block.sync();
    out[blockIdx.x * BLOCK + rank] = cache[BLOCK - 1 - rank] + (int)block.thread_index().x;
    cg::sync(block);
}

template <unsigned size> __global__ void tiles(const int *in, int *out, int *votes, int *scans)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
    int i = blockIdx.x * BLOCK + block.thread_rank(), value = in[i], sum = value;

    for (unsigned step = tile.size() / 2; step > 0; step /= 2)
        sum += tile.shfl_down(sum, step);
    sum = tile.shfl(sum, 0);
    out[i] = sum * 10 + (int)tile.meta_group_rank() - cg::reduce(tile, value, cg::plus<int>());
    votes[i] = (int)(tile.ballot(value > 0) << 2) | tile.any(value == 7) << 1 |
               tile.all(value >= 0);
    scans[i] = cg::inclusive_scan(tile, value) + cg::reduce(tile, value, cg::greater<int>());
}

/* The threads that took the branch form a group; its leader adds once for all of them. */
static __global__ void coalesced(const int *in, int *counter, int *ranks, int threshold)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    ranks[i] = -1;
    if (in[i] > threshold) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;

        if (active.thread_rank() == 0)
            first = atomicAdd(counter, (int)active.size());
        first = active.shfl(first, 0);
        ranks[i] = first + (int)active.thread_rank();
    }
}

template <unsigned size> static void tiled(sim_check &check, sim_array<int> &in)
{
    size_t count = in.host.size();
    sim_array<int> out(check, count), votes(check, count), scans(check, count);
    std::vector<int> wanted, wanted_votes, wanted_scans;

    for (size_t i = 0; i < count; i++) {
        size_t first = i / size * size;
        int sum = 0, prefix = 0, most = in.host[first], ballot = 0, any = 0, all = 1;

        for (size_t j = first; j < first + size; j++) {
            int value = in.host[j];

            sum += value;
            prefix += j <= i ? value : 0;
            most = value > most ? value : most;
            ballot |= (int)((unsigned)(value > 0) << (j - first));
            any |= value == 7;
            all &= value >= 0;
        }
        wanted.push_back(sum * 10 + (int)(i % BLOCK / size) - sum);
        wanted_votes.push_back((int)((unsigned)ballot << 2) | any << 1 | all);
        wanted_scans.push_back(prefix + most);
    }
    tiles<size><<<count / BLOCK, BLOCK>>>(in.device, out.device, votes.device, scans.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "tile sums", out, wanted);
    sim_equal(check, "tile votes", votes, wanted_votes);
    sim_equal(check, "tile scans", scans, wanted_scans);
}

void sim_program_cooperative(sim_check &check)
{
    const int blocks = 5, count = blocks * BLOCK;
    sim_random random(33);
    sim_array<int> in(check, count), out(check, count), counter(check, 1), ranks(check, count);
    std::vector<int> wanted;
    std::vector<bool> taken(count);
    int above = 0;

    for (int i = 0; i < count; i++)
        in.host[i] = (int)random.below(i / 32 % 3 == 0 ? 50 : 9) - (i / 32 % 2);
    for (int i = 0; i < count; i++)
        wanted.push_back(in.host[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK] + i % BLOCK);
    in.upload();
    block_scope<<<blocks, BLOCK>>>(in.device, out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "block", out, wanted);
    tiled<32>(check, in);
    tiled<16>(check, in);
    tiled<4>(check, in);
    tiled<2>(check, in);

    counter.zero();
    coalesced<<<blocks, BLOCK>>>(in.device, counter.device, ranks.device, 4);
    SIM_LAUNCHED(check);
    ranks.download();
    for (int i = 0; i < count; i++) {
        int rank = ranks.host[i];

        SIM_HOLDS(check, (rank >= 0) == (in.host[i] > 4));
        if (rank >= 0 && rank < count) {
            SIM_HOLDS(check, !taken[rank]);
            taken[rank] = true;
            above++;
        }
    }
    sim_equal(check, "counter", counter, std::vector<int>{above});
}
