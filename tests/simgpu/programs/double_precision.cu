/* SPDX-License-Identifier: Apache-2.0 */
/* Double precision: a solver, compensated sums, and every rounding of the four operations. */
#include "program.cuh"

#include <cfenv>

#define ROUNDINGS 4
#define OPERATIONS 6

/* The four directed roundings of +, *, /, square root, fma and reciprocal, per element. */
static __global__ void rounded(const double *a, const double *b, double *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    double x = a[i], y = b[i], *o = out + i * ROUNDINGS * OPERATIONS;
#define ROUND(mode) \
    *o++ = __dadd_##mode(x, y); \
    *o++ = __dmul_##mode(x, y); \
    *o++ = __ddiv_##mode(x, y); \
    *o++ = __dsqrt_##mode(fabs(x)); \
    *o++ = __fma_##mode(x, y, x); \
    *o++ = __drcp_##mode(y)
    ROUND(rn);
    ROUND(rz);
    ROUND(ru);
    ROUND(rd);
#undef ROUND
}

static double observed(double value)
{
    volatile double kept = value;

    return kept;
}

/* The processor's own rounding modes; the volatiles keep the compiler from computing early. */
static void roundings(sim_check &check, int count)
{
    const int modes[ROUNDINGS] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    const int per = ROUNDINGS * OPERATIONS;
    sim_random random(25);
    sim_array<double> a(check, count), b(check, count), out(check, (size_t)count * per);
    std::vector<double> wanted((size_t)count * per);

    for (int i = 0; i < count; i++) {
        a.host[i] = std::ldexp(random.between(-1, 1), (int)random.below(120) - 60);
        b.host[i] = std::ldexp(random.between(-1, 1), (int)random.below(40) - 20);
        if (i % 50 == 7)
            a.host[i] = std::ldexp(a.host[i], -1000); /* small: products may be subnormal */
    }
    for (int mode = 0; mode < ROUNDINGS; mode++) {
        fesetround(modes[mode]);
        for (int i = 0; i < count; i++) {
            volatile double x = a.host[i], y = b.host[i], one = 1, size = std::fabs(a.host[i]);
            double *o = &wanted[(size_t)i * per + mode * OPERATIONS];

            o[0] = observed(x + y);
            o[1] = observed(x * y);
            o[2] = observed(x / y);
            o[3] = observed(std::sqrt(size));
            o[4] = observed(std::fma(x, y, x));
            o[5] = observed(one / y);
        }
    }
    fesetround(FE_TONEAREST);
    a.upload();
    b.upload();
    rounded<<<(count + 63) / 64, 64>>>(a.device, b.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "rounded", out, wanted);
}

#define SIDE 24

/* Gaussian elimination with a block; the matrix is dominated by its diagonal: no pivoting. */
static __global__ void solve(const double *matrix, const double *right, double *x)
{
    __shared__ double m[SIDE][SIDE + 1];
    int t = threadIdx.x;

    for (int i = 0; i < SIDE; i++)
        m[i][t] = t < SIDE ? matrix[i * SIDE + t] : right[i];
    for (int k = 0; k < SIDE; k++) {
        __syncthreads();
        double pivot = m[k][k], mine = m[k][t];
        for (int i = 0; i < SIDE; i++) {
            double factor = m[i][k] / pivot;

            __syncthreads();
            if (i != k && t > k)
                m[i][t] -= factor * mine;
        }
    }
    __syncthreads();
    if (t < SIDE)
        x[t] = m[t][SIDE] / m[t][t];
}

static void solver(sim_check &check)
{
    sim_random random(26);
    sim_array<double> matrix(check, SIDE * SIDE), right(check, SIDE), x(check, SIDE);
    std::vector<double> wanted(SIDE);

    for (int i = 0; i < SIDE; i++)
        wanted[i] = random.between(-5, 5);
    for (int i = 0; i < SIDE; i++) {
        right.host[i] = 0;
        for (int j = 0; j < SIDE; j++) {
            matrix.host[i * SIDE + j] = random.between(-1, 1) + (i == j ? 2 * SIDE : 0);
            right.host[i] += matrix.host[i * SIDE + j] * wanted[j];
        }
    }
    matrix.upload();
    right.upload();
    solve<<<1, SIDE + 1>>>(matrix.device, right.device, x.device);
    SIM_LAUNCHED(check);
    /* The matrix is well conditioned (diagonal dominance): a few thousand roundings of 2^-53. */
    sim_near(check, "solution", x.download(), wanted, 0, 5000 * 5 * 0x1p-53);
}

/* Kahan's sum: a compiler or device that reassociates or fuses it loses what it keeps. */
static __global__ void kahan(const double *in, double *out, int count)
{
    int i = threadIdx.x;
    double sum = 0, lost = 0;

    for (int j = i; j < count; j += blockDim.x) {
        double y = __dsub_rn(in[j], lost), t = __dadd_rn(sum, y);

        lost = __dsub_rn(__dsub_rn(t, sum), y);
        sum = t;
    }
    out[2 * i] = sum;
    out[2 * i + 1] = lost;
}

static void compensated(sim_check &check)
{
    const int count = 5000, lanes = 40;
    sim_random random(27);
    sim_array<double> in(check, count), out(check, 2 * lanes);
    std::vector<double> wanted;

    for (double &value : in.host)
        value = std::ldexp(random.between(-1, 1), (int)random.below(60));
    for (int i = 0; i < lanes; i++) {
        double sum = 0, lost = 0;

        for (int j = i; j < count; j += lanes) {
            double y = observed(in.host[j] - lost), t = observed(sum + y);

            lost = observed(observed(t - sum) - y);
            sum = t;
        }
        wanted.insert(wanted.end(), {sum, lost});
    }
    in.upload();
    kahan<<<1, lanes>>>(in.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "compensated", out, wanted);
}

void sim_program_double_precision(sim_check &check)
{
    roundings(check, 997);
    solver(check);
    compensated(check);
}
