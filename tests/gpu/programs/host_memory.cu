// SPDX-License-Identifier: Apache-2.0
// Kernels that are given memory of the host, which may be how they wait for it:
// host_memory managed|pinned|late|failed|capture|module N.
//   managed, pinned: N launches of two kernels on managed or page-locked memory; no kernel waits.
//   late: the first launches end, a later one of the same class waits for the host.
//   failed: the first launch of the class fails, the next one waits for the host.
//   capture: one thread launches such kernels while another one captures, instantiates and launches graphs.
//   module: the same, while another thread loads and unloads a kernel.
#include <atomic>
#include <cstring>
#include <thread>

#include "check.cuh"

static const int COUNT = 1 << 20;
static const int THREADS = 256;
static const long long LIMIT_NS = 2000000000;

__global__ void fill(float *data, float value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add_strided(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += in[(i * 32) % COUNT];
}

/* Ends when *flag is `wanted`, or by its time limit. */
__global__ void wait_for(const volatile unsigned *flag, unsigned wanted, unsigned *late)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    while (*flag != wanted) {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        if (now - begin > LIMIT_NS) {
            *late = 1;
            return;
        }
    }
}

__global__ void step(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static void print_sum(const char *mode, const float *data)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += data[i];
    }
    printf("%s: sum %.1f\n", mode, sum);
}

static void two_kernels(const char *mode, int launches)
{
    float *in, *out;
    if (strcmp(mode, "managed") == 0) {
        CHECK(cudaMallocManaged(&in, COUNT * sizeof(*in)));
        CHECK(cudaMallocManaged(&out, COUNT * sizeof(*out)));
    } else {
        CHECK(cudaMallocHost(&in, COUNT * sizeof(*in)));
        CHECK(cudaMallocHost(&out, COUNT * sizeof(*out)));
    }
    for (int i = 0; i < launches; i++) {
        fill<<<COUNT / THREADS, THREADS>>>(in, (float)i);
        add_strided<<<COUNT / THREADS, THREADS>>>(out, in);
    }
    CHECK(cudaDeviceSynchronize());
    print_sum(mode, out);
}

/* Flags of the host: whether the kernel may end, and whether it ended by its limit. */
static unsigned *make_flags(void)
{
    unsigned *flags;
    CHECK(cudaHostAlloc(&flags, 2 * sizeof(*flags), cudaHostAllocMapped));
    flags[0] = flags[1] = 0;
    return flags;
}

static void wait_once(const char *mode, unsigned *flags, unsigned wanted)
{
    wait_for<<<1, 1>>>(flags, wanted, flags + 1);
    CHECK(cudaGetLastError());
    *(volatile unsigned *)flags = wanted;
    CHECK(cudaDeviceSynchronize());
    printf("%s: %s\n", mode, flags[1] != 0 ? "waited too long" : "waited for the host");
}

static void late(int launches)
{
    unsigned *flags = make_flags();
    for (int i = 0; i < launches; i++) {
        wait_for<<<1, 1>>>(flags, 0, flags + 1); /* ends at once */
        CHECK(cudaDeviceSynchronize());
    }
    wait_once("late", flags, 1);
    wait_once("late", flags, 2);
}

static void failed(void)
{
    unsigned *flags = make_flags();
    wait_for<<<1, 4096>>>(flags, 1, flags + 1);
    printf("failed: %s\n", cudaGetErrorName(cudaGetLastError()));
    wait_once("failed", flags, 1);
    wait_once("failed", flags, 2);
}

static void capture_graphs(const std::atomic<bool> *ended, float *data)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 50 || !*ended; i++) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        step<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
        step<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphDestroy(graph));
    }
    CHECK(cudaStreamDestroy(stream));
}

static const char EMPTY_KERNEL[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .entry empty()\n{\n\tret;\n}\n";

static void load_modules(const std::atomic<bool> *ended)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 20 || !*ended; i++) {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        CHECK(
            cudaLibraryLoadData(&library, EMPTY_KERNEL, nullptr, nullptr, 0, nullptr, nullptr, 0));
        CHECK(cudaLibraryGetKernel(&kernel, library, "empty"));
        CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), nullptr, 0, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaLibraryUnload(library));
    }
    CHECK(cudaStreamDestroy(stream));
}

static void beside(const char *mode, int launches)
{
    std::atomic<bool> ended(false);
    float *data, *captured;
    CHECK(cudaMallocHost(&data, COUNT * sizeof(*data)));
    CHECK(cudaMalloc(&captured, COUNT * sizeof(*captured)));
    CHECK(cudaMemset(captured, 0, COUNT * sizeof(*captured)));
    memset(data, 0, COUNT * sizeof(*data));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::thread other([&] {
        if (strcmp(mode, "capture") == 0) {
            capture_graphs(&ended, captured);
        } else {
            load_modules(&ended);
        }
    });
    for (int i = 0; i < launches; i++) {
        step<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
        add_strided<<<COUNT / THREADS, THREADS, 0, stream>>>(data, data);
        step<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
        CHECK(cudaStreamSynchronize(stream));
        fill<<<COUNT / THREADS, THREADS, 0, stream>>>(data, (float)(i % 7));
    }
    CHECK(cudaStreamSynchronize(stream));
    ended = true;
    other.join();
    print_sum(mode, data);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "managed";
    int launches = argc > 2 ? (int)parse_number(argv[2], 1, 100000) : 5;

    if (strcmp(mode, "managed") == 0 || strcmp(mode, "pinned") == 0) {
        two_kernels(mode, launches);
    } else if (strcmp(mode, "late") == 0) {
        late(launches);
    } else if (strcmp(mode, "failed") == 0) {
        failed();
    } else if (strcmp(mode, "capture") == 0 || strcmp(mode, "module") == 0) {
        beside(mode, launches);
    } else {
        fprintf(stderr, "usage: host_memory managed|pinned|late|failed|capture|module [N]\n");
        return 2;
    }
    return 0;
}
