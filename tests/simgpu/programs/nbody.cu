/* SPDX-License-Identifier: Apache-2.0 */
/* All-pairs gravitation with a shared tile, against a computation in double. */
#include "program.cuh"

#define BLOCK 64
#define SOFTENING 0.01f

static __global__ void accelerations(const float4 *bodies, float3 *out, int count)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = i < count ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);

    for (int at = 0; at < count; at += BLOCK) {
        int other = at + threadIdx.x;

        tile[threadIdx.x] = other < count ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < BLOCK; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
            float pull = tile[j].w * inverse * inverse * inverse; /* no mass, no pull */

            sum.x += dx * pull;
            sum.y += dy * pull;
            sum.z += dz * pull;
        }
        __syncthreads();
    }
    if (i < count)
        out[i] = sum;
}

void sim_program_nbody(sim_check &check)
{
    const int count = 300;
    sim_random random(14);
    sim_array<float4> bodies(check, count);
    sim_array<float3> out(check, count);

    for (float4 &body : bodies.host)
        body = make_float4((float)random.between(-1, 1), (float)random.between(-1, 1),
                           (float)random.between(-1, 1), (float)random.between(0.1, 1));
    bodies.upload();
    accelerations<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(bodies.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();

    std::vector<float> got;
    std::vector<double> wanted;
    double largest = 0;
    for (int i = 0; i < count; i++) {
        double sum[3] = {0, 0, 0};

        for (const float4 &other : bodies.host) {
            double d[3] = {(double)other.x - bodies.host[i].x, (double)other.y - bodies.host[i].y,
                           (double)other.z - bodies.host[i].z};
            double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + (double)SOFTENING;

            for (int axis = 0; axis < 3; axis++)
                sum[axis] += d[axis] * other.w / (r2 * std::sqrt(r2));
        }
        for (double s : sum) {
            wanted.push_back(s);
            largest = std::fmax(largest, std::fabs(s));
        }
        got.insert(got.end(), {out.host[i].x, out.host[i].y, out.host[i].z});
    }
    /* Some 300 terms of either sign, each with a few roundings of 2^-24 and rsqrtf's 2 ulp. */
    sim_near(check, "acceleration", got, wanted, 0, largest * 300 * 0x1p-22);
}
