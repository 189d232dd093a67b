/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices that hand a field to each other: devices staged --bad|--good. Exits 77 with one device.
 *
 * staged: it goes over the host, by a read-back from the one and an upload to the other.
 */

#include "twin.cuh"

enum { BLOCK = 256 };

__global__ void k_step(float *field, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (i < n)
        field[i] = field[i] * 0.5f + 32.0f;
}

static void allow_access(int device, int other)
{
    int can = 0;

    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceCanAccessPeer(&can, device, other));
    if (can)
        CHECK(cudaDeviceEnablePeerAccess(other, 0));
}

static void hand_over(twin_run *run, bool over_host)
{
    float *host, *field[2];

    CHECK(cudaMallocHost(&host, run->bytes));
    twin_fill(host, run->words, 9);
    for (int device = 0; device < 2; device++) {
        if (over_host)
            CHECK(cudaSetDevice(device));
        else
            allow_access(device, 1 - device);
        CHECK(cudaMalloc(&field[device], run->bytes));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(field[0], host, run->bytes, cudaMemcpyHostToDevice));
    twin_start(run);
    for (int step = 0; step < run->steps; step++) {
        const int from = step % 2, to = 1 - from;

        CHECK(cudaSetDevice(from));
        k_step<<<twin_grid(run->words, BLOCK), BLOCK>>>(field[from], run->words);
        if (over_host) {
            CHECK(cudaMemcpy(host, field[from], run->bytes, cudaMemcpyDeviceToHost)); // GM110
            CHECK(cudaSetDevice(to));
            CHECK(cudaMemcpy(field[to], host, run->bytes, cudaMemcpyHostToDevice));
        } else {
            CHECK(cudaMemcpyPeer(field[to], to, field[from], from, run->bytes));
            CHECK(cudaDeviceSynchronize());
        }
    }
    twin_stop(run);
    CHECK(cudaSetDevice(run->steps % 2));
    CHECK(cudaDeviceSynchronize());
    twin_sum_device(run, field[run->steps % 2], run->words);
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaFree(field[device]));
    }
    CHECK(cudaFreeHost(host));
}

static void staged_bad(twin_run *run)
{
    hand_over(run, true);
}

static void staged_good(twin_run *run)
{
    hand_over(run, false);
}

int main(int argc, char **argv)
{
    static const twin_row rows[] = {{"staged", staged_bad, staged_good, 60, 16384, 1}};
    int devices = 0;

    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        fprintf(stderr, "devices: needs two devices, there is one\n");
        return 77;
    }
    return twin_main(argc, argv, rows, sizeof rows / sizeof *rows);
}
