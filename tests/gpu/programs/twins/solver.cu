/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterations over a field on the device: solver PROBLEM --bad|--good
 *
 * table: coefficients that never change are uploaded in every step.
 * relay: the output of one stage goes over the host to the input of the next.
 * flag: whether anything changed is read back after every step, or after every thirty-second.
 * inputs: coefficients that no kernel writes come back to the host after every step.
 * boundary: the host sets the ends of the rows between two kernels, or a kernel does.
 * waits: the host waits for the device after every step, of which it needs nothing.
 */

#include "twin.cuh"

enum { BLOCK = 256, ROW_WORDS = 1024, CHECK_EVERY = 32 };

__global__ void k_apply(float *field, const float *coefficients, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        field[i] = field[i] * 0.5f + coefficients[i];
}

__global__ void k_scale(float *out, const float *in, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * 0.5f + 8.0f;
}

/* Each cell takes the smaller label of its own and its left neighbour's. */
__global__ void k_spread(unsigned *out, const unsigned *in, size_t n, unsigned *changed)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    const unsigned own = in[i], left = i > 0 ? in[i - 1] : own;
    if (left < own)
        *changed = 1;
    out[i] = left < own ? left : own;
}

__global__ void k_ends(float *field, size_t rows)
{
    const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (row >= rows)
        return;
    field[row * ROW_WORDS] = 1.0f;
    field[(row + 1) * ROW_WORDS - 1] = 2.0f;
}

static float *field_of(const twin_run *run, float *host, unsigned seed)
{
    float *device;

    twin_fill(host, run->words, seed);
    CHECK(cudaMalloc(&device, run->bytes));
    CHECK(cudaMemcpy(device, host, run->bytes, cudaMemcpyHostToDevice));
    return device;
}

/* ---- table ---- */

static void iterate(twin_run *run, bool every_step)
{
    float *host, *coefficients;

    CHECK(cudaMallocHost(&host, run->bytes));
    float *field = field_of(run, host, 4);
    twin_fill(host, run->words, 5);
    CHECK(cudaMalloc(&coefficients, run->bytes));
    twin_start(run);
    if (!every_step)
        CHECK(cudaMemcpy(coefficients, host, run->bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < run->steps; step++) {
        if (every_step)
            CHECK(cudaMemcpy(coefficients, host, run->bytes, cudaMemcpyHostToDevice)); // GM105
        k_apply<<<twin_grid(run->words, BLOCK), BLOCK>>>(field, coefficients, run->words);
    }
    twin_stop(run);
    twin_sum_device(run, field, run->words);
    CHECK(cudaFree(coefficients));
    CHECK(cudaFree(field));
    CHECK(cudaFreeHost(host));
}

static void table_bad(twin_run *run)
{
    iterate(run, true);
}

static void table_good(twin_run *run)
{
    iterate(run, false);
}

/* ---- inputs ---- */

static void apply(twin_run *run, bool all_back)
{
    float *host, *coefficients;

    CHECK(cudaMallocHost(&host, run->bytes));
    float *field = field_of(run, host, 8);
    twin_fill(host, run->words, 9);
    CHECK(cudaMalloc(&coefficients, run->bytes));
    CHECK(cudaMemcpy(coefficients, host, run->bytes, cudaMemcpyHostToDevice));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        k_apply<<<twin_grid(run->words, BLOCK), BLOCK>>>(field, coefficients, run->words);
        if (all_back)
            CHECK(cudaMemcpy(host, coefficients, run->bytes, cudaMemcpyDeviceToHost)); // GM117
    }
    twin_stop(run);
    twin_sum_device(run, field, run->words);
    CHECK(cudaFree(coefficients));
    CHECK(cudaFree(field));
    CHECK(cudaFreeHost(host));
}

static void inputs_bad(twin_run *run)
{
    apply(run, true);
}

static void inputs_good(twin_run *run)
{
    apply(run, false);
}

/* ---- relay ---- */

static void stages(twin_run *run, bool over_host)
{
    float *host, *middle, *input = nullptr;
    const unsigned grid = twin_grid(run->words, BLOCK);

    CHECK(cudaMallocHost(&host, run->bytes));
    float *field = field_of(run, host, 6);
    CHECK(cudaMalloc(&middle, run->bytes));
    if (over_host)
        CHECK(cudaMalloc(&input, run->bytes));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        const float *next = middle;

        k_scale<<<grid, BLOCK>>>(middle, field, run->words);
        if (over_host) {
            CHECK(cudaMemcpy(host, middle, run->bytes, cudaMemcpyDeviceToHost)); // GM106
            CHECK(cudaMemcpy(input, host, run->bytes, cudaMemcpyHostToDevice));  // GM106
            next = input;
        }
        k_apply<<<grid, BLOCK>>>(field, next, run->words);
    }
    twin_stop(run);
    twin_sum_device(run, field, run->words);
    CHECK(cudaFree(input));
    CHECK(cudaFree(middle));
    CHECK(cudaFree(field));
    CHECK(cudaFreeHost(host));
}

static void relay_bad(twin_run *run)
{
    stages(run, true);
}

static void relay_good(twin_run *run)
{
    stages(run, false);
}

/* ---- flag ---- */

static unsigned *labels_of(const twin_run *run)
{
    unsigned *host, *device;

    CHECK(cudaMallocHost(&host, run->bytes));
    for (size_t i = 0; i < run->words; i++)
        host[i] = static_cast<unsigned>(i % static_cast<size_t>(run->steps));
    CHECK(cudaMalloc(&device, run->bytes));
    CHECK(cudaMemcpy(device, host, run->bytes, cudaMemcpyHostToDevice));
    CHECK(cudaFreeHost(host));
    return device;
}

/* Steps beyond the last that changes anything change nothing. */
static void spread(twin_run *run, int check_every)
{
    unsigned *labels = labels_of(run), *next, *changed, flag = 1;

    CHECK(cudaMalloc(&next, run->bytes));
    CHECK(cudaMalloc(&changed, sizeof *changed));
    twin_start(run);
    while (flag != 0) {
        CHECK(cudaMemsetAsync(changed, 0, sizeof *changed));
        for (int k = 0; k < check_every; k++) {
            k_spread<<<twin_grid(run->words, BLOCK), BLOCK>>>(next, labels, run->words, changed);
            unsigned *swapped = labels;
            labels = next;
            next = swapped;
        }
        CHECK(cudaMemcpy(&flag, changed, sizeof flag, cudaMemcpyDeviceToHost)); // GM109
    }
    twin_stop(run);
    twin_sum_device(run, labels, run->words);
    CHECK(cudaFree(changed));
    CHECK(cudaFree(next));
    CHECK(cudaFree(labels));
}

static void flag_bad(twin_run *run)
{
    spread(run, 1);
}

static void flag_good(twin_run *run)
{
    spread(run, CHECK_EVERY);
}

/* ---- boundary ---- */

static void boundary(twin_run *run, bool on_host)
{
    const size_t rows = run->words / ROW_WORDS;
    const unsigned grid = twin_grid(run->words, BLOCK);
    float *host, *next;

    CHECK(cudaMallocHost(&host, run->bytes));
    float *field = field_of(run, host, 7);
    CHECK(cudaMalloc(&next, run->bytes));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        k_scale<<<grid, BLOCK>>>(next, field, run->words);
        if (on_host) {
            CHECK(cudaMemcpy(host, next, run->bytes, cudaMemcpyDeviceToHost)); // GM115
            for (size_t row = 0; row < rows; row++) {
                host[row * ROW_WORDS] = 1.0f;
                host[(row + 1) * ROW_WORDS - 1] = 2.0f;
            }
            CHECK(cudaMemcpy(next, host, run->bytes, cudaMemcpyHostToDevice)); // GM115
        } else {
            k_ends<<<twin_grid(rows, BLOCK), BLOCK>>>(next, rows);
        }
        k_scale<<<grid, BLOCK>>>(field, next, run->words);
    }
    twin_stop(run);
    twin_sum_device(run, field, run->words);
    CHECK(cudaFree(next));
    CHECK(cudaFree(field));
    CHECK(cudaFreeHost(host));
}

static void boundary_bad(twin_run *run)
{
    boundary(run, true);
}

static void boundary_good(twin_run *run)
{
    boundary(run, false);
}

/* ---- waits: the host waits for the device after every step, of which it needs nothing, or once in the end ---- */

static void smooth(twin_run *run, bool waits)
{
    float *host, *next;

    CHECK(cudaMallocHost(&host, run->bytes));
    float *field = field_of(run, host, 10);
    CHECK(cudaFreeHost(host));
    CHECK(cudaMalloc(&next, run->bytes));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        k_scale<<<twin_grid(run->words, BLOCK), BLOCK>>>(next, field, run->words);
        float *swapped = field;
        field = next;
        next = swapped;
        if (waits)
            CHECK(cudaDeviceSynchronize()); // GM118
    }
    twin_stop(run);
    twin_sum_device(run, field, run->words);
    CHECK(cudaFree(next));
    CHECK(cudaFree(field));
}

static void waits_bad(twin_run *run)
{
    smooth(run, true);
}

static void waits_good(twin_run *run)
{
    smooth(run, false);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {
        {"table", table_bad, table_good, 100, 16384, 1},
        {"inputs", inputs_bad, inputs_good, 100, 16384, 1},
        {"relay", relay_bad, relay_good, 60, 16384, 1},
        {"flag", flag_bad, flag_good, 1000, 32768, 1},
        {"boundary", boundary_bad, boundary_good, 60, 16384, 1},
        {"waits", waits_bad, waits_good, 2000, 4096, 1},
    };

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
