// SPDX-License-Identifier: Apache-2.0
// Something in a stream waits for a flag that the host sets after it has launched kernels in another stream:
// host_wait kernel|function|value|graph N [beside]. With `beside` another thread has used CUDA, too. Whoever makes
// these launches wait for the stream makes the wait end by its time limit, and the output says so.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>

static const long long LIMIT_NS = 2000000000;

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "host_wait: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}
#define CHECK(call) check(call, #call)

__global__ void spin(const volatile unsigned *flag, unsigned *late)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        if (now - begin > LIMIT_NS) {
            *late = 1;
            return;
        }
    } while (*flag == 0);
}

__global__ void during(float *data)
{
    data[threadIdx.x] += 1;
}

__global__ void after(float *data)
{
    data[threadIdx.x] *= 2;
}

static std::atomic<unsigned> host_flag, host_late;

static void CUDART_CB wait_on_host(void *)
{
    auto begin = std::chrono::steady_clock::now();
    while (host_flag == 0) {
        if (std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(LIMIT_NS)) {
            host_late = 1;
            return;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

static std::atomic<bool> is_beside, ends;

static void use_once_and_rest()
{
    void *memory;
    CHECK(cudaMalloc(&memory, 256));
    CHECK(cudaFree(memory));
    is_beside = true;
    while (!ends) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int main(int argc, char **argv)
{
    const char *wait = argc > 1 ? argv[1] : "kernel";
    int launches = argc > 2 ? atoi(argv[2]) : 20;
    cudaStream_t waiting, working;
    unsigned *flag, *late;
    float *data;
    CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc(&flag, 2 * sizeof(*flag), cudaHostAllocMapped));
    CHECK(cudaMalloc(&data, 32 * sizeof(*data)));
    CHECK(cudaMemset(data, 0, 32 * sizeof(*data)));
    late = flag + 1;
    flag[0] = flag[1] = 0;
    /* Loaded now: the driver loads no kernel while another one runs that waits. */
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, spin));
    CHECK(cudaFuncGetAttributes(&attributes, during));
    CHECK(cudaFuncGetAttributes(&attributes, after));

    std::thread beside;
    if (argc > 3) {
        beside = std::thread(use_once_and_rest);
        while (!is_beside) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    std::thread rescue; /* of a wait on a value, which has no limit of its own */
    std::atomic<bool> set(false);
    if (strcmp(wait, "kernel") == 0) {
        spin<<<1, 1, 0, waiting>>>(flag, late);
    } else if (strcmp(wait, "function") == 0) {
        CHECK(cudaLaunchHostFunc(waiting, wait_on_host, nullptr));
    } else if (strcmp(wait, "value") == 0) {
        void *address;
        CHECK(cudaHostGetDevicePointer(&address, flag, 0));
        CUresult (*waitValue)(CUstream, CUdeviceptr, cuuint32_t, unsigned) = nullptr;
        cudaDriverEntryPointQueryResult found;
        CHECK(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", (void **)&waitValue, 12000,
                                               cudaEnableDefault, &found));
        if (waitValue == nullptr ||
            waitValue(waiting, (CUdeviceptr)address, 1, CU_STREAM_WAIT_VALUE_EQ) != CUDA_SUCCESS) {
            fprintf(stderr, "host_wait: no waits on values\n");
            return 1;
        }
        rescue = std::thread([&] {
            auto begin = std::chrono::steady_clock::now();
            while (!set) {
                if (std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(LIMIT_NS)) {
                    host_late = 1;
                    *(volatile unsigned *)flag = 1;
                    return;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
        });
    } else {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(waiting, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaLaunchHostFunc(waiting, wait_on_host, nullptr));
        CHECK(cudaStreamEndCapture(waiting, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, waiting));
    }
    for (int i = 0; i < launches; i++) {
        during<<<1, 32, 0, working>>>(data);
    }
    CHECK(cudaGetLastError());
    set = true;
    host_flag = 1;
    *(volatile unsigned *)flag = 1;
    CHECK(cudaStreamSynchronize(waiting));
    if (rescue.joinable()) {
        rescue.join();
    }
    for (int i = 0; i < launches; i++) {
        after<<<1, 32, 0, working>>>(data);
        CHECK(cudaStreamSynchronize(working));
    }
    ends = true;
    if (beside.joinable()) {
        beside.join();
    }
    float result;
    CHECK(cudaMemcpy(&result, data, sizeof(result), cudaMemcpyDeviceToHost));
    printf("%s, %g\n",
           *(volatile unsigned *)late != 0 || host_late != 0 ? "waited too long"
                                                             : "waited for the host",
           result);
    return 0;
}
