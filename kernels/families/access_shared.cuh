/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to shared memory of a fixed width; addresses are those of the shared window. */
#ifndef GMT_KERNELS_ACCESS_SHARED_CUH
#define GMT_KERNELS_ACCESS_SHARED_CUH

#include "kernels/families/access.cuh"

static __device__ __forceinline__ float2 gmt_load_shared_two(unsigned address)
{
    float2 v;

    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address));
    return v;
}

static __device__ __forceinline__ float gmt_load_shared_pair(unsigned address)
{
    float2 v = gmt_load_shared_two(address);

    return v.x + v.y;
}

static __device__ __forceinline__ void gmt_store_shared_two(unsigned address, float2 v)
{
    asm volatile("st.volatile.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(v.x), "f"(v.y)
                 : "memory");
}

static __device__ __forceinline__ void gmt_store_shared(unsigned address, float value)
{
    asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

static __device__ __forceinline__ void gmt_store_shared_words(unsigned address, float4 v)
{
    asm volatile("st.volatile.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x),
                 "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

static __device__ __forceinline__ float4 gmt_load_shared_words(unsigned address)
{
    float4 v;

    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address));
    return v;
}

static __device__ __forceinline__ unsigned gmt_shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

#endif
