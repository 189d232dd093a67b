/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sums: within a block two ways, then over many blocks in three launches. */
#include "program.cuh"

#define BLOCK 256

/* Inclusive, Hillis and Steele: two buffers, each step reads one and writes the other. */
static __global__ void scan_steps(const int *in, int *out)
{
    __shared__ int buffer[2][BLOCK];
    int from = 0, i = blockIdx.x * BLOCK + threadIdx.x;

    buffer[0][threadIdx.x] = in[i];
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        int value = buffer[from][threadIdx.x];

        if (threadIdx.x >= step)
            value += buffer[from][threadIdx.x - step];
        from = 1 - from;
        buffer[from][threadIdx.x] = value;
        __syncthreads();
    }
    out[i] = buffer[from][threadIdx.x];
}

/* Exclusive, Blelloch: up and down a tree; two elements per thread. The block's sum goes to `sums`. */
static __global__ void scan_tree(const int *in, int *out, int *sums, int count)
{
    __shared__ int tree[2 * BLOCK];
    int base = blockIdx.x * 2 * BLOCK, t = threadIdx.x, offset = 1;

    tree[2 * t] = base + 2 * t < count ? in[base + 2 * t] : 0;
    tree[2 * t + 1] = base + 2 * t + 1 < count ? in[base + 2 * t + 1] : 0;
    for (int pairs = BLOCK; pairs > 0; pairs /= 2, offset *= 2) {
        __syncthreads();
        if (t < pairs)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[2 * BLOCK - 1];
        tree[2 * BLOCK - 1] = 0;
    }
    for (int pairs = 1; pairs <= BLOCK; pairs *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < pairs) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int value = tree[left];

            tree[left] = tree[right];
            tree[right] += value;
        }
    }
    __syncthreads();
    for (int i = 2 * t; i <= 2 * t + 1; i++)
        if (base + i < count)
            out[base + i] = tree[i];
}

static __global__ void add_offsets(int *out, const int *offsets, int count)
{
    int i = blockIdx.x * 2 * BLOCK + threadIdx.x;

    for (int j = 0; j < 2; j++, i += BLOCK)
        if (i < count)
            out[i] += offsets[blockIdx.x];
}

static void scan_blocks(sim_check &check)
{
    sim_random random(6);
    sim_array<int> in(check, 7 * BLOCK), out(check, 7 * BLOCK);
    std::vector<int> wanted(7 * BLOCK);

    for (int i = 0; i < 7 * BLOCK; i++) {
        in.host[i] = (int)random.below(1000) - 500;
        wanted[i] = in.host[i] + (i % BLOCK != 0 ? wanted[i - 1] : 0);
    }
    in.upload();
    scan_steps<<<7, BLOCK>>>(in.device, out.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "inclusive", out, wanted);
}

void sim_program_scan(sim_check &check)
{
    const int count = 100 * 2 * BLOCK - 77, blocks = 100;
    sim_random random(7);
    sim_array<int> in(check, count), out(check, count), sums(check, blocks), total(check, 1);
    sim_array<int> offsets(check, blocks);
    std::vector<int> wanted(count);
    int sum = 0;

    scan_blocks(check);
    for (int i = 0; i < count; i++) {
        in.host[i] = (int)random.below(100);
        wanted[i] = sum;
        sum += in.host[i];
    }
    in.upload();
    scan_tree<<<blocks, BLOCK>>>(in.device, out.device, sums.device, count);
    scan_tree<<<1, BLOCK>>>(sums.device, offsets.device, total.device, blocks);
    add_offsets<<<blocks, BLOCK>>>(out.device, offsets.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "exclusive", out, wanted);
    sim_equal(check, "total", total, std::vector<int>{sum});
}
