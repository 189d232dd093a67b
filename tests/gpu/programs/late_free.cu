/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frees device memory in destructors that run after main(): a tracer must not call these leaks.
 *
 * `early` was constructed before main(), so its destructor runs after every atexit handler that
 * was registered later. `late` is constructed after CUDA has started and is destroyed first.
 * CUDA may refuse a call that comes so late; the results are printed, because a tracer must show
 * the same. Exit status 0 in any case.
 */

#include "check.cuh"

struct holder {
    const char *name;
    void *memory = nullptr;

    explicit holder(const char *its_name) : name(its_name)
    {
    }

    ~holder()
    {
        const cudaError_t error = memory != nullptr ? cudaFree(memory) : cudaSuccess;
        printf("%s freed: %s\n", name, cudaGetErrorName(error));
        fflush(stdout);
    }
};

static holder early("early");

int main()
{
    CHECK(cudaMalloc(&early.memory, 1 << 20));
    static holder late("late");
    CHECK(cudaMalloc(&late.memory, 2 << 20));
    CHECK(cudaMemset(early.memory, 0, 1 << 20));
    CHECK(cudaMemset(late.memory, 0, 2 << 20));
    CHECK(cudaDeviceSynchronize());
    printf("main returns\n");
    return 0;
}
