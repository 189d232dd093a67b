// SPDX-License-Identifier: Apache-2.0
// A kernel, work(), that gmtrace does not measure completely for one reason, which `unmeasured MODE` chooses (the table below).
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <cuda.h>

#include "check.cuh"

static const int COUNT = 1 << 20;
static const int THREADS = 256;
static const long long MS = 1000000;

__global__ void work(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void work_and_print(float *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        printf("a kernel prints\n");
    }
}

/* Runs for so long. */
__global__ void spin(float *data, long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while ((long long)(now - begin) < ns);
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static float *device_data(void)
{
    float *data;
    CHECK(cudaMalloc(&data, COUNT * sizeof(*data)));
    CHECK(cudaMemset(data, 0, COUNT * sizeof(*data)));
    return data;
}

static void print_sum(const float *data)
{
    static float host[COUNT];
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDefault));
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += host[i];
    }
    printf("sum %.1f\n", sum);
}

static void work_once(float *data)
{
    work<<<COUNT / THREADS, THREADS>>>(data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    print_sum(data);
}

static void host(void)
{
    float *data;
    CHECK(cudaMallocHost(&data, COUNT * sizeof(*data)));
    memset(data, 0, COUNT * sizeof(*data));
    work_once(data);
}

static void array(void)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 64, 64, cudaArraySurfaceLoadStore));
    work_once(device_data());
    CHECK(cudaFreeArray(array));
}

static void prints(void)
{
    float *data = device_data();
    work_and_print<<<COUNT / THREADS, THREADS>>>(data);
    CHECK(cudaDeviceSynchronize());
    print_sum(data);
}

static void attribute(void)
{
    float *data = device_data();
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaLaunchConfig_t config = {};
    config.gridDim = COUNT / THREADS;
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, work, data));
    CHECK(cudaStreamSynchronize(stream));
    print_sum(data);
}

/* Another thread copies all the time. */
static void threads(void)
{
    float *data = device_data();
    std::atomic<bool> ended(false), begun(false);
    std::thread other([&] {
        float *mine = device_data();
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        while (!ended) {
            for (int i = 0; i < 50; i++) {
                CHECK(cudaMemcpyAsync(mine, mine + COUNT / 2, COUNT * sizeof(*mine) / 2,
                                      cudaMemcpyDeviceToDevice, stream));
            }
            begun = true;
            CHECK(cudaStreamSynchronize(stream));
        }
    });
    while (!begun) {
    }
    work<<<COUNT / THREADS, THREADS>>>(data);
    CHECK(cudaDeviceSynchronize());
    ended = true;
    other.join();
    print_sum(data);
}

template <class F> static F *driver_function(const char *name, unsigned version)
{
    void *function;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
    return (F *)function;
}

static void contexts(void)
{
    CHECK(cudaFree(nullptr));
    CUcontext mine, second;
    auto *get = driver_function<CUresult(CUcontext *)>("cuCtxGetCurrent", 4000);
    auto *create = driver_function<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate", 3020);
    auto *set = driver_function<CUresult(CUcontext)>("cuCtxSetCurrent", 4000);
    if (get(&mine) != CUDA_SUCCESS || create(&second, 0, 0) != CUDA_SUCCESS ||
        set(mine) != CUDA_SUCCESS) {
        fprintf(stderr, "unmeasured: no second context\n");
        exit(1);
    }
    work_once(device_data());
}

/* After a kernel of 3 s, whose own end is waited for for one: behind it, or when it has ended. */
static void after_long(bool waits)
{
    float *data = device_data();
    spin<<<COUNT / THREADS, THREADS>>>(data, 0);
    CHECK(cudaDeviceSynchronize());
    spin<<<1, THREADS>>>(data, 3000 * MS);
    if (waits) {
        CHECK(cudaDeviceSynchronize());
    }
    work_once(data);
}

static void behind(void)
{
    after_long(false);
}

static void behind_after(void)
{
    after_long(true);
}

/* A kernel of 1.3 s that is measured without being repeated, and another one behind it, or when it has ended. */
static void long_before(bool waits)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 64, 64, cudaArraySurfaceLoadStore));
    float *data = device_data();
    spin<<<1, THREADS>>>(data, 1300 * MS);
    if (waits) {
        CHECK(cudaDeviceSynchronize());
    }
    work_once(data);
    CHECK(cudaFreeArray(array));
}

static void overtaken(void)
{
    long_before(false);
}

static void overtaken_after(void)
{
    long_before(true);
}

static void longer(void)
{
    float *data = device_data();
    spin<<<1, THREADS>>>(data, 1300 * MS);
    CHECK(cudaDeviceSynchronize());
    print_sum(data);
}

/* Three quarters of what is free are allocated. */
static void room(void)
{
    size_t available, total;
    void *most;
    CHECK(cudaMemGetInfo(&available, &total));
    CHECK(cudaMalloc(&most, available / 4 * 3));
    work_once(device_data());
    CHECK(cudaFree(most));
}

/* Many classes of a kernel that runs for some milliseconds. */
static void budget(void)
{
    float *data = device_data();
    for (int i = 1; i <= 40; i++) {
        spin<<<i, THREADS>>>(data, 60 * MS);
        spin<<<i, THREADS>>>(data, 60 * MS);
    }
    CHECK(cudaDeviceSynchronize());
    print_sum(data);
}

/* With memory of the host, and for longer than a caller is held to see whether such a kernel ends. */
static void long_on_host(void)
{
    float *data;
    CHECK(cudaMallocHost(&data, COUNT * sizeof(*data)));
    memset(data, 0, COUNT * sizeof(*data));
    for (int i = 0; i < 6; i++) {
        spin<<<1, THREADS>>>(data, 150 * MS);
        CHECK(cudaDeviceSynchronize());
    }
    print_sum(data);
}

static void CUDART_CB sleep_on_host(void *)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

/* While a host function runs in another stream. */
static void beside_function(void)
{
    float *data = device_data();
    cudaStream_t waiting, stream;
    CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaLaunchHostFunc(waiting, sleep_on_host, nullptr));
        work<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamSynchronize(waiting));
    }
    print_sum(data);
}

static void captured(bool twice_before)
{
    float *data = device_data();
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; twice_before && i < 2; i++) {
        work<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
    }
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work<<<COUNT / THREADS, THREADS, 0, stream>>>(data);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    print_sum(data);
}

static void captured_only(void)
{
    captured(false);
}

static void captured_after(void)
{
    captured(true);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"host", host},
    {"array", array},
    {"prints", prints},
    {"attribute", attribute},
    {"threads", threads},
    {"contexts", contexts},
    {"behind", behind},
    {"behind_after", behind_after},
    {"overtaken", overtaken},
    {"overtaken_after", overtaken_after},
    {"longer", longer},
    {"room", room},
    {"budget", budget},
    {"long_on_host", long_on_host},
    {"beside_function", beside_function},
    {"captured", captured_only},
    {"captured_after", captured_after},
};

int main(int argc, char **argv)
{
    for (const auto &mode : modes) {
        if (argc == 2 && strcmp(argv[1], mode.name) == 0) {
            mode.run();
            return 0;
        }
    }
    fprintf(stderr, "usage: unmeasured MODE, one of:");
    for (const auto &mode : modes) {
        fprintf(stderr, " %s", mode.name);
    }
    fprintf(stderr, "\n");
    return 2;
}
