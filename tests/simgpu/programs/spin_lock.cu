/* SPDX-License-Identifier: Apache-2.0 */
/* Spin locks between blocks, between warps of a block, and between the lanes of a warp. */
#include "program.cuh"

struct account {
    int lock;
    int balance;
    int entries;
};

static __device__ void acquire(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
}

static __device__ void release(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

static __device__ void change(account *a, int by)
{
    volatile int *balance = &a->balance, *entries = &a->entries;

    *balance = *balance * 3 % 1000 + by % 2 + 1; /* not an addition: no order is lost unseen */
    *balance = *balance - by % 2 - 1;
    *entries = *entries + 1;
}

/* A thread per block. */
static __global__ void blocks(account *a)
{
    if (threadIdx.x == 0) {
        acquire(&a->lock);
        change(a, blockIdx.x);
        release(&a->lock);
    }
}

/* Lane 0 of each warp, on a lock in shared memory, then on the global one. */
static __global__ void warps(account *a)
{
    __shared__ account own;

    if (threadIdx.x == 0)
        own = {0, 0, 0};
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (int i = 0; i < 3; i++) {
            acquire(&own.lock);
            change(&own, i);
            release(&own.lock);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        acquire(&a->lock);
        a->entries += own.entries;
        release(&a->lock);
    }
}

/* All lanes of a warp: whoever holds the lock must be let run while the others spin. */
static __global__ void lanes(account *a)
{
    bool done = false;

    while (!done) {
        if (atomicCAS(&a->lock, 0, 1) == 0) {
            __threadfence();
            change(a, threadIdx.x);
            release(&a->lock);
            done = true;
        }
    }
}

/* The same with the lanes spinning in a loop of their own: needs independent progress of lanes. */
static __global__ void stubborn_lanes(account *a)
{
    acquire(&a->lock);
    change(a, threadIdx.x);
    release(&a->lock);
}

/* One warp waits for what another warp of the block writes later. */
static __global__ void hand_over(volatile int *flag, volatile int *data, int *out)
{
    if (threadIdx.x < 32) {
        while (*flag == 0)
            ;
        __threadfence();
        out[threadIdx.x] = data[threadIdx.x];
    } else {
        data[threadIdx.x - 32] = (int)threadIdx.x * 5;
        __threadfence();
        __syncwarp();
        if (threadIdx.x == 32)
            *flag = 1;
    }
}

static void entered(sim_check &check, const char *what, sim_array<account> &a, int entries)
{
    SIM_LAUNCHED(check);
    a.download();
    sim_equal_value(check, what, a.host[0].entries, entries);
    sim_equal_value(check, what, a.host[0].balance, 0);
    sim_equal_value(check, what, a.host[0].lock, 0);
    a.zero();
}

void sim_program_spin_lock(sim_check &check)
{
    sim_array<account> a(check, 1);
    sim_array<int> flag(check, 1), data(check, 32), out(check, 32);
    std::vector<int> wanted;

    a.zero();
    blocks<<<150, 64>>>(a.device);
    entered(check, "blocks", a, 150);
    warps<<<9, 256>>>(a.device);
    entered(check, "warps", a, 9 * 8 * 3);
    lanes<<<5, 70>>>(a.device);
    entered(check, "lanes", a, 5 * 70);
    stubborn_lanes<<<3, 40>>>(a.device);
    entered(check, "stubborn lanes", a, 3 * 40);
    flag.zero();
    hand_over<<<1, 64>>>(flag.device, data.device, out.device);
    SIM_LAUNCHED(check);
    for (int i = 0; i < 32; i++)
        wanted.push_back((i + 32) * 5);
    sim_equal(check, "handed over", out, wanted);
}
