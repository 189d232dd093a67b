/* SPDX-License-Identifier: Apache-2.0 */
/* Fast intrinsics within their stated errors, directed roundings, and functions of several results. */
#include "program.cuh"

#include <cfenv>

#define RESULTS 9
#define ROUNDED 12
#define PARTS 8

static __global__ void fast(const float *x, const float *y, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    float *o = out + i * RESULTS, angle = y[i];
    o[0] = __sinf(angle);
    o[1] = __cosf(angle);
    o[2] = __expf(angle);
    o[3] = __logf(x[i]);
    o[4] = __log2f(x[i]);
    o[5] = __fdividef(angle, x[i]);
    o[6] = __saturatef(angle);
    o[7] = __powf(x[i], 0.7f);
    o[8] = __exp10f(angle);
}

/* Absolute and relative errors as the CUDA C++ Programming Guide states them for the intrinsics;
 * those of __powf follow from its definition, exp2f(y * __log2f(x)). */
static void intrinsics(sim_check &check, int count)
{
    const double absolute[RESULTS] = {0x1p-21, 0x1p-21, 0, 0x1p-21, 0x1p-21, 0, 0, 0, 0};
    const double relative[RESULTS] = {0,           0, 6 * 0x1p-23, 4 * 0x1p-23, 3 * 0x1p-23,
                                      3 * 0x1p-23, 0, 0x1p-18,     10 * 0x1p-23};
    sim_random random(41);
    sim_array<float> x(check, count), y(check, count), out(check, (size_t)count * RESULTS);

    for (int i = 0; i < count; i++) {
        x.host[i] = (float)std::ldexp(random.between(0.5, 1), (int)random.below(12) - 4);
        y.host[i] = (float)random.between(-3.14, 3.14);
    }
    x.upload();
    y.upload();
    fast<<<(count + 63) / 64, 64>>>(x.device, y.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    for (int i = 0; i < count; i++) {
        double a = x.host[i], b = y.host[i];
        const double wanted[RESULTS] = {std::sin(b),
                                        std::cos(b),
                                        std::exp(b),
                                        std::log(a),
                                        std::log2(a),
                                        b / a,
                                        b < 0   ? 0
                                        : b > 1 ? 1
                                                : b,
                                        std::pow(a, (double)0.7f),
                                        std::pow(10.0, b)};

        for (int j = 0; j < RESULTS; j++) {
            double got = out.host[i * RESULTS + j], apart = std::fabs(got - wanted[j]);

            check.compared++;
            if (!(apart <= absolute[j] || apart <= relative[j] * std::fabs(wanted[j])))
                sim_differ(check, "intrinsic %d of %.9g, %.9g is %.9g, not %.9g", j, a, b, got,
                           wanted[j]);
        }
    }
}

static __global__ void rounded(const float *x, const float *y, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    float a = x[i], b = y[i], *o = out + i * ROUNDED;
#define ROUND(mode) \
    *o++ = __fadd_##mode(a, b); \
    *o++ = __fmul_##mode(a, b); \
    *o++ = __fdiv_##mode(a, b); \
    *o++ = __fsqrt_##mode(fabsf(a)); \
    *o++ = __fmaf_##mode(a, b, a); \
    *o++ = __frcp_##mode(b)
    ROUND(rz);
    ROUND(ru);
#undef ROUND
}

static void roundings(sim_check &check, int count)
{
    sim_random random(42);
    sim_array<float> x(check, count), y(check, count), out(check, (size_t)count * ROUNDED);
    std::vector<float> wanted((size_t)count * ROUNDED);

    for (int i = 0; i < count; i++) {
        x.host[i] = (float)std::ldexp(random.between(-1, 1), (int)random.below(60) - 30);
        y.host[i] = (float)std::ldexp(random.between(-1, 1), (int)random.below(20) - 10);
        if (i % 20 == 3)
            x.host[i] *= 0x1p-110f; /* products and sums may be subnormal */
    }
    for (int mode = 0; mode < 2; mode++) {
        fesetround(mode == 0 ? FE_TOWARDZERO : FE_UPWARD);
        for (int i = 0; i < count; i++) {
            volatile float a = x.host[i], b = y.host[i], one = 1, size = std::fabs(a), result;
            float *o = &wanted[(size_t)i * ROUNDED + mode * 6];

            o[0] = (result = a + b);
            o[1] = (result = a * b);
            o[2] = (result = a / b);
            o[3] = (result = std::sqrt(size));
            o[4] = (result = std::fma(a, b, a));
            o[5] = (result = one / b);
        }
    }
    fesetround(FE_TONEAREST);
    x.upload();
    y.upload();
    rounded<<<(count + 63) / 64, 64>>>(x.device, y.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "rounded", out, wanted);
}

/* Taking numbers apart and putting them together: all exact but sincos, which is sin and cos. */
static __global__ void parts(const double *x, double *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, exponent, quotient;
    double whole, s, c;

    if (i >= count)
        return;
    double *o = out + i * PARTS, v = x[i];
    o[0] = frexp(v, &exponent) + exponent;
    o[1] = modf(v, &whole) * 4 + whole;
    o[2] = ldexp(v, i % 40 - 20) + scalbn((float)v, 3);
    o[3] = remquo(v, 0.75, &quotient) * 8;
    o[3] += quotient & 7;
    o[4] = nextafter(v, 1e300) - (double)nextafterf((float)v, -INFINITY);
    o[5] = (double)ilogb(v) + (double)lrint(v) + (double)llround(v) + (double)lroundf((float)v);
    sincos(v, &s, &c);
    o[6] = s - sin(v) + (c - cos(v));
    o[7] = (double)(signbit(v) != 0) + 2 * (isnan(v) != 0) + 4 * (isinf(v) != 0) + 8 * isfinite(v);
}

static void taken_apart(sim_check &check, int count)
{
    sim_random random(43);
    sim_array<double> x(check, count), out(check, (size_t)count * PARTS);
    std::vector<double> wanted;

    for (double &value : x.host)
        value = std::ldexp(random.between(-1, 1), (int)random.below(24) - 4);
    for (int i = 0; i < count; i++) {
        double v = x.host[i], whole, fraction;
        int exponent, quotient;

        fraction = std::frexp(v, &exponent);
        wanted.push_back(fraction + exponent);
        fraction = std::modf(v, &whole);
        wanted.push_back(fraction * 4 + whole);
        wanted.push_back(std::ldexp(v, i % 40 - 20) + std::scalbn((float)v, 3));
        fraction = std::remquo(v, 0.75, &quotient);
        wanted.push_back(fraction * 8 + (quotient & 7));
        wanted.push_back(std::nextafter(v, 1e300) - (double)std::nextafter((float)v, -INFINITY));
        wanted.push_back((double)std::ilogb(v) + (double)std::lrint(v) + (double)std::llround(v) +
                         (double)std::lround((float)v));
        wanted.push_back(0);
        wanted.push_back((double)std::signbit(v) + 8);
    }
    x.upload();
    parts<<<(count + 63) / 64, 64>>>(x.device, out.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "parts", out, wanted);
}

void sim_program_intrinsics(sim_check &check)
{
    intrinsics(check, 2000);
    roundings(check, 2000);
    taken_apart(check, 600);
}
