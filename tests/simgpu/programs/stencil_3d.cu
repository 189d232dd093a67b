/* SPDX-License-Identifier: Apache-2.0 */
/* Seven-point stencil in three dimensions: a thread per point, and a plane that moves along z. */
#include "program.cuh"

#define TX 16
#define TY 8

struct size3 {
    int x, y, z;
};

static __device__ float sum7(float c, float a, float b, float d, float e, float f, float g)
{
    float sides = __fadd_rn(__fadd_rn(a, b), __fadd_rn(__fadd_rn(d, e), __fadd_rn(f, g)));

    return __fsub_rn(__fmul_rn(6.0f, c), sides);
}

static __global__ void per_point(const float *in, float *out, size3 n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z, plane = n.x * n.y, i = z * plane + y * n.x + x;

    if (x < 1 || y < 1 || z < 1 || x >= n.x - 1 || y >= n.y - 1 || z >= n.z - 1)
        return;
    out[i] = sum7(in[i], in[i - 1], in[i + 1], in[i - n.x], in[i + n.x], in[i - plane],
                  in[i + plane]);
}

/* Each thread walks a column: the point below and above stay in registers, the plane in shared. */
static __global__ void by_planes(const float *in, float *out, size3 n)
{
    __shared__ float tile[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x + 1, y = blockIdx.y * TY + threadIdx.y + 1;
    int plane = n.x * n.y, row = threadIdx.y + 1, col = threadIdx.x + 1;
    bool inside = x < n.x - 1 && y < n.y - 1;
    bool loads = x < n.x && y < n.y;
    int i = y * n.x + x;
    float below = 0, here = loads ? in[i] : 0, above = loads ? in[i + plane] : 0;

    for (int z = 1; z < n.z - 1; z++) {
        i += plane;
        below = here;
        here = above;
        above = loads ? in[i + plane] : 0;
        __syncthreads();
        tile[row][col] = here;
        if (loads && threadIdx.x == 0)
            tile[row][0] = in[i - 1];
        if (loads && threadIdx.y == 0)
            tile[0][col] = in[i - n.x];
        if (inside && threadIdx.x == TX - 1)
            tile[row][TX + 1] = in[i + 1];
        if (inside && threadIdx.y == TY - 1)
            tile[TY + 1][col] = in[i + n.x];
        __syncthreads();
        if (inside)
            out[i] = sum7(here, tile[row][col - 1], tile[row][col + 1], tile[row - 1][col],
                          tile[row + 1][col], below, above);
    }
}

void sim_program_stencil_3d(sim_check &check)
{
    const size3 n = {37, 27, 19};
    const int plane = n.x * n.y;
    sim_random random(13);
    sim_array<float> in(check, (size_t)plane * n.z);
    std::vector<float> wanted(in.host.size());

    memset(wanted.data(), 0xcd, wanted.size() * sizeof(float)); /* the edges are not written */
    for (float &value : in.host)
        value = (float)random.between(-10, 10);
    for (int z = 1; z < n.z - 1; z++)
        for (int y = 1; y < n.y - 1; y++)
            for (int x = 1; x < n.x - 1; x++) {
                const float *p = &in.host[z * plane + y * n.x + x];
                float sides = (p[-1] + p[1]) + ((p[-n.x] + p[n.x]) + (p[-plane] + p[plane]));

                wanted[z * plane + y * n.x + x] = 6.0f * *p - sides;
            }
    in.upload();

    sim_array<float> first(check, wanted.size()), second(check, wanted.size());
    per_point<<<dim3(5, 7, 7), dim3(8, 4, 3)>>>(in.device, first.device, n);
    SIM_LAUNCHED(check);
    sim_equal(check, "per point", first, wanted);
    by_planes<<<dim3((n.x - 2 + TX - 1) / TX, (n.y - 2 + TY - 1) / TY), dim3(TX, TY)>>>(
        in.device, second.device, n);
    SIM_LAUNCHED(check);
    sim_equal(check, "by planes", second, wanted);
}
