/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of allocation, their attributes, pools, what is refused, and what the device says it is. */
#include "program.cuh"

static __global__ void fill(unsigned char *data, size_t count, unsigned char value)
{
    for (size_t i = threadIdx.x; i < count; i += blockDim.x)
        data[i] = (unsigned char)(value + i);
}

static void kind(sim_check &check, void *memory, cudaMemoryType type)
{
    cudaPointerAttributes attributes = {};

    SIM_CALL(check, cudaPointerGetAttributes(&attributes, memory));
    SIM_HOLDS(check, attributes.type == type);
}

static void all_kinds(sim_check &check)
{
    void *device = nullptr, *pinned = nullptr, *managed = nullptr, *none = nullptr;
    int on_stack = 0;

    SIM_CALL(check, cudaMalloc(&device, 1000));
    SIM_CALL(check, cudaMallocHost(&pinned, 1000));
    SIM_CALL(check, cudaMallocManaged(&managed, 1000));
    SIM_HOLDS(check, (uintptr_t)device % 256 == 0);
    kind(check, device, cudaMemoryTypeDevice);
    kind(check, (char *)device + 999, cudaMemoryTypeDevice);
    kind(check, pinned, cudaMemoryTypeHost);
    kind(check, managed, cudaMemoryTypeManaged);
    kind(check, &on_stack, cudaMemoryTypeUnregistered);
    SIM_CALL(check, cudaFree(device));
    SIM_CALL(check, cudaFreeHost(pinned));
    SIM_CALL(check, cudaFree(managed));

    SIM_CALL(check, cudaFree(nullptr));
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaFree(&on_stack));
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    SIM_REFUSED(check, cudaErrorMemoryAllocation, cudaMalloc(&none, (size_t)1 << 50));
    SIM_REFUSED(check, cudaErrorMemoryAllocation, cudaGetLastError());
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaMalloc(nullptr, 16));
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaPeekAtLastError());
    SIM_REFUSED(check, cudaErrorInvalidValue, cudaGetLastError());
    SIM_REFUSED(check, cudaSuccess, cudaGetLastError());
}

/* Many at once, of odd sizes: each keeps its own content. */
static void many(sim_check &check)
{
    const int count = 60;
    unsigned char *memory[count] = {};
    cudaStream_t stream;

    SIM_CALL(check, cudaStreamCreate(&stream));
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)i * i * 13 + 1;

        if (i % 2 == 0)
            SIM_CALL(check, cudaMalloc((void **)&memory[i], size));
        else
            SIM_CALL(check, cudaMallocAsync((void **)&memory[i], size, stream));
        fill<<<1, 64, 0, stream>>>(memory[i], size, (unsigned char)(i * 7));
    }
    SIM_CALL(check, cudaStreamSynchronize(stream));
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)i * i * 13 + 1;
        std::vector<unsigned char> got(size), wanted(size);

        for (size_t j = 0; j < size; j++)
            wanted[j] = (unsigned char)(i * 7 + j);
        SIM_CALL(check, cudaMemcpy(got.data(), memory[i], size, cudaMemcpyDeviceToHost));
        sim_equal(check, "content", got, wanted);
        if (i % 2 == 0)
            SIM_CALL(check, cudaFree(memory[i]));
        else
            SIM_CALL(check, cudaFreeAsync(memory[i], stream));
    }
    SIM_CALL(check, cudaStreamSynchronize(stream));
    SIM_CALL(check, cudaStreamDestroy(stream));
}

static void device(sim_check &check)
{
    cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    int count = 0, current = -1, value = 0, blocks = 0, least = 0, size = 0;

    SIM_CALL(check, cudaGetDeviceCount(&count));
    SIM_HOLDS(check, count >= 1);
    SIM_CALL(check, cudaGetDevice(&current));
    SIM_HOLDS(check, current == 0);
    SIM_REFUSED(check, cudaErrorInvalidDevice, cudaSetDevice(count));
    cudaGetLastError();
    SIM_CALL(check, cudaGetDeviceProperties(&properties, 0));
    SIM_HOLDS(check, properties.major == 9 && properties.minor == 0 && properties.warpSize == 32);
    SIM_HOLDS(check, properties.maxThreadsPerBlock == 1024);
    SIM_HOLDS(check, properties.maxThreadsPerMultiProcessor == 2048);
    SIM_HOLDS(check, properties.regsPerMultiprocessor == 65536);
    SIM_HOLDS(check, properties.multiProcessorCount > 0);
    SIM_CALL(check, cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0));
    sim_equal_value(check, "grid", value, 65535);
    SIM_CALL(check, cudaMemGetInfo(&free_bytes, &total_bytes));
    SIM_HOLDS(check, free_bytes > 0 && free_bytes <= total_bytes);
    SIM_CALL(check, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 1024, 0));
    SIM_HOLDS(check, blocks == 2);
    SIM_CALL(check, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 32, 40 * 1024));
    SIM_HOLDS(check, blocks == 5); /* 228 KiB, of which each block takes 41 */
    SIM_CALL(check, cudaOccupancyMaxPotentialBlockSize(&least, &size, fill, 0, 0));
    SIM_HOLDS(check, size == 1024 && least == 2 * properties.multiProcessorCount);
}

void sim_program_allocations(sim_check &check)
{
    all_kinds(check);
    many(check);
    device(check);
}
