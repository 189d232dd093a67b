/* SPDX-License-Identifier: Apache-2.0 */
/* The mathematical functions in float and double against libm's long double, in ulps. */
#include "program.cuh"

#include <cfloat>
#include <cstdio>
#include <cstdlib>

#define SAMPLES 600
#define SPECIALS 12

template <class T> static __device__ T quotient(T x, T y)
{
    return x / y;
}

/* What libm does not have in long double, under the same names. */
namespace exact {
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::cbrt;
using std::ceil;
using std::copysign;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::exp2;
using std::expm1;
using std::fabs;
using std::fdim;
using std::floor;
using std::fmax;
using std::fmin;
using std::fmod;
using std::hypot;
using std::lgamma;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::logb;
using std::pow;
using std::remainder;
using std::rint;
using std::round;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::tgamma;
using std::trunc;

static const long double pi = 3.14159265358979323846264338327950288L;

/* fmod is exact, and so is the shift by a half or a whole: no bits of the argument are lost. */
static long double sinpi(long double x)
{
    long double r = std::fmod(x, 2.0L), turned = std::fabs(r) > 1 ? r - std::copysign(2.0L, r) : r;

    if (std::fabs(turned) > 0.5L)
        turned = std::copysign(1.0L, turned) - turned;
    return std::sin(pi * turned);
}

static long double cospi(long double x)
{
    long double r = std::fabs(std::fmod(x, 2.0L));

    return sinpi(r > 1 ? r - 1.5L : 0.5L - r);
}

static long double exp10(long double x)
{
    return std::pow(10.0L, x);
}

static long double rsqrt(long double x)
{
    return 1 / std::sqrt(x);
}

static long double rcbrt(long double x)
{
    return 1 / std::cbrt(x);
}

static long double erfcx(long double x)
{
    return std::isinf(x) && x > 0 ? 0 : std::exp(x * x) * std::erfc(x); /* there, inf times 0 */
}

static long double normcdf(long double x)
{
    return 0.5L * std::erfc(-x * 0.707106781186547524400844362104849039L);
}

static long double quotient(long double x, long double y)
{
    return x / y;
}
} // namespace exact

#define SIM_MATH1(label, function, ...) \
    template <class T> static __global__ void apply_##label(const T *x, const T *, T *out) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
\
        if (i < SAMPLES) \
            out[i] = function(x[i]); \
    } \
    static long double exact_##label(long double x, long double) \
    { \
        return exact::function(x); \
    }
#define SIM_MATH2(label, function, ...) \
    template <class T> static __global__ void apply_##label(const T *x, const T *y, T *out) \
    { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
\
        if (i < SAMPLES) \
            out[i] = function(x[i], y[i]); \
    } \
    static long double exact_##label(long double x, long double y) \
    { \
        return exact::function(x, y); \
    }
#include "math_functions.def"
#undef SIM_MATH1
#undef SIM_MATH2

template <class T> struct function {
    const char *name;
    void (*kernel)(const T *x, const T *y, T *out);
    long double (*exact)(long double x, long double y);
    int float_ulps, double_ulps;
    double low, high, low2, high2;
};

template <class T>
static const function<T> functions[] = {
#define SIM_MATH1(label, function, ulps, ulps_double, low, high) \
    {#label, apply_##label<T>, exact_##label, ulps, ulps_double, low, high, 0, 1},
#define SIM_MATH2(label, function, ulps, ulps_double, low, high, low2, high2) \
    {#label, apply_##label<T>, exact_##label, ulps, ulps_double, low, high, low2, high2},
#include "math_functions.def"
#undef SIM_MATH1
#undef SIM_MATH2
};

/* Half of the samples spread evenly, half by magnitude where the interval allows. */
static double sample(sim_random &random, double low, double high, int i)
{
    double x = random.between(low, high);

    if (i % 2 == 0 || low == 0)
        return x;
    double by_size = std::ldexp(x, -(int)random.below(high > 1e4 ? 90 : 8));
    return by_size >= low && by_size <= high ? by_size : x;
}

/* A unit in the last place of a T next to `value`. */
template <class T> static long double ulp(T value)
{
    const int digits = sizeof(T) == 4 ? FLT_MANT_DIG : DBL_MANT_DIG;
    const int least = sizeof(T) == 4 ? FLT_MIN_EXP : DBL_MIN_EXP;
    int exponent = least;

    if (value != 0)
        std::frexp(value, &exponent);
    return std::ldexp(1.0L, (exponent < least ? least : exponent) - digits);
}

/* The stated error is that against the correctly rounded value. */
template <class T>
static void compare(sim_check &check, const function<T> &f, T x, T y, T got, double *worst)
{
    const int allowed = sizeof(T) == 4 ? f.float_ulps : f.double_ulps;
    T wanted = (T)f.exact(x, y);
    long double apart = 0;

    check.compared++;
    if (wanted != wanted || got != got)
        apart = wanted != wanted && got != got ? 0 : INFINITY;
    else if (got != wanted)
        apart = std::isinf(got) && std::isinf(wanted)
                    ? INFINITY
                    : std::fabs((long double)got - wanted) / ulp(wanted);
    *worst = std::fmax(*worst, (double)apart);
    if (apart > allowed)
        sim_differ(check, "%s(%.17g, %.17g) is %.17g, not %.17g: %Lg ulps, %d allowed", f.name,
                   (double)x, (double)y, (double)got, (double)wanted, apart, allowed);
}

template <class T> static void sweep(sim_check &check, const function<T> &f)
{
    const T specials[SPECIALS] = {0,      (T)-0.0, INFINITY, -INFINITY, NAN,      1,
                                  (T)0.5, (T)2,    (T)1e-3,  (T)-0.5,   (T)1e-30, (T)3};
    sim_random random(40);
    sim_array<T> x(check, SAMPLES), y(check, SAMPLES), out(check, SAMPLES);
    double worst = 0;
    int count = SAMPLES - SPECIALS;

    for (int i = 0; i < count; i++) {
        x.host[i] = (T)sample(random, f.low, f.high, i);
        y.host[i] = (T)sample(random, f.low2, f.high2, i + 1);
    }
    for (int i = 0; i < SPECIALS; i++) {
        x.host[count + i] = specials[i];
        y.host[count + i] = specials[(i * 5 + 1) % SPECIALS];
    }
    x.upload();
    y.upload();
    f.kernel<<<(SAMPLES + 127) / 128, 128>>>(x.device, y.device, out.device);
    SIM_LAUNCHED(check);
    out.download();
    for (int i = 0; i < SAMPLES; i++)
        compare(check, f, x.host[i], y.host[i], out.host[i], &worst);
    if (getenv("SIM_PROGRAMS_ULPS") != nullptr)
        printf("%-10s %g ulps\n", f.name, worst);
}

void sim_program_math_floats(sim_check &check)
{
    for (const function<float> &f : functions<float>)
        sweep(check, f);
}

void sim_program_math_doubles(sim_check &check)
{
    for (const function<double> &f : functions<double>)
        sweep(check, f);
}
