/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that works in buffers it allocates: buffers PROBLEM --bad|--good
 *
 * leak: every step leaves its scratch buffer behind.
 * spare: a second result is allocated and never used.
 * early: the buffer of the second phase is allocated before the first phase.
 * staging: a page-locked buffer is made and given back in every step.
 * pinned: a large table is page-locked with the page behind it that the device gets.
 *
 * The first three say what device memory they held at most; the last, what it page-locked.
 */

#include "twin.cuh"

enum { BLOCK = 256, PAGE_BYTES = 4096 };

__global__ void k_add(float *out, const float *in, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = out[i] * 0.5f + in[i];
}

__global__ void k_number(float *out, size_t n, int first)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = static_cast<float>((i + static_cast<size_t>(first)) % 251);
}

/* What is taken of the device's memory, by whomever. */
static size_t taken()
{
    size_t left, total;

    CHECK(cudaMemGetInfo(&left, &total));
    return total - left;
}

static void hold(twin_run *run, size_t before)
{
    const size_t now = taken();
    const double kib = now > before ? static_cast<double>(now - before) / 1024 : 0;

    run->device_kib = kib > run->device_kib ? kib : run->device_kib;
}

static float *result_of(const twin_run *run)
{
    float *result;

    CHECK(cudaMalloc(&result, run->bytes));
    CHECK(cudaMemset(result, 0, run->bytes));
    return result;
}

/* One step of a phase: numbers into the buffer, and the buffer onto the result. */
static void work(const twin_run *run, float *result, float *buffer, int step)
{
    const unsigned grid = twin_grid(run->words, BLOCK);

    k_number<<<grid, BLOCK>>>(buffer, run->words, step);
    k_add<<<grid, BLOCK>>>(result, buffer, run->words);
}

static void finish(twin_run *run, float *result)
{
    twin_sum_device(run, result, run->words);
    CHECK(cudaFree(result));
}

/* ---- leak ---- */

static void scratch(twin_run *run, bool lose)
{
    const size_t before = taken();
    float *result = result_of(run), *buffer = nullptr;

    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        if (lose || step == 0)
            CHECK(cudaMalloc(&buffer, run->bytes)); // GM204
        work(run, result, buffer, step);
        CHECK(cudaDeviceSynchronize());
    }
    twin_stop(run);
    hold(run, before);
    if (!lose)
        CHECK(cudaFree(buffer));
    finish(run, result);
}

static void leak_bad(twin_run *run)
{
    scratch(run, true);
}

static void leak_good(twin_run *run)
{
    scratch(run, false);
}

/* ---- spare ---- */

static void one_result(twin_run *run, bool spare)
{
    const size_t before = taken();
    float *result = result_of(run), *buffer, *other = nullptr;

    CHECK(cudaMalloc(&buffer, run->bytes));
    if (spare)
        CHECK(cudaMalloc(&other, run->bytes)); // GM205
    twin_start(run);
    for (int step = 0; step < run->steps; step++)
        work(run, result, buffer, step);
    twin_stop(run);
    hold(run, before);
    CHECK(cudaFree(other));
    CHECK(cudaFree(buffer));
    finish(run, result);
}

static void spare_bad(twin_run *run)
{
    one_result(run, true);
}

static void spare_good(twin_run *run)
{
    one_result(run, false);
}

/* ---- early ---- */

/* The second phase's buffer is allocated with the first one's, or when that is given back. */
static void phases(twin_run *run, bool early)
{
    const size_t before = taken();
    float *result = result_of(run), *first, *second;

    CHECK(cudaMalloc(&first, run->bytes));
    if (early)
        CHECK(cudaMalloc(&second, run->bytes)); // GM206
    hold(run, before);
    twin_start(run);
    for (int step = 0; step < run->steps; step++)
        work(run, result, first, step);
    CHECK(cudaFree(first));
    if (!early)
        CHECK(cudaMalloc(&second, run->bytes));
    hold(run, before);
    for (int step = 0; step < run->steps; step++)
        work(run, result, second, step + 100);
    twin_stop(run);
    CHECK(cudaFree(second));
    finish(run, result);
}

static void early_bad(twin_run *run)
{
    phases(run, true);
}

static void early_good(twin_run *run)
{
    phases(run, false);
}

/* ---- staging ---- */

static void stage(twin_run *run, bool every_step)
{
    float *result = result_of(run), *device, *staging = nullptr;

    CHECK(cudaMalloc(&device, run->bytes));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        if (every_step || step == 0)
            CHECK(cudaHostAlloc(&staging, run->bytes, cudaHostAllocDefault)); // GM207
        twin_fill(staging, run->words, static_cast<unsigned>(step));
        CHECK(cudaMemcpy(device, staging, run->bytes, cudaMemcpyHostToDevice));
        k_add<<<twin_grid(run->words, BLOCK), BLOCK>>>(result, device, run->words);
        CHECK(cudaDeviceSynchronize());
        if (every_step || step == run->steps - 1)
            CHECK(cudaFreeHost(staging));
    }
    twin_stop(run);
    CHECK(cudaFree(device));
    finish(run, result);
}

static void staging_bad(twin_run *run)
{
    stage(run, true);
}

static void staging_good(twin_run *run)
{
    stage(run, false);
}

/* ---- pinned ---- */

static void look_up(twin_run *run, bool all)
{
    float *result = result_of(run), *table, *page, *device;

    if (all) {
        CHECK(cudaHostAlloc(&table, run->bytes + PAGE_BYTES, cudaHostAllocDefault)); // GM208
        page = table + run->words;
    } else {
        table = twin_pageable<float>(run->bytes);
        CHECK(cudaMallocHost(&page, PAGE_BYTES));
    }
    run->pinned_kib = static_cast<double>((all ? run->bytes : 0) + PAGE_BYTES) / 1024;
    twin_fill(table, run->words, 10);
    CHECK(cudaMalloc(&device, PAGE_BYTES));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        for (size_t i = 0; i < PAGE_BYTES / sizeof *page; i++)
            page[i] = table[(i + static_cast<size_t>(step) * 7) % run->words];
        CHECK(cudaMemcpy(device, page, PAGE_BYTES, cudaMemcpyHostToDevice));
        k_add<<<PAGE_BYTES / sizeof *page / BLOCK, BLOCK>>>(result, device,
                                                            PAGE_BYTES / sizeof *page);
    }
    twin_stop(run);
    CHECK(cudaFree(device));
    if (all) {
        CHECK(cudaFreeHost(table));
    } else {
        CHECK(cudaFreeHost(page));
        free(table);
    }
    finish(run, result);
}

static void pinned_bad(twin_run *run)
{
    look_up(run, true);
}

static void pinned_good(twin_run *run)
{
    look_up(run, false);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {
        {"leak", leak_bad, leak_good, 16, 65536, 1},
        {"spare", spare_bad, spare_good, 16, 65536, 1},
        {"early", early_bad, early_good, 16, 65536, 1},
        {"staging", staging_bad, staging_good, 40, 4096, 1},
        {"pinned", pinned_bad, pinned_good, 16, 65536, 1},
    };

    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
