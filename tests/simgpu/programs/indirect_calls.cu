/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual functions, function pointers in tables and as arguments, different in each lane. */
#include "program.cuh"

#include <new>

struct shape {
    __host__ __device__ virtual ~shape()
    {
    }
    __host__ __device__ virtual int area() const = 0;
    __host__ __device__ virtual int corners() const
    {
        return 0;
    }
};

struct rectangle : shape {
    int width, height;

    __host__ __device__ rectangle(int w, int h) : width(w), height(h)
    {
    }
    __host__ __device__ int area() const override
    {
        return width * height;
    }
    __host__ __device__ int corners() const override
    {
        return 4;
    }
};

struct square final : rectangle {
    __host__ __device__ explicit square(int side) : rectangle(side, side)
    {
    }
    __host__ __device__ int area() const override
    {
        return rectangle::area() + 1;
    }
};

struct blob : shape {
    int size;

    __host__ __device__ explicit blob(int s) : size(s)
    {
    }
    __host__ __device__ int area() const override
    {
        return size * 7;
    }
};

#define SLOT 32 /* bytes for a shape */

static __host__ __device__ shape *make(void *where, int i)
{
    switch (i % 3) {
    case 0: return new (where) rectangle(i, i + 1);
    case 1: return new (where) square(i);
    default: return new (where) blob(i);
    }
}

/* Virtual tables lie where the object was made: kernels make their own. */
static __global__ void make_shapes(unsigned char *memory, shape **shapes, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        shapes[i] = make(memory + i * SLOT, i);
}

static __global__ void measure(shape *const *shapes, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = shapes[i]->area() * 10 + shapes[i]->corners();
}

typedef unsigned (*operation)(unsigned, unsigned);

static __host__ __device__ __noinline__ unsigned plus(unsigned a, unsigned b)
{
    return a + b;
}

static __host__ __device__ __noinline__ unsigned times(unsigned a, unsigned b)
{
    return a * b;
}

static __host__ __device__ __noinline__ unsigned twist(unsigned a, unsigned b)
{
    return b == 0 ? a : twist(b, a % b); /* a pointer to a recursive function */
}

static __device__ operation table[3] = {plus, times, twist};
static __device__ operation single = twist;

static __global__ void by_table(unsigned *out, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = table[i % 3](i * 6, i + 3);
}

static __global__ void by_argument(operation f, unsigned *out, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = f(i * 10, 35);
}

void sim_program_indirect_calls(sim_check &check)
{
    const int count = 301;
    sim_array<unsigned char> memory(check, (size_t)count * SLOT);
    sim_array<shape *> shapes(check, count);
    sim_array<int> out(check, count);
    sim_array<unsigned> from_table(check, count), from_argument(check, count);
    std::vector<int> wanted;
    std::vector<unsigned> table_wanted, argument_wanted;
    operation f = nullptr;

    static_assert(sizeof(square) <= SLOT, "a shape fits its slot");
    for (int i = 0; i < count; i++) {
        const operation operations[3] = {plus, times, twist};
        alignas(16) unsigned char place[SLOT];
        shape *s = make(place, i);

        wanted.push_back(s->area() * 10 + s->corners());
        table_wanted.push_back(operations[i % 3](i * 6, i + 3));
        argument_wanted.push_back(twist(i * 10, 35));
    }
    make_shapes<<<(count + 63) / 64, 64>>>(memory.device, shapes.device, count);
    measure<<<(count + 63) / 64, 64>>>(shapes.device, out.device, count);
    by_table<<<(count + 63) / 64, 64>>>(from_table.device, count);
    SIM_LAUNCHED(check);
    SIM_CALL(check, cudaMemcpyFromSymbol(&f, single, sizeof(f)));
    by_argument<<<(count + 63) / 64, 64>>>(f, from_argument.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "virtual", out, wanted);
    sim_equal(check, "table", from_table, table_wanted);
    sim_equal(check, "argument", from_argument, argument_wanted);
}
