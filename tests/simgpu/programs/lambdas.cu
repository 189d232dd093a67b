/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: functors, lambdas made in kernels and on the host, variadic and value parameters. */
#include "program.cuh"

template <class F> __global__ void map(float *data, int count, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        data[i] = f(data[i], i);
}

struct affine {
    float times, plus;

    __host__ __device__ float operator()(float x, int) const
    {
        return x * times + plus;
    }
};

template <class... F> struct chain;

template <class First> struct chain<First> {
    First first;

    __host__ __device__ float operator()(float x, int i) const
    {
        return first(x, i);
    }
};

template <class First, class Second, class... Rest> struct chain<First, Second, Rest...> {
    First first;
    chain<Second, Rest...> rest;

    __host__ __device__ float operator()(float x, int i) const
    {
        return rest(first(x, i), i);
    }
};

template <int n> struct power {
    __host__ __device__ float operator()(float x, int i) const
    {
        return x * power<n - 1>()(x, i);
    }
};

template <> struct power<0> {
    __host__ __device__ float operator()(float, int) const
    {
        return 1;
    }
};

/* Lambdas within the kernel, one that captures by reference. */
static __global__ void within(float *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    auto add = [&](float x) { sum += x; };
    auto twice = [](auto x) { return x + x; };

    if (i >= count)
        return;
    for (int j = 0; j < i % 5; j++)
        add(twice((float)j));
    data[i] += sum + (float)twice(i);
}

template <class T, int rows, int columns> struct matrix {
    T at[rows][columns];

    template <int other>
    __host__ __device__ matrix<T, rows, other> operator*(const matrix<T, columns, other> &m) const
    {
        matrix<T, rows, other> out = {};

        for (int r = 0; r < rows; r++)
            for (int c = 0; c < other; c++)
                for (int k = 0; k < columns; k++)
                    out.at[r][c] += at[r][k] * m.at[k][c];
        return out;
    }
};

template <class A, class B, class C> __global__ void products(const A *a, const B *b, C *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = a[i] * b[n - 1 - i];
}

template <class F> static void mapped(sim_check &check, const char *what, F f, F on_host)
{
    const int count = 1021;
    sim_random random(34);
    sim_array<float> data(check, count);
    std::vector<float> wanted;

    for (int i = 0; i < count; i++) {
        data.host[i] = random.small();
        wanted.push_back(on_host(data.host[i], i)); /* small integers: exact */
    }
    data.upload();
    map<<<(count + 63) / 64, 64>>>(data.device, count, f);
    SIM_LAUNCHED(check);
    sim_equal(check, what, data, wanted);
}

static void matrices(sim_check &check)
{
    const int count = 131;
    sim_random random(35);
    sim_array<matrix<int, 2, 3>> a(check, count);
    sim_array<matrix<int, 3, 4>> b(check, count);
    sim_array<matrix<int, 2, 4>> out(check, count);

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 6; j++)
            a.host[i].at[j / 3][j % 3] = (int)random.below(100) - 50;
        for (int j = 0; j < 12; j++)
            b.host[i].at[j / 4][j % 4] = (int)random.below(100) - 50;
    }
    a.upload();
    b.upload();
    products<<<3, 64>>>(a.device, b.device, out.device, count);
    SIM_LAUNCHED(check);
    out.download();
    for (int i = 0; i < count; i++) {
        matrix<int, 2, 4> wanted = a.host[i] * b.host[count - 1 - i];

        for (int j = 0; j < 8; j++)
            sim_equal_value(check, "matrix", out.host[i].at[j / 4][j % 4], wanted.at[j / 4][j % 4]);
    }
}

void sim_program_lambdas(sim_check &check)
{
    const int count = 333;
    sim_array<float> data(check, count);
    std::vector<float> wanted;
    float shift = 3, table[4] = {1, 2, 3, 4};
    affine first = {2, 1}, second = {-3, 5};
    chain<affine, power<3>, affine> all = {first, {{}, {second}}};

    mapped(check, "affine", first, first);
    mapped(check, "chain", all, all);
    auto lambda = [=] __host__ __device__(float x, int i) { return x * shift + table[i % 4]; };
    mapped(check, "lambda", lambda, lambda);
    for (int i = 0; i < count; i++) {
        float sum = (float)(i + i);

        for (int j = 0; j < i % 5; j++)
            sum += (float)(j + j);
        wanted.push_back(sum);
    }
    data.zero();
    within<<<(count + 31) / 32, 32>>>(data.device, count);
    SIM_LAUNCHED(check);
    sim_equal(check, "within", data, wanted);
    matrices(check);
}
