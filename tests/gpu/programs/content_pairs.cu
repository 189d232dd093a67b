/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies that carry nothing new, and the same work without them: content_pairs PAIR bad|good [STEPS]
 *
 * Both twins of a pair print the same checksum, then the time of their steps.
 */
#include "check.cuh"

#include <string.h>
#include <time.h>
#include <vector>

#define COUNT (4 << 20)
#define BYTES (COUNT * sizeof(float))
#define SMALL (256 << 10)

__global__ void blend(float *out, const float *in, const float *weights, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] + weights[i]; /* never the same twice: nothing converges */
}

struct buffers {
    float *a, *b, *weights;
    std::vector<float> host, table;
};

static void step(float *out, const float *in, const buffers &all, int n)
{
    blend<<<(n + 255) / 256, 256>>>(out, in, all.weights, n);
    CHECK(cudaGetLastError());
}

/* The table does not change; its upload at every step is what the good twin does without. */
static void redundant(buffers *all, bool bad, long steps)
{
    for (long i = 0; i < steps; i++) {
        if (bad || i == 0)
            CHECK(cudaMemcpy(all->weights, all->table.data(), BYTES, cudaMemcpyHostToDevice));
        all->host[0] = static_cast<float>(i);
        CHECK(cudaMemcpy(all->a, all->host.data(), SMALL, cudaMemcpyHostToDevice));
        step(all->b, all->a, *all, SMALL / sizeof(float));
        CHECK(cudaMemcpy(all->host.data(), all->b, SMALL, cudaMemcpyDeviceToHost));
    }
}

/* The result of one kernel is the input of the next one; the bad twin takes it over the host. */
static void round_trip(buffers *all, bool bad, long steps)
{
    CHECK(cudaMemcpy(all->weights, all->table.data(), BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(all->a, all->host.data(), BYTES, cudaMemcpyHostToDevice));
    for (long i = 0; i < steps; i++) {
        step(all->b, all->a, *all, COUNT);
        if (bad) {
            CHECK(cudaMemcpy(all->host.data(), all->b, BYTES, cudaMemcpyDeviceToHost));
            CHECK(cudaMemcpy(all->a, all->host.data(), BYTES, cudaMemcpyHostToDevice));
        } else {
            float *result = all->b;

            all->b = all->a;
            all->a = result;
        }
    }
    CHECK(cudaMemcpy(all->host.data(), all->a, BYTES, cudaMemcpyDeviceToHost));
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

static unsigned checksum(const std::vector<float> &values)
{
    unsigned hash = 2166136261U;

    for (float value : values) {
        unsigned bits;

        memcpy(&bits, &value, sizeof(bits));
        hash = (hash ^ bits) * 16777619U;
    }
    return hash;
}

int main(int argc, char **argv)
{
    const bool is_redundant = argc > 1 && strcmp(argv[1], "redundant") == 0;
    const bool bad = argc > 2 && strcmp(argv[2], "bad") == 0;

    if (argc < 3 || (!is_redundant && strcmp(argv[1], "round_trip") != 0) ||
        (!bad && strcmp(argv[2], "good") != 0)) {
        fprintf(stderr, "usage: content_pairs redundant|round_trip bad|good [STEPS]\n");
        return 2;
    }
    const long steps = argc > 3 ? parse_number(argv[3], 1, 1000000) : 200;
    buffers all = {nullptr, nullptr, nullptr, std::vector<float>(COUNT), std::vector<float>(COUNT)};
    for (int i = 0; i < COUNT; i++) {
        all.host[i] = static_cast<float>(i % 1000);
        all.table[i] = static_cast<float>(i % 777);
    }
    CHECK(cudaMalloc(&all.a, BYTES));
    CHECK(cudaMalloc(&all.b, BYTES));
    CHECK(cudaMalloc(&all.weights, BYTES));
    step(all.b, all.a, all, 1); /* loads the kernel */
    CHECK(cudaDeviceSynchronize());
    const double begin_ms = now_ms();
    (is_redundant ? redundant : round_trip)(&all, bad, steps);
    const double elapsed_ms = now_ms() - begin_ms;
    printf("checksum %08x\n", checksum(all.host));
    fprintf(stderr, "elapsed_ms %.3f\n", elapsed_ms);
    CHECK(cudaFree(all.a));
    CHECK(cudaFree(all.b));
    CHECK(cudaFree(all.weights));
    return 0;
}
