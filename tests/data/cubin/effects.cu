// Code that does what no copy of memory takes back: each kernel something else, the last one by a pointer.
#include <assert.h>
#include <stdio.h>

#ifdef LAUNCHES
__global__ void child(int *p) { *p = 1; }
__global__ void launches(int *p) { child<<<1, 1>>>(p); }
#else
__device__ __noinline__ int say(int x) { return printf("%d\n", x); }
__device__ int (*pointer)(int) = say;
__global__ void prints(int *p) { *p = pointer(*p); }
__global__ void asserts(int *p) { assert(*p == 3); }
__global__ void allocates(int **p) { *p = (int *)malloc(16); }
__global__ void frees(int *p) { free(p); }
#endif
