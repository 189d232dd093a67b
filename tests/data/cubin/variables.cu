// Variables of each kind, and kernels that have no other effects. FEW: what else makes files large is left out.
__device__ int plain;
static __device__ int internal = 5;
__managed__ int managed;
__constant__ int constant[2];

#ifndef FEW
namespace {
__device__ int unnamed;
__global__ void in_unnamed(int *p) { *p = 1; }
} // namespace
namespace named {
__device__ int inner;
}
template <class T> __device__ T of_template;
__managed__ int managed_initialized = 7;
__device__ const int constant_table[4] = {1, 2, 3, 4};

static __global__ void in_file(int *p) { *p = 2; }
void use(int *p)
{
    in_file<<<1, 1>>>(p);
    in_unnamed<<<1, 1>>>(p);
}
#endif

__global__ void kernel(int *p)
{
    __shared__ int shared[32];
    shared[threadIdx.x] = p[0];
    __syncthreads();
    p[1] = shared[threadIdx.x ^ 1] + constant[p[0]];
    plain++, internal++, managed++;
#ifndef FEW
    static __device__ int inside;
    p[2] = constant_table[p[0]];
    unnamed++, named::inner++, inside++, of_template<int>++, managed_initialized++;
#endif
}
