/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accesses of a fixed width that the compiler can neither merge, split nor hoist. */
#ifndef GMT_KERNELS_ACCESS_CUH
#define GMT_KERNELS_ACCESS_CUH

#include <cuda_runtime.h>

/* Through L1, as ordinary loads go. */
static __device__ __forceinline__ float gmt_load(const float *p)
{
    float value;

    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(p)));
    return value;
}

static __device__ __forceinline__ unsigned gmt_load_index(const unsigned *p)
{
    unsigned value;

    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(p)));
    return value;
}

static __device__ __forceinline__ float4 gmt_load_vector(const float4 *p)
{
    float4 v;

    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(__cvta_generic_to_global(p)));
    return v;
}

static __device__ __forceinline__ float2 gmt_load_pair(const float2 *p)
{
    float2 v;

    asm volatile("ld.global.ca.v2.f32 {%0, %1}, [%2];"
                 : "=f"(v.x), "=f"(v.y)
                 : "l"(__cvta_generic_to_global(p)));
    return v;
}

static __device__ __forceinline__ void gmt_store_pair(float2 *p, float2 v)
{
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "f"(v.x),
                 "f"(v.y)
                 : "memory");
}

/* Of a __constant__ variable, through the constant cache. */
static __device__ __forceinline__ float gmt_load_constant(const float *p)
{
    float value;

    asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_constant(p)));
    return value;
}

/* Past L1, from L2. */
static __device__ __forceinline__ float4 gmt_load_vector_l2(const float4 *p)
{
    float4 v;

    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(__cvta_generic_to_global(p)));
    return v;
}

static __device__ __forceinline__ float gmt_load_l2(const float *p)
{
    float value;

    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(p)));
    return value;
}

static __device__ __forceinline__ void gmt_store(float *p, float value)
{
    asm volatile("st.global.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "f"(value)
                 : "memory");
}

static __device__ __forceinline__ void gmt_store_vector(float4 *p, float4 v)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
                 "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

/* ld.volatile: the assembler, too, must repeat a load from the same address. */
static __device__ __forceinline__ float gmt_load_shared(unsigned address)
{
    float value;

    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
    return value;
}

static __device__ __forceinline__ float gmt_load_shared_vector(unsigned address)
{
    float4 v;

    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address));
    return (v.x + v.y) + (v.z + v.w);
}

#endif
