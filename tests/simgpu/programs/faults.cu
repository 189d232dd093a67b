/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that must fail: the error, its message, that it stays, and that a reset ends it.
 *
 * On a GPU such an error takes the process with it; the software device goes on after
 * cudaDeviceReset(). Each program therefore has a process of its own.
 */
#include "program.cuh"

#include <cstdio>
#include <string>
#include <unistd.h>

#undef NDEBUG /* the assertion is what is tested, in release builds too */
#include <cassert>

static __global__ void fault_store_outside(int *data, size_t far)
{
    data[threadIdx.x + (threadIdx.x == 37 ? far : 0)] = 1;
}

static __global__ void fault_load_null(const int *nothing, int *out)
{
    out[threadIdx.x] = nothing[threadIdx.x];
}

static __global__ void fault_odd_address(char *data)
{
    *(int *)(data + 4 * threadIdx.x + (blockIdx.x == 1 ? 2 : 0)) = 5;
}

static __global__ void fault_beyond_shared(int *out, unsigned at)
{
    extern __shared__ int small[];

    small[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = small[threadIdx.x + at];
}

static __global__ void fault_false_assertion(const int *data)
{
    assert(data[threadIdx.x] == 12345);
}

static __global__ void fault_own_trap(const int *data)
{
    if (data[threadIdx.x] != 12345)
        asm volatile("trap;"); /* __trap() without optimization: a function without lines */
}

static __global__ void fill(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = value + (int)threadIdx.x;
}

/* Stderr into a string while the kernel runs, and the error that this gives. */
template <class F> static std::string watched(sim_check &check, cudaError_t wanted, F launch)
{
    std::string text;
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO), c;
    cudaError_t status;

    if (file == nullptr || saved < 0) {
        sim_differ(check, "cannot redirect stderr");
        return text;
    }
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    launch();
    status = cudaGetLastError(); /* of the launch itself: a device may run it at once */
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    while ((c = fgetc(file)) != EOF)
        text.push_back((char)c);
    fclose(file);
    sim_refused(check, status, wanted, "cudaDeviceSynchronize()", __LINE__);
    return text;
}

static void says(sim_check &check, const std::string &text, const char *what)
{
    check.compared++;
    if (text.find(what) == std::string::npos)
        sim_differ(check, "the message does not say '%s': %s", what, text.c_str());
}

/* Everything fails alike until the device is reset; then it works again. */
static void stays_and_ends(sim_check &check, cudaError_t wanted)
{
    std::vector<int> expected;
    void *memory = nullptr;

    SIM_REFUSED(check, wanted, cudaMalloc(&memory, 16));
    SIM_REFUSED(check, wanted, cudaDeviceSynchronize());
    SIM_REFUSED(check, wanted, cudaGetLastError());
    SIM_REFUSED(check, cudaSuccess, cudaGetLastError()); /* given once, but the fault stays */
    SIM_REFUSED(check, wanted, cudaDeviceSynchronize());
    if (!sim_software_device())
        return;
    cudaDeviceReset();
    SIM_REFUSED(check, cudaSuccess, cudaGetLastError());
    sim_array<int> data(check, 300);
    fill<<<3, 100>>>(data.device, 7);
    SIM_LAUNCHED(check);
    for (int i = 0; i < 300; i++)
        expected.push_back(7 + i % 100);
    sim_equal(check, "after the reset", data, expected);
}

/* `launch` starts `kernel`, which must fail with `wanted`. */
template <class F>
static void fails(sim_check &check, const char *kernel, cudaError_t wanted, F launch)
{
    std::string text;
    int *data = nullptr;

    SIM_CALL(check, cudaMalloc((void **)&data, 4096));
    SIM_CALL(check, cudaMemset(data, 0, 4096));
    text = watched(check, wanted, [&] { launch(data); });
    if (sim_software_device()) {
        says(check, text, kernel);
#ifdef SIM_PROGRAMS_LINEINFO
        says(check, text, "faults.cu");
#endif
    }
    if (wanted == cudaErrorAssert)
        says(check, text, "data[threadIdx.x] == 12345");
    stays_and_ends(check, wanted);
}

void sim_program_fault_outside(sim_check &check)
{
    fails(check, "fault_store_outside", cudaErrorIllegalAddress,
          [](int *data) { fault_store_outside<<<2, 64>>>(data, (size_t)1 << 40); });
}

void sim_program_fault_null(sim_check &check)
{
    fails(check, "fault_load_null", cudaErrorIllegalAddress,
          [](int *data) { fault_load_null<<<1, 32>>>(nullptr, data); });
}

void sim_program_fault_misaligned(sim_check &check)
{
    fails(check, "fault_odd_address", cudaErrorMisalignedAddress,
          [](int *data) { fault_odd_address<<<2, 32>>>((char *)data); });
}

void sim_program_fault_shared(sim_check &check)
{
    /* An H200 calls it an illegal instruction. */
    const cudaError_t wanted = sim_software_device() ? cudaErrorIllegalAddress
                                                     : cudaErrorIllegalInstruction;

    fails(check, "fault_beyond_shared", wanted,
          [](int *data) { fault_beyond_shared<<<1, 64, 256>>>(data, 16u << 20); });
}

void sim_program_fault_assert(sim_check &check)
{
    fails(check, "fault_false_assertion", cudaErrorAssert,
          [](int *data) { fault_false_assertion<<<1, 32>>>(data); });
}

void sim_program_fault_trap(sim_check &check)
{
    fails(check, "fault_own_trap", cudaErrorLaunchFailure,
          [](int *data) { fault_own_trap<<<1, 32>>>(data); });
}
