/* SPDX-License-Identifier: Apache-2.0 */
/* Black-Scholes prices of calls and puts: expf, logf, sqrtf, division. */
#include "program.cuh"

struct option {
    float price, strike, years;
};

/* The cumulative normal distribution by the polynomial of Abramowitz and Stegun 26.2.17. */
template <class T> static __host__ __device__ T normal(T d)
{
    const T a1 = (T)0.31938153, a2 = (T)-0.356563782, a3 = (T)1.781477937, a4 = (T)-1.821255978,
            a5 = (T)1.330274429, scale = (T)0.39894228040143267794;
    T k = (T)1 / ((T)1 + (T)0.2316419 * fabs(d));
    T tail = scale * exp((T)-0.5 * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));

    return d > 0 ? (T)1 - tail : tail;
}

template <class T>
static __host__ __device__ void value(T s, T x, T t, T rate, T volatility, T *call, T *put)
{
    T root = sqrt(t);
    T d1 = (log(s / x) + (rate + (T)0.5 * volatility * volatility) * t) / (volatility * root);
    T d2 = d1 - volatility * root;
    T discounted = x * exp(-rate * t);

    *call = s * normal(d1) - discounted * normal(d2);
    *put = discounted * ((T)1 - normal(d2)) - s * ((T)1 - normal(d1));
}

static __global__ void black_scholes(const option *options, float2 *prices, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float call, put;

        value(options[i].price, options[i].strike, options[i].years, 0.02f, 0.3f, &call, &put);
        prices[i] = make_float2(call, put);
    }
}

static __global__ void black_scholes_double(const option *options, double2 *prices, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double call, put;

    if (i >= count)
        return;
    value((double)options[i].price, (double)options[i].strike, (double)options[i].years,
          (double)0.02f, (double)0.3f, &call, &put);
    prices[i] = make_double2(call, put);
}

void sim_program_black_scholes(sim_check &check)
{
    const int count = 10007, doubles = 1000;
    sim_random random(15);
    sim_array<option> options(check, count);
    sim_array<float2> prices(check, count);
    sim_array<double2> exact(check, doubles);
    std::vector<double> wanted;

    for (option &o : options.host) {
        o = {(float)random.between(5, 30), (float)random.between(1, 100),
             (float)random.between(0.25, 10)};
        double call, put;
        value((double)o.price, (double)o.strike, (double)o.years, (double)0.02f, (double)0.3f,
              &call, &put);
        wanted.insert(wanted.end(), {call, put});
    }
    options.upload();
    black_scholes<<<21, 160>>>(options.device, prices.device, count);
    black_scholes_double<<<(doubles + 127) / 128, 128>>>(options.device, exact.device, doubles);
    SIM_LAUNCHED(check);
    prices.download();
    exact.download();

    const float *p = &prices.host[0].x;
    /* Prices of up to 100, each a difference of products that carry a dozen roundings. */
    sim_near(check, "price", std::vector<float>(p, p + 2 * count), wanted, 0, 100 * 16 * 0x1p-24);
    const double *q = &exact.host[0].x;
    wanted.resize(2 * doubles);
    sim_near(check, "price in double", std::vector<double>(q, q + 2 * doubles), wanted, 0,
             100 * 16 * 0x1p-53);
}
