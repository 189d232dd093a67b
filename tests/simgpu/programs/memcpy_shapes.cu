/* SPDX-License-Identifier: Apache-2.0 */
/* cudaMemcpy2D and 3D in all directions, pitched memory, memset of both shapes. */
#include "program.cuh"

/* Adds to each element of a pitched array, so that the kernel's idea of the pitch is checked too. */
static __global__ void add_to_rows(char *base, size_t pitch, int width, int height, int by)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

    if (x < width && y < height)
        ((int *)(base + y * pitch))[x] += by + y;
}

static __global__ void add_to_volume(cudaPitchedPtr volume, int width, int height, int by)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char *slice = (char *)volume.ptr + z * volume.pitch * volume.ysize;

    if (x < width && y < height)
        ((int *)(slice + y * volume.pitch))[x] += by + 100 * z;
}

static void two_dimensions(sim_check &check, int width, int height)
{
    const int wide = width + 7; /* the host's rows are longer: what lies behind must stay */
    size_t bytes = (size_t)width * sizeof(int), pitch = 0, other_pitch = 0;
    std::vector<int> in((size_t)wide * height), out((size_t)wide * height, -1), wanted = out;
    char *a = nullptr, *b = nullptr;

    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * 37);
    SIM_CALL(check, cudaMallocPitch((void **)&a, &pitch, bytes, height));
    SIM_CALL(check, cudaMallocPitch((void **)&b, &other_pitch, bytes + 1000, height));
    SIM_HOLDS(check, pitch >= bytes && pitch % 32 == 0 && other_pitch >= bytes + 1000);
    SIM_CALL(check, cudaMemset2D(b, other_pitch, 0x11, bytes, height));
    SIM_CALL(check, cudaMemcpy2D(a, pitch, in.data(), wide * sizeof(int), bytes, height,
                                 cudaMemcpyHostToDevice));
    add_to_rows<<<dim3((width + 31) / 32, height), 32>>>(a, pitch, width, height, 5);
    SIM_LAUNCHED(check);
    /* All rows but the first and all columns but the last, moved down by one row. */
    SIM_CALL(check, cudaMemcpy2D(b + other_pitch, other_pitch, a, pitch, bytes - sizeof(int),
                                 height - 1, cudaMemcpyDeviceToDevice));
    SIM_CALL(check, cudaMemcpy2D(out.data(), wide * sizeof(int), b, other_pitch, bytes, height,
                                 cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wanted[y * wide + x] = y > 0 && x < width - 1 ? in[(y - 1) * wide + x] + 5 + y - 1
                                                          : 0x11111111;
    sim_equal(check, "2D", out, wanted);
    SIM_REFUSED(
        check, cudaErrorInvalidPitchValue,
        cudaMemcpy2D(a, bytes - 4, in.data(), bytes, bytes, height, cudaMemcpyHostToDevice));
    cudaGetLastError();
    SIM_CALL(check, cudaFree(a));
    SIM_CALL(check, cudaFree(b));
}

static void three_dimensions(sim_check &check)
{
    const int width = 21, height = 13, depth = 5;
    std::vector<int> in((size_t)width * height * depth), out(in.size(), -7), wanted = out;
    cudaPitchedPtr volume = {};
    cudaMemcpy3DParms copy = {};

    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)(i * 1001);
    SIM_CALL(check, cudaMalloc3D(&volume, make_cudaExtent(width * sizeof(int), height, depth)));
    SIM_HOLDS(check, volume.pitch >= width * sizeof(int) && volume.ysize == (size_t)height);
    SIM_CALL(check, cudaMemset3D(volume, 0, make_cudaExtent(width * sizeof(int), height, depth)));
    /* A box of 10 x 6 x 3 from (2, 3, 1) of the host's to (5, 4, 2) of the device's. */
    copy.srcPtr = make_cudaPitchedPtr(in.data(), width * sizeof(int), width, height);
    copy.srcPos = make_cudaPos(2 * sizeof(int), 3, 1);
    copy.dstPtr = volume;
    copy.dstPos = make_cudaPos(5 * sizeof(int), 4, 2);
    copy.extent = make_cudaExtent(10 * sizeof(int), 6, 3);
    copy.kind = cudaMemcpyHostToDevice;
    SIM_CALL(check, cudaMemcpy3D(&copy));
    add_to_volume<<<dim3(height, depth), 32>>>(volume, width, height, 3);
    SIM_LAUNCHED(check);
    cudaMemcpy3DParms back = {};
    back.srcPtr = volume;
    back.dstPtr = make_cudaPitchedPtr(out.data(), width * sizeof(int), width, height);
    back.extent = make_cudaExtent(width * sizeof(int), height, depth);
    back.kind = cudaMemcpyDeviceToHost;
    SIM_CALL(check, cudaMemcpy3D(&back));
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                bool inside = x >= 5 && x < 15 && y >= 4 && y < 10 && z >= 2 && z < 5;
                int from = inside ? in[((z - 1) * height + y - 1) * width + x - 3] : 0;

                wanted[(z * height + y) * width + x] = from + 3 + 100 * z;
            }
    sim_equal(check, "3D", out, wanted);
    SIM_CALL(check, cudaFree(volume.ptr));
}

/* Host to host, cudaMemcpyDefault, and one-dimensional copies at odd offsets. */
static void other_copies(sim_check &check)
{
    std::vector<unsigned char> in(1000), out(1000), wanted(1000, 0xcd);
    sim_array<unsigned char> memory(check, 1000), second(check, 1000);

    for (size_t i = 0; i < in.size(); i++)
        in[i] = (unsigned char)(i * 7);
    SIM_CALL(check, cudaMemcpy(memory.device + 13, &in[1], 501, cudaMemcpyHostToDevice));
    SIM_CALL(check, cudaMemcpy(second.device + 7, memory.device + 10, 700, cudaMemcpyDefault));
    SIM_CALL(check, cudaMemset(second.device + 20, 0x42, 3));
    SIM_CALL(check, cudaMemcpy(out.data(), second.device, 1000, cudaMemcpyDefault));
    for (int i = 0; i < 501; i++)
        wanted[i + 10] = in[i + 1];
    memset(&wanted[20], 0x42, 3);
    sim_equal(check, "bytes", out, wanted);
    SIM_CALL(check, cudaMemcpy(out.data(), in.data(), 1000, cudaMemcpyHostToHost));
    sim_equal(check, "host to host", out, in);
}

void sim_program_memcpy_shapes(sim_check &check)
{
    two_dimensions(check, 100, 33);
    two_dimensions(check, 1001, 3);
    three_dimensions(check);
    other_copies(check);
}
