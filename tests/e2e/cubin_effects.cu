// SPDX-License-Identifier: Apache-2.0
// Kernels with effects beside others, for cubin_effects.sh.
#include <assert.h>
#include <new>
#include <stdio.h>

extern "C" __global__ void k_prints(int *p)
{
    printf("%d\n", *p);
}

extern "C" __global__ void k_prints_slowly(double *p)
{
    printf("%f\n", sin(p[0]) / p[1]);
}

extern "C" __global__ void k_allocates(int **p)
{
    *p = (int *)malloc(16);
}

extern "C" __global__ void k_frees(int *p)
{
    free(p);
}

extern "C" __global__ void k_asserts(int *p)
{
    assert(*p == 3);
}

extern "C" __global__ void k_copies(int *p)
{
    p[0] = p[1];
}

extern "C" __global__ void k_divides(long long *p, double *q)
{
    p[0] /= p[1];
    q[0] = sin(q[1]) / q[2];
}

#ifdef CALLS
__device__ __noinline__ int say(int x)
{
    return printf("%d\n", x);
}

__device__ __noinline__ int count(int x)
{
    return x == 0 ? 0 : count(x - 1) + x;
}

__device__ __noinline__ int odd(int x);

__device__ __noinline__ int even(int x)
{
    return x == 0 ? say(x) : odd(x - 1) + 1;
}

__device__ __noinline__ int odd(int x)
{
    return x == 0 ? 0 : even(x - 1) * 3;
}

extern "C" __global__ void k_says(int *p)
{
    *p = say(*p);
}

extern "C" __global__ void k_counts(int *p)
{
    *p = count(*p);
}

extern "C" __global__ void k_says_in_the_end(int *p)
{
    *p = odd(*p);
}
#endif

#ifdef POINTER
__device__ int (*pointer)(int) = say;

extern "C" __global__ void k_by_pointer(int *p)
{
    *p = pointer(*p);
}

extern "C" __global__ void k_by_argument(int *p, int (*function)(int))
{
    *p = function(*p);
}
#endif

#ifdef VIRTUAL
struct base {
    __device__ virtual int work(int x) = 0;
};

struct saying : base {
    __device__ int work(int x) override
    {
        return printf("%d\n", x);
    }
};

struct silent : base {
    __device__ int work(int x) override
    {
        return x + 1;
    }
};

__device__ base *objects[2];

extern "C" __global__ void k_makes(saying *a, silent *b)
{
    objects[0] = new (a) saying;
    objects[1] = new (b) silent;
}

extern "C" __global__ void k_works(int *p)
{
    *p = objects[*p]->work(*p);
}
#endif

#ifdef LAUNCHES
extern "C" __global__ void k_child(int *p)
{
    *p = 1;
}

extern "C" __global__ void k_launches(int *p)
{
    k_child<<<1, 1>>>(p);
}
#endif
