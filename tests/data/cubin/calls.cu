// Kernels with effects beside others: what one does must not be said of its neighbours.
#include <stdio.h>

#ifdef APART
__device__ __noinline__ void say(int x) { printf("%d\n", x); }
__device__ __noinline__ int count(int x) { return x == 0 ? 0 : count(x - 1) + x; }
__global__ void says(int *p) { say(*p); }
__global__ void counts(int *p) { *p = count(*p); }
#ifdef POINTER
__device__ void (*pointer)(int) = say;
#endif
#else
__global__ void prints(int *p) { printf("%d\n", *p / p[1]); }
__global__ void divides(long long *p) { *p /= p[1]; }
#endif
