/* SPDX-License-Identifier: Apache-2.0 */
/* Fast Fourier transform in shared memory, forth and back, against a transform in double. */
#include "program.cuh"

#define POINTS 256
#define STEPS 8

static __device__ float2 product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* Radix 2, bit-reversed input; one block per row, a butterfly per thread. */
static __global__ void transform(const float2 *in, float2 *out, float sign)
{
    __shared__ float2 row[POINTS];
    unsigned t = threadIdx.x;

    for (unsigned i = t; i < POINTS; i += POINTS / 2)
        row[__brev(i) >> (32 - STEPS)] = in[blockIdx.x * POINTS + i];
    for (unsigned half = 1; half < POINTS; half *= 2) {
        unsigned at = t / half * 2 * half + t % half;
        float2 twiddle, low, high;

        __syncthreads();
        sincospif(sign * (float)(t % half) / (float)half, &twiddle.y, &twiddle.x);
        low = row[at];
        high = product(row[at + half], twiddle);
        row[at] = make_float2(low.x + high.x, low.y + high.y);
        row[at + half] = make_float2(low.x - high.x, low.y - high.y);
    }
    __syncthreads();
    for (unsigned i = t; i < POINTS; i += POINTS / 2)
        out[blockIdx.x * POINTS + i] = row[i];
}

void sim_program_fft(sim_check &check)
{
    const int rows = 7;
    const double turn = -2 * 3.14159265358979323846 / POINTS;
    sim_random random(46);
    sim_array<float2> in(check, rows * POINTS), there(check, rows * POINTS);
    sim_array<float2> back(check, rows * POINTS);
    std::vector<double> wanted, scaled;

    for (float2 &value : in.host)
        value = make_float2((float)random.between(-1, 1), (float)random.between(-1, 1));
    in.upload();
    transform<<<rows, POINTS / 2>>>(in.device, there.device, -1);
    transform<<<rows, POINTS / 2>>>(there.device, back.device, 1);
    SIM_LAUNCHED(check);
    for (int i = 0; i < rows * POINTS; i++) {
        double re = 0, im = 0;

        for (int j = 0; j < POINTS; j++) {
            double angle = turn * (i % POINTS * j % POINTS);
            const float2 &v = in.host[i / POINTS * POINTS + j];

            re += v.x * std::cos(angle) - v.y * std::sin(angle);
            im += v.x * std::sin(angle) + v.y * std::cos(angle);
        }
        wanted.insert(wanted.end(), {re, im});
        scaled.insert(scaled.end(), {(double)in.host[i].x * POINTS, (double)in.host[i].y * POINTS});
    }
    const float *p = &there.download()[0].x, *q = &back.download()[0].x;
    /* Values of up to some 60 after 8 steps of a few roundings each; 16 steps and 256 there and back. */
    sim_near(check, "spectrum", std::vector<float>(p, p + wanted.size()), wanted, 0,
             64 * 30 * 0x1p-24);
    sim_near(check, "back", std::vector<float>(q, q + scaled.size()), scaled, 0,
             256 * 60 * 0x1p-24);
}
