/* SPDX-License-Identifier: Apache-2.0 */
/* Half and bfloat16: scalar and packed arithmetic, conversions, comparisons, special values. */
#include "program.cuh"

#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

/*
 * The reference: values of both formats and their products are exact in long double; sums that are
 * not are rounded to odd, so that rounding once more, to nearest and ties to even, gives the format's
 * result.
 */
struct format {
    int fraction_bits, exponent_bits;
};

static const format half_format = {10, 5}, bfloat_format = {7, 8};

static long double decode(uint16_t bits, format f)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    int exponent = bits >> f.fraction_bits & ((1 << f.exponent_bits) - 1);
    int fraction = bits & ((1 << f.fraction_bits) - 1);
    long double value;

    if (exponent == (1 << f.exponent_bits) - 1)
        value = fraction != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = std::ldexp((long double)fraction, 1 - bias - f.fraction_bits);
    else
        value = std::ldexp((long double)(fraction | 1 << f.fraction_bits),
                           exponent - bias - f.fraction_bits);
    return bits & 0x8000 ? -value : value;
}

static uint16_t encode(long double value, format f)
{
    int bias = (1 << (f.exponent_bits - 1)) - 1, exponent;
    uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)(((1 << f.exponent_bits) - 1) << f.fraction_bits);

    if (value != value)
        return 0x7fff;
    value = std::fabs(value);
    if (value == 0 || std::isinf(value))
        return (uint16_t)(sign | (value == 0 ? 0 : infinity));
    std::frexp(value, &exponent); /* value = m * 2^exponent, m in [0.5, 1) */
    int lowest = exponent - 1 - f.fraction_bits;
    if (lowest < 1 - bias - f.fraction_bits)
        lowest = 1 - bias - f.fraction_bits;
    long units = std::lrint(std::ldexp(value, -lowest)); /* rounds ties to even */
    long biased = lowest + f.fraction_bits + bias;
    /* Adding the units carries into the exponent where they overflow. */
    long bits = ((biased - 1) << f.fraction_bits) + units;
    return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

/* The sum to 64 bits; where that is not exact, the neighbour whose last bit is set. */
static long double sum_to_odd(long double a, long double b)
{
    long double sum = a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
    uint64_t significand;

    memcpy(&significand, &sum, sizeof(significand));
    if (std::isfinite(sum) && lost != 0 && significand % 2 == 0)
        sum = std::nextafter(sum, lost > 0 ? (long double)INFINITY : -(long double)INFINITY);
    return sum;
}

/* NaNs are all alike: CUDA's are 0x7fff, others are possible. */
static void equal_bits(sim_check &check, const char *what, uint16_t got, uint16_t wanted, format f)
{
    check.compared++;
    if (got != wanted && !(std::isnan(decode(got, f)) && std::isnan(decode(wanted, f))))
        sim_differ(check, "%s is 0x%04x (%Lg), not 0x%04x (%Lg)", what, got, decode(got, f), wanted,
                   decode(wanted, f));
}

#define RESULTS 12

template <class T> struct bits_of;
template <> struct bits_of<__half> {
    static __device__ uint16_t get(__half h)
    {
        return __half_as_ushort(h);
    }
};
template <> struct bits_of<__nv_bfloat16> {
    static __device__ uint16_t get(__nv_bfloat16 h)
    {
        return __bfloat16_as_ushort(h);
    }
};

template <class T> __global__ void scalars(const T *a, const T *b, uint16_t *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    T x = a[i], y = b[i];
    uint16_t *o = out + i * RESULTS;
    o[0] = bits_of<T>::get(__hadd_rn(x, y));
    o[1] = bits_of<T>::get(__hsub_rn(x, y));
    o[2] = bits_of<T>::get(__hmul_rn(x, y));
    o[3] = bits_of<T>::get(__hfma(x, y, x));
    o[4] = bits_of<T>::get(__hneg(x));
    o[5] = bits_of<T>::get(__habs(x));
    o[6] = bits_of<T>::get(__hmin(x, y));
    o[7] = bits_of<T>::get(__hmax(x, y));
    o[8] = (uint16_t)(__hlt(x, y) | __hle(x, y) << 1 | __heq(x, y) << 2 | __hne(x, y) << 3 |
                      __hgt(x, y) << 4 | __hge(x, y) << 5 | __hisnan(x) << 6);
    o[9] = bits_of<T>::get(T((float)x * 0.3f)); /* to float and back */
    o[10] = (uint16_t)(short)(int)fminf(fmaxf((float)x, -30000.0f), 30000.0f);
    o[11] = bits_of<T>::get(T((float)(i * 37)));
}

/* Values of all magnitudes, zeros, subnormals, infinities, NaN. */
static uint16_t pick(sim_random &random, int i)
{
    const uint16_t special[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0x7c00, 0xfc00, 0x7e00};

    return i % 9 == 0 ? special[random.below(10)] : (uint16_t)random.below(65536);
}

static void wanted_scalars(uint16_t *o, uint16_t a, uint16_t b, int i, format f)
{
    long double x = decode(a, f), y = decode(b, f);
    bool nan = std::isnan(x) || std::isnan(y);

    o[0] = encode(sum_to_odd(x, y), f);
    o[1] = encode(sum_to_odd(x, -y), f);
    o[2] = encode(x * y, f);
    o[3] = encode(sum_to_odd(x * y, x), f);
    o[4] = (uint16_t)(a ^ 0x8000);
    o[5] = (uint16_t)(a & 0x7fff);
    /* Of a number and a NaN, the number; -0 below +0. */
    bool a_less = x < y || (x == y && std::signbit(x));
    o[6] = std::isnan(x) ? b : std::isnan(y) ? a : a_less ? a : b;
    o[7] = std::isnan(x) ? b : std::isnan(y) ? a : a_less ? b : a;
    o[8] = (uint16_t)((x < y) | (x <= y) << 1 | (x == y) << 2 | (!nan && x != y) << 3 |
                      (x > y) << 4 | (x >= y) << 5 | std::isnan(x) << 6);
    o[9] = encode((float)x * 0.3f, f);
    o[10] = (uint16_t)(short)(int)fminf(fmaxf((float)x, -30000.0f), 30000.0f);
    o[11] = encode((float)(i * 37), f);
}

template <class T> static void scalar(sim_check &check, const char *name, format f, int count)
{
    const char *const what[RESULTS] = {"add", "sub", "mul",     "fma",       "neg",    "abs",
                                       "min", "max", "compare", "times 0.3", "to int", "from int"};
    sim_random random(28);
    std::vector<uint16_t> a(count), b(count);
    sim_array<T> x(check, count), y(check, count);
    sim_array<uint16_t> out(check, (size_t)count * RESULTS);

    for (int i = 0; i < count; i++) {
        a[i] = pick(random, i);
        b[i] = pick(random, i + 4);
    }
    SIM_CALL(check, cudaMemcpy(x.device, a.data(), x.bytes(), cudaMemcpyHostToDevice));
    SIM_CALL(check, cudaMemcpy(y.device, b.data(), y.bytes(), cudaMemcpyHostToDevice));
    scalars<<<(count + 63) / 64, 64>>>(x.device, y.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    for (int i = 0; i < count; i++) {
        uint16_t wanted[RESULTS];

        wanted_scalars(wanted, a[i], b[i], i, f);
        for (int j = 0; j < RESULTS; j++) {
            char label[64];
            const uint16_t got = out.host[(size_t)i * RESULTS + j];

            snprintf(label, sizeof(label), "%s %s of 0x%04x, 0x%04x", name, what[j], a[i], b[i]);
            if (j == 8 || j == 10) { /* numbers, not values of the format */
                check.compared++;
                if (got != wanted[j])
                    sim_differ(check, "%s is 0x%x, not 0x%x", label, got, wanted[j]);
            } else {
                equal_bits(check, label, got, wanted[j], f);
            }
        }
    }
}

/* Packed: both halves of a word at once; a dot product as its users write it. */
static __global__ void packed(const __half2 *a, const __half2 *b, __half2 *out, float2 *wide,
                              int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    __half2 sum = __hfma2(a[i], b[i], __float2half2_rn(0.25f));

    sum = __hadd2(sum, __lowhigh2highlow(a[i]));
    sum = __hmul2(sum, __halves2half2(__high2half(b[i]), __float2half(0.5f)));
    out[i] = __hmax2(sum, __floats2half2_rn(-3.0f, -4.0f));
    wide[i] = __half22float2(sum);
}

static void packed_halves(sim_check &check, int count)
{
    sim_random random(29);
    std::vector<uint16_t> a(2 * count), b(2 * count);
    sim_array<__half2> x(check, count), y(check, count);
    sim_array<uint16_t> out(check, 2 * count);
    sim_array<float2> wide(check, count);
    const format f = half_format;

    for (int i = 0; i < 2 * count; i++) {
        a[i] = encode((long double)random.between(-4, 4), f);
        b[i] = encode((long double)random.between(-4, 4), f);
    }
    SIM_CALL(check, cudaMemcpy(x.device, a.data(), x.bytes(), cudaMemcpyHostToDevice));
    SIM_CALL(check, cudaMemcpy(y.device, b.data(), y.bytes(), cudaMemcpyHostToDevice));
    packed<<<(count + 63) / 64, 64>>>(x.device, y.device, (__half2 *)out.device, wide.device,
                                      count);
    SIM_LAUNCHED(check);
    out.download();
    wide.download();
    for (int i = 0; i < 2 * count; i++) {
        uint16_t v = encode(decode(a[i], f) * decode(b[i], f) + 0.25L, f);
        long double most = i % 2 == 0 ? -3 : -4;

        v = encode(decode(v, f) + decode(a[i ^ 1], f), f);
        v = encode(decode(v, f) * (i % 2 == 0 ? decode(b[i + 1], f) : 0.5L), f);
        float got = i % 2 == 0 ? wide.host[i / 2].x : wide.host[i / 2].y;
        sim_equal_value(check, "wide", got, (float)decode(v, f));
        equal_bits(check, "packed", out.host[i], decode(v, f) < most ? encode(most, f) : v, f);
    }
}

void sim_program_half_precision(sim_check &check)
{
    scalar<__half>(check, "half", half_format, 3001);
    scalar<__nv_bfloat16>(check, "bfloat16", bfloat_format, 3001);
    packed_halves(check, 1001);
}
