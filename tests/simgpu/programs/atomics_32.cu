/* SPDX-License-Identifier: Apache-2.0 */
/* All 32-bit atomics, on shared and on global memory, with what they return. */
#include "program.cuh"

#include <algorithm>

enum { ADD, SUB, MIN, MAX, AND, OR, XOR, INC, DEC, SIGNED_MIN, SIGNED_MAX, FLOAT_ADD, CELLS };

#define INC_LIMIT 100u
#define DEC_LIMIT 77u

static __device__ void apply(unsigned *cells, unsigned value)
{
    atomicAdd(&cells[ADD], value);
    atomicSub(&cells[SUB], value);
    atomicMin(&cells[MIN], value);
    atomicMax(&cells[MAX], value);
    atomicAnd(&cells[AND], value | 0xff00ff00u);
    atomicOr(&cells[OR], value & 0x0f0f0f0fu);
    atomicXor(&cells[XOR], value);
    atomicInc(&cells[INC], INC_LIMIT);
    atomicDec(&cells[DEC], DEC_LIMIT);
    atomicMin((int *)&cells[SIGNED_MIN], (int)value);
    atomicMax((int *)&cells[SIGNED_MAX], (int)value);
    atomicAdd((float *)&cells[FLOAT_ADD], (float)(value % 16)); /* small integers: exact */
}

static __host__ __device__ void begin(unsigned *cells)
{
    for (int i = 0; i < CELLS; i++)
        cells[i] = 0;
    cells[MIN] = cells[AND] = 0xffffffffu;
    cells[SIGNED_MIN] = 0x7fffffff;
    cells[SIGNED_MAX] = 0x80000000u;
}

static __global__ void on_global(const unsigned *values, int count, unsigned *cells)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        apply(cells, values[i]);
}

static __global__ void on_shared(const unsigned *values, int count, unsigned *out)
{
    __shared__ unsigned cells[CELLS];

    if (threadIdx.x == 0)
        begin(cells);
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        apply(cells, values[i]);
    __syncthreads();
    if (threadIdx.x < CELLS)
        out[threadIdx.x] = cells[threadIdx.x];
}

/* Each thread takes a ticket; then the old value of an exchange is handed along a chain. */
static __global__ void tickets(unsigned *counter, unsigned *taken, unsigned *slot, unsigned *chain,
                               unsigned *swaps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    taken[atomicAdd(counter, 1u)] = i;
    chain[i] = atomicExch(slot, i + 1);
    /* Of all threads one changes 0 into its number plus one; the rest see that. */
    swaps[i] = atomicCAS(slot + 1, 0u, i + 1);
}

static std::vector<unsigned> reference(const std::vector<unsigned> &values)
{
    std::vector<unsigned> c(CELLS);
    float sum = 0;

    begin(c.data());
    for (unsigned value : values) {
        c[ADD] += value;
        c[SUB] -= value;
        c[MIN] = std::min(c[MIN], value);
        c[MAX] = std::max(c[MAX], value);
        c[AND] &= value | 0xff00ff00u;
        c[OR] |= value & 0x0f0f0f0fu;
        c[XOR] ^= value;
        c[INC] = c[INC] >= INC_LIMIT ? 0 : c[INC] + 1;
        c[DEC] = c[DEC] == 0 || c[DEC] > DEC_LIMIT ? DEC_LIMIT : c[DEC] - 1;
        c[SIGNED_MIN] = (unsigned)std::min((int)c[SIGNED_MIN], (int)value);
        c[SIGNED_MAX] = (unsigned)std::max((int)c[SIGNED_MAX], (int)value);
        sum += (float)(value % 16);
    }
    memcpy(&c[FLOAT_ADD], &sum, sizeof(sum));
    return c;
}

static void take_tickets(sim_check &check)
{
    const unsigned count = 7 * 96;
    sim_array<unsigned> counter(check, 1), taken(check, count), slot(check, 2);
    sim_array<unsigned> chain(check, count), swaps(check, count);
    std::vector<unsigned> numbers(count), handed(count);
    unsigned winners = 0;

    counter.zero();
    slot.zero();
    tickets<<<7, 96>>>(counter.device, taken.device, slot.device, chain.device, swaps.device);
    SIM_LAUNCHED(check);
    for (unsigned i = 0; i < count; i++)
        numbers[i] = handed[i] = i;
    taken.download();
    std::sort(taken.host.begin(), taken.host.end());
    sim_equal(check, "tickets", taken.host, numbers);
    /* All that was exchanged and what is left are 0 and 1..count, each once. */
    chain.download();
    slot.download();
    chain.host.push_back(slot.host[0]);
    handed.push_back(count);
    std::sort(chain.host.begin(), chain.host.end());
    sim_equal(check, "chain", chain.host, handed);
    for (unsigned old : swaps.download()) {
        winners += old == 0;
        SIM_HOLDS(check, old == 0 || old == slot.host[1]);
    }
    SIM_HOLDS(check, winners == 1 && swaps.host[slot.host[1] - 1] == 0);
}

void sim_program_atomics_32(sim_check &check)
{
    const int count = 3011;
    sim_random random(30);
    sim_array<unsigned> values(check, count), cells(check, CELLS), shared(check, CELLS);

    for (unsigned &value : values.host)
        value = (unsigned)random.next();
    values.upload();
    begin(cells.host.data());
    cells.upload();
    on_global<<<(count + 95) / 96, 96>>>(values.device, count, cells.device);
    on_shared<<<1, 160>>>(values.device, count, shared.device);
    SIM_LAUNCHED(check);
    sim_equal(check, "global", cells, reference(values.host));
    sim_equal(check, "shared", shared, reference(values.host));
    take_tickets(check);
}
