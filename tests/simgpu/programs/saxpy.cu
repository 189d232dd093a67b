/* SPDX-License-Identifier: Apache-2.0 */
/* y = a x + y with a grid-stride loop, in float and double. */
#include "program.cuh"

static __device__ float fused(float a, float x, float y)
{
    return fmaf(a, x, y);
}

static __device__ double fused(double a, double x, double y)
{
    return fma(a, x, y);
}

template <class T> __global__ void saxpy(size_t count, T a, const T *x, T *y)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        y[i] = fused(a, x[i], y[i]);
}

template <class T> static void saxpy_once(sim_check &check, size_t count, const char *what)
{
    sim_random random(2);
    sim_array<T> x(check, count), y(check, count);
    std::vector<T> wanted(count);
    const T a = (T)1.7;

    for (size_t i = 0; i < count; i++) {
        x.host[i] = (T)random.between(-100, 100);
        y.host[i] = (T)random.between(-1, 1);
        wanted[i] = std::fma(a, x.host[i], y.host[i]);
    }
    x.upload();
    y.upload();
    saxpy<<<13, 192>>>(count, a, x.device, y.device);
    SIM_LAUNCHED(check);
    sim_equal(check, what, y, wanted);
}

void sim_program_saxpy(sim_check &check)
{
    saxpy_once<float>(check, 50021, "floats");
    saxpy_once<double>(check, 20011, "doubles");
}
