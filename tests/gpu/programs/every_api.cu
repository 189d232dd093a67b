/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls each common runtime API once: every_api [--announce]
 *
 * With --announce each call's name goes to stderr before the call ("announce NS NAME", NS being
 * CLOCK_MONOTONIC, the clock of a trace), unbuffered, and "announce NS -" after it, so that a table
 * of runtime API -> driver calls can be measured. A call that this device or driver does not support
 * is reported on stderr and passed over.
 */

#include "check.cuh"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 16, WIDTH = 200, HEIGHT = 16, DEPTH = 4 };

static bool announcing;
static int called;
static int skipped;

__constant__ int c_symbol[16];
__device__ int d_symbol[16];

__global__ void k_triple_chevron(int *data)
{
    data[threadIdx.x] = 1 + c_symbol[threadIdx.x % 16];
}

__global__ void k_by_pointer(int *data)
{
    data[threadIdx.x] = 2;
}

__global__ void k_with_attributes(int *data)
{
    data[threadIdx.x] = 3;
}

__global__ void k_cooperative(int *data)
{
    data[threadIdx.x] = 4;
}

static unsigned long long now_ns()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void say(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t bytes = static_cast<size_t>(length) < sizeof line ? length : sizeof line - 1;
    if (write(STDERR_FILENO, line, bytes) < 0)
        exit(1);
}

static void before(const char *name)
{
    if (announcing)
        say("announce %llu %s\n", now_ns(), name);
}

static bool after(const char *name, cudaError_t error, bool optional)
{
    if (announcing)
        say("announce %llu -\n", now_ns());
    called++;
    if (error == cudaSuccess)
        return true;
    cudaGetLastError(); /* clears it */
    say("every_api: %s: %s%s\n", name, cudaGetErrorName(error), optional ? " (passed over)" : "");
    if (!optional)
        exit(1);
    skipped++;
    return false;
}

/* The name is what is announced; several kinds of one API differ in the words after it. */
#define CALL(name, call) (before(name), after(name, (call), false))
#define TRY_CALL(name, call) (before(name), after(name, (call), true))

struct memory {
    char *linear;
    char *pitched;
    size_t pitch;
    cudaPitchedPtr volume;
    char *managed;
    char *async;
    char *pooled;
    cudaMemPool_t pool;
    char *pinned;
    char *flagged;
    char *registered;
    cudaArray_t array;
    cudaStream_t stream;
    char pageable[BYTES];
};

static void allocate(memory *m)
{
    const cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>();
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;

    CALL("cudaStreamCreate", cudaStreamCreate(&m->stream));
    CALL("cudaMalloc", cudaMalloc(&m->linear, 2 * BYTES));
    CALL("cudaMallocPitch", cudaMallocPitch(&m->pitched, &m->pitch, WIDTH, HEIGHT));
    CALL("cudaMalloc3D", cudaMalloc3D(&m->volume, extent));
    CALL("cudaMallocArray", cudaMallocArray(&m->array, &bytes, WIDTH, HEIGHT));
    TRY_CALL("cudaMallocManaged", cudaMallocManaged(&m->managed, BYTES));
    TRY_CALL("cudaMallocAsync", cudaMallocAsync(&m->async, BYTES, m->stream));
    if (TRY_CALL("cudaMemPoolCreate", cudaMemPoolCreate(&m->pool, &properties)))
        TRY_CALL("cudaMallocFromPoolAsync",
                 cudaMallocFromPoolAsync(&m->pooled, BYTES, m->pool, m->stream));
    CALL("cudaMallocHost", cudaMallocHost(&m->pinned, BYTES));
    CALL("cudaHostAlloc", cudaHostAlloc(&m->flagged, BYTES, cudaHostAllocMapped));
    m->registered = static_cast<char *>(aligned_alloc(4096, BYTES));
    CALL("cudaHostRegister", cudaHostRegister(m->registered, BYTES, cudaHostRegisterDefault));
    memset(m->registered, 0, BYTES);
    memset(m->flagged, 0, BYTES);
    for (int i = 0; i < BYTES; i++)
        m->pinned[i] = m->pageable[i] = static_cast<char>(i * 7);
}

static void copy_linear(memory *m)
{
    char *device = m->linear;
    char *host = m->pageable;
    const size_t n = BYTES;

    CALL("cudaMemcpy HostToDevice", cudaMemcpy(device, host, n, cudaMemcpyHostToDevice));
    CALL("cudaMemcpy DeviceToHost", cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost));
    CALL("cudaMemcpy DeviceToDevice", cudaMemcpy(device + n, device, n, cudaMemcpyDeviceToDevice));
    CALL("cudaMemcpy HostToHost", cudaMemcpy(m->registered, host, n, cudaMemcpyHostToHost));
    CALL("cudaMemcpy Default HostToDevice", cudaMemcpy(device, host, n, cudaMemcpyDefault));
    CALL("cudaMemcpy Default DeviceToHost", cudaMemcpy(host, device, n, cudaMemcpyDefault));
    CALL("cudaMemcpy Default DeviceToDevice", cudaMemcpy(device + n, device, n, cudaMemcpyDefault));
    CALL("cudaMemcpyAsync HostToDevice",
         cudaMemcpyAsync(device, m->pinned, n, cudaMemcpyHostToDevice, m->stream));
    CALL("cudaMemcpyAsync DeviceToHost",
         cudaMemcpyAsync(m->pinned, device, n, cudaMemcpyDeviceToHost, m->stream));
    CALL("cudaMemcpyAsync DeviceToDevice",
         cudaMemcpyAsync(device + n, device, n, cudaMemcpyDeviceToDevice, m->stream));
    CALL("cudaMemcpyAsync HostToHost",
         cudaMemcpyAsync(m->flagged, m->pinned, n, cudaMemcpyHostToHost, m->stream));
    CALL("cudaMemcpyAsync Default",
         cudaMemcpyAsync(device, m->pinned, n, cudaMemcpyDefault, m->stream));
    CALL("cudaMemcpyAsync HostToDevice pageable",
         cudaMemcpyAsync(device, host, n, cudaMemcpyHostToDevice, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
}

static void copy_shaped(memory *m)
{
    char *host = m->pageable;
    cudaMemcpy3DParms volume = {};
    volume.srcPtr = make_cudaPitchedPtr(host, WIDTH, WIDTH, HEIGHT);
    volume.dstPtr = m->volume;
    volume.extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    volume.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3DParms pinned_volume = volume;
    pinned_volume.srcPtr.ptr = m->pinned;

    CALL("cudaMemcpy2D HostToDevice",
         cudaMemcpy2D(m->pitched, m->pitch, host, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    CALL("cudaMemcpy2D DeviceToHost",
         cudaMemcpy2D(host, WIDTH, m->pitched, m->pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CALL("cudaMemcpy2D DeviceToDevice", cudaMemcpy2D(m->linear, WIDTH, m->pitched, m->pitch, WIDTH,
                                                     HEIGHT, cudaMemcpyDeviceToDevice));
    CALL("cudaMemcpy2DAsync HostToDevice",
         cudaMemcpy2DAsync(m->pitched, m->pitch, m->pinned, WIDTH, WIDTH, HEIGHT,
                           cudaMemcpyHostToDevice, m->stream));
    CALL("cudaMemcpy2DAsync DeviceToHost",
         cudaMemcpy2DAsync(m->pinned, WIDTH, m->pitched, m->pitch, WIDTH, HEIGHT,
                           cudaMemcpyDeviceToHost, m->stream));
    CALL("cudaMemcpy3D HostToDevice", cudaMemcpy3D(&volume));
    CALL("cudaMemcpy3DAsync HostToDevice", cudaMemcpy3DAsync(&pinned_volume, m->stream));
    CALL("cudaMemcpy2DToArray",
         cudaMemcpy2DToArray(m->array, 0, 0, host, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    CALL("cudaMemcpy2DFromArray",
         cudaMemcpy2DFromArray(host, WIDTH, m->array, 0, 0, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
}

static void copy_symbols(memory *m)
{
    int words[16] = {};
    int *pinned = reinterpret_cast<int *>(m->flagged);
    void *address = nullptr;
    CALL("cudaMemcpyToSymbol", cudaMemcpyToSymbol(c_symbol, words, sizeof words));
    CALL("cudaMemcpyFromSymbol", cudaMemcpyFromSymbol(words, d_symbol, sizeof words));
    CALL("cudaMemcpyToSymbolAsync", cudaMemcpyToSymbolAsync(d_symbol, pinned, sizeof words, 0,
                                                            cudaMemcpyHostToDevice, m->stream));
    CALL("cudaMemcpyFromSymbolAsync", cudaMemcpyFromSymbolAsync(pinned, d_symbol, sizeof words, 0,
                                                                cudaMemcpyDeviceToHost, m->stream));
    CALL("cudaGetSymbolAddress", cudaGetSymbolAddress(&address, d_symbol));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
}

static void copy_batch(memory *m)
{
#if CUDART_VERSION >= 13000
    void *to[2] = {m->linear, m->linear + BYTES};
    const void *from[2] = {m->pinned, m->pinned + BYTES / 2};
    const size_t sizes[2] = {BYTES / 2, BYTES / 2};
    size_t first_of_attributes[1] = {0};
    cudaMemcpyAttributes attributes[1] = {};
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    TRY_CALL("cudaMemcpyBatchAsync", cudaMemcpyBatchAsync(to, from, sizes, 2, attributes,
                                                          first_of_attributes, 1, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
#else
    (void)m;
#endif
}

static void copy_between_devices(memory *m)
{
    int count = 0;
    char *other = nullptr;
    CHECK(cudaGetDeviceCount(&count));
    const int peer = count > 1 ? 1 : 0; /* a peer copy within one device is allowed */
    CALL("cudaSetDevice", cudaSetDevice(peer));
    CHECK(cudaMalloc(&other, BYTES));
    CALL("cudaSetDevice", cudaSetDevice(0));
    CALL("cudaMemcpyPeer", cudaMemcpyPeer(other, peer, m->linear, 0, BYTES));
    CALL("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(m->linear, 0, other, peer, BYTES, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    CHECK(cudaFree(other));
}

static void set(memory *m)
{
    const cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    CALL("cudaMemset", cudaMemset(m->linear, 1, BYTES));
    CALL("cudaMemsetAsync", cudaMemsetAsync(m->linear, 2, BYTES, m->stream));
    CALL("cudaMemset2D", cudaMemset2D(m->pitched, m->pitch, 3, WIDTH, HEIGHT));
    CALL("cudaMemset2DAsync", cudaMemset2DAsync(m->pitched, m->pitch, 4, WIDTH, HEIGHT, m->stream));
    CALL("cudaMemset3D", cudaMemset3D(m->volume, 5, extent));
    CALL("cudaMemset3DAsync", cudaMemset3DAsync(m->volume, 6, extent, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
}

static void on_host(void *flag)
{
    *static_cast<int *>(flag) = 1;
}

static void launch(memory *m)
{
    int *data = reinterpret_cast<int *>(m->linear);
    void *arguments[] = {&data};
    int reached = 0;
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = 1;
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributePriority;
    attributes[1].val.priority = 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    config.stream = m->stream;
    config.attrs = attributes + 1; /* clusters need compute capability 9.0 */
    config.numAttrs = 1;

    before("<<<>>>");
    k_triple_chevron<<<2, 64>>>(data);
    after("<<<>>>", cudaGetLastError(), false);
    before("<<<>>> stream");
    k_triple_chevron<<<2, 64, 128, m->stream>>>(data);
    after("<<<>>> stream", cudaGetLastError(), false);
    CALL("cudaLaunchKernel", cudaLaunchKernel(reinterpret_cast<const void *>(k_by_pointer), dim3(2),
                                              dim3(64), arguments, 0, m->stream));
    CALL(
        "cudaLaunchKernelExC",
        cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(k_with_attributes), arguments));
    config.attrs = attributes;
    config.numAttrs = 2;
    TRY_CALL(
        "cudaLaunchKernelExC cluster",
        cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(k_with_attributes), arguments));
    TRY_CALL("cudaLaunchCooperativeKernel",
             cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(k_cooperative), dim3(2),
                                         dim3(64), arguments, 0, m->stream));
    CALL("cudaLaunchHostFunc", cudaLaunchHostFunc(m->stream, on_host, &reached));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    if (reached != 1)
        say("every_api: the host function did not run\n");
}

static void order(memory *m)
{
    cudaEvent_t begin, end;
    float elapsed_ms = 0.0f;
    CALL("cudaEventCreate", cudaEventCreate(&begin));
    CALL("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    CALL("cudaEventRecord", cudaEventRecord(begin, m->stream));
    CALL("cudaStreamWaitEvent", cudaStreamWaitEvent(m->stream, begin, 0));
    CALL("cudaEventRecord", cudaEventRecord(end, m->stream));
    CALL("cudaEventSynchronize", cudaEventSynchronize(end));
    CALL("cudaEventQuery", cudaEventQuery(end));
    CALL("cudaEventElapsedTime", cudaEventElapsedTime(&elapsed_ms, begin, end));
    CALL("cudaStreamQuery", cudaStreamQuery(m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    CALL("cudaDeviceSynchronize", cudaDeviceSynchronize());
    CALL("cudaEventDestroy", cudaEventDestroy(begin));
    CALL("cudaEventDestroy", cudaEventDestroy(end));
}

#include "every_api_more.cuh"

/* A small graph: captured, instantiated, launched twice. */
static void replay(memory *m)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int *data = reinterpret_cast<int *>(m->linear);
    CALL("cudaStreamBeginCapture",
         cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeThreadLocal));
    CALL("cudaMemsetAsync captured", cudaMemsetAsync(m->linear, 0, BYTES, m->stream));
    before("<<<>>> captured");
    k_triple_chevron<<<2, 64, 0, m->stream>>>(data);
    after("<<<>>> captured", cudaGetLastError(), false);
    CALL("cudaStreamEndCapture", cudaStreamEndCapture(m->stream, &graph));
    CALL("cudaGraphInstantiate", cudaGraphInstantiate(&executable, graph, 0));
    CALL("cudaGraphLaunch", cudaGraphLaunch(executable, m->stream));
    CALL("cudaGraphLaunch", cudaGraphLaunch(executable, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    CALL("cudaGraphExecDestroy", cudaGraphExecDestroy(executable));
    CALL("cudaGraphDestroy", cudaGraphDestroy(graph));
}

static void release(memory *m)
{
    if (m->pooled != nullptr)
        CALL("cudaFreeAsync pool", cudaFreeAsync(m->pooled, m->stream));
    if (m->async != nullptr)
        CALL("cudaFreeAsync", cudaFreeAsync(m->async, m->stream));
    CALL("cudaStreamSynchronize", cudaStreamSynchronize(m->stream));
    if (m->pool != nullptr)
        CALL("cudaMemPoolDestroy", cudaMemPoolDestroy(m->pool));
    if (m->managed != nullptr)
        CALL("cudaFree managed", cudaFree(m->managed));
    CALL("cudaHostUnregister", cudaHostUnregister(m->registered));
    free(m->registered);
    CALL("cudaFreeHost", cudaFreeHost(m->flagged));
    CALL("cudaFreeHost", cudaFreeHost(m->pinned));
    CALL("cudaFreeArray", cudaFreeArray(m->array));
    CALL("cudaFree 3D", cudaFree(m->volume.ptr));
    CALL("cudaFree pitched", cudaFree(m->pitched));
    CALL("cudaFree", cudaFree(m->linear));
    CALL("cudaFree NULL", cudaFree(nullptr));
    CALL("cudaStreamDestroy", cudaStreamDestroy(m->stream));
}

int main(int argc, char **argv)
{
    static memory m;
    announcing = argc == 2 && strcmp(argv[1], "--announce") == 0;
    if (argc > 1 && !announcing) {
        fprintf(stderr, "usage: every_api [--announce]\n");
        return 2;
    }
    CALL("cudaSetDevice first", cudaSetDevice(0));
    allocate(&m);
    copy_linear(&m);
    copy_shaped(&m);
    copy_symbols(&m);
    copy_batch(&m);
    copy_between_devices(&m);
    set(&m);
    launch(&m);
    order(&m);
    replay(&m);
    build_graph(&m);
    hint(&m);
    release(&m);
    printf("every_api ok calls %d passed_over %d\n", called, skipped);
    return 0;
}
