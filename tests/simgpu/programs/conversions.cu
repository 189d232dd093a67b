/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between integers and floats of all widths, roundings, saturation, and bit casts. */
#include "program.cuh"

#include <cfenv>
#include <climits>

#define RESULTS 20

static __global__ void convert(const double *in, long long *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    double d = in[i];
    float f = (float)d;
    long long whole = (long long)d, *o = out + i * RESULTS;
    o[0] = __double2int_rn(d);
    o[1] = __double2int_rz(d);
    o[2] = __double2int_ru(d);
    o[3] = __double2int_rd(d);
    o[4] = __float2int_rn(f);
    o[5] = __float2int_ru(f);
    o[6] = (long long)__float2uint_rz(f);
    o[7] = (long long)__double2uint_rd(d);
    o[8] = __double2ll_rn(d);
    o[9] = __float2ll_rd(f);
    o[10] = (long long)__double2ull_rz(d);
    o[11] = __float_as_int(f);
    o[12] = __double_as_longlong((double)f);
    o[13] = __float_as_int((float)(int)whole);
    o[14] = __float_as_int(__int2float_rz((int)whole));
    o[15] = __double_as_longlong((double)(unsigned long long)whole);
    o[16] = __float_as_int(__ll2float_ru((long long)((unsigned long long)whole * 77777777u)));
    o[17] = __float_as_int((float)(unsigned)whole);
    o[18] = (int)(__float_as_uint(__double2float_rd(d)) + (unsigned)__double2hiint(d) +
                  (unsigned)__double2loint(d));
    o[19] = (int)(__float_as_uint((float)(short)whole) +
                  __float_as_uint((float)(unsigned char)whole));
}

static long long clamp(long double value, int mode, long double low, long double high)
{
    int old = fegetround();

    fesetround(mode);
    volatile long double v = value;
    v = std::rint(v);
    fesetround(old);
    return v != v                       ? 0
           : v < low                    ? (long long)low
           : v > high                   ? high > (long double)LLONG_MAX ? -1 : (long long)high
           : v > (long double)LLONG_MAX ? (long long)(unsigned long long)v
                                        : (long long)v;
}

template <class T> static long long bits(T value)
{
    if constexpr (sizeof(T) == 4) {
        int word;

        memcpy(&word, &value, sizeof(word));
        return word;
    } else {
        long long word;

        memcpy(&word, &value, sizeof(word));
        return word;
    }
}

/* A conversion in another rounding mode, kept from the compiler. */
template <class To, class From> static To rounded(From from, int mode)
{
    int old = fegetround();
    volatile From in = from;

    fesetround(mode);
    volatile To out = (To)in;
    fesetround(old);
    return out;
}

static void reference(double d, long long *o)
{
    const long double int_low = INT_MIN, int_high = INT_MAX, unsigned_high = UINT_MAX;
    const long double long_low = LLONG_MIN, long_high = LLONG_MAX, ulong_high = ULLONG_MAX;
    float f = (float)d;
    long long whole = (long long)d, high_low;

    o[0] = clamp(d, FE_TONEAREST, int_low, int_high);
    o[1] = clamp(d, FE_TOWARDZERO, int_low, int_high);
    o[2] = clamp(d, FE_UPWARD, int_low, int_high);
    o[3] = clamp(d, FE_DOWNWARD, int_low, int_high);
    o[4] = clamp(f, FE_TONEAREST, int_low, int_high);
    o[5] = clamp(f, FE_UPWARD, int_low, int_high);
    o[6] = clamp(f, FE_TOWARDZERO, 0, unsigned_high);
    o[7] = clamp(d, FE_DOWNWARD, 0, unsigned_high);
    o[8] = clamp(d, FE_TONEAREST, long_low, long_high);
    o[9] = clamp(f, FE_DOWNWARD, long_low, long_high);
    o[10] = clamp(d, FE_TOWARDZERO, 0, ulong_high);
    o[11] = bits(f);
    o[12] = bits((double)f);
    o[13] = bits((float)(int)whole);
    o[14] = bits(rounded<float>((int)whole, FE_TOWARDZERO));
    o[15] = bits((double)(unsigned long long)whole);
    o[16] = bits(rounded<float>((long long)((unsigned long long)whole * 77777777u), FE_UPWARD));
    o[17] = bits((float)(unsigned)whole);
    high_low = bits(d);
    o[18] = (int)((unsigned)bits(rounded<float>(d, FE_DOWNWARD)) + (unsigned)(high_low >> 32) +
                  (unsigned)high_low);
    o[19] = (int)((unsigned)bits((float)(short)whole) +
                  (unsigned)bits((float)(unsigned char)whole));
}

void sim_program_conversions(sim_check &check)
{
    const int count = 3001;
    const double special[] = {0,         -0.0,   0.5,          1.5,          2.5,
                              -0.5,      -2.5,   2147483647.5, -2147483648., 2147483648.,
                              16777217., -1e-40, 4294967295.5, 1e18,         -9e18};
    sim_random random(45);
    sim_array<double> in(check, count);
    sim_array<long long> out(check, (size_t)count * RESULTS);

    for (int i = 0; i < count; i++)
        in.host[i] = i < 15 ? special[i]
                            : std::ldexp(random.between(-1, 1), (int)random.below(62)) +
                                  (double)random.below(4) * 0.5;
    in.upload();
    convert<<<(count + 63) / 64, 64>>>(in.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    for (int i = 0; i < count; i++) {
        long long wanted[RESULTS];

        reference(in.host[i], wanted);
        for (int j = 0; j < RESULTS; j++) {
            long long got = out.host[(size_t)i * RESULTS + j];

            check.compared++;
            if (got != wanted[j])
                sim_differ(check, "conversion %d of %.17g is %lld (0x%llx), not %lld (0x%llx)", j,
                           in.host[i], got, (unsigned long long)got, wanted[j],
                           (unsigned long long)wanted[j]);
        }
    }
}
