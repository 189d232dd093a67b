/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ptx FILE.ptx: loads PTX text with cuModuleLoadData and runs its kernels by the driver API. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1003
#define BLOCK 128
#define BLOCKS ((COUNT + BLOCK - 1) / BLOCK)
#define POWERS 50
#define SCALE 7
#define SHOWN 5 /* failures printed */

/* Functions of libcuda.so.1, looked up by their versioned names. */
#define FUNCTIONS(X) \
    X(cuInit, cuInit) \
    X(cuDeviceGet, cuDeviceGet) \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
    X(cuCtxSetCurrent, cuCtxSetCurrent) \
    X(cuCtxSynchronize, cuCtxSynchronize) \
    X(cuModuleLoadData, cuModuleLoadData) \
    X(cuModuleUnload, cuModuleUnload) \
    X(cuModuleGetFunction, cuModuleGetFunction) \
    X(cuModuleGetGlobal, cuModuleGetGlobal_v2) \
    X(cuMemAlloc, cuMemAlloc_v2) \
    X(cuMemFree, cuMemFree_v2) \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2) \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2) \
    X(cuLaunchKernel, cuLaunchKernel)

/* The header renames some of them. */
#undef cuModuleGetGlobal
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#define FUNCTION(name, symbol) static __typeof__(symbol) *p_##name;
FUNCTIONS(FUNCTION)
#undef FUNCTION

static unsigned failures;

static void check(int line, int good, const char *what)
{
    if (good) {
        return;
    }
    if (failures++ >= SHOWN) {
        return;
    }
    fprintf(stderr, "sim_ptx: line %d: %s\n", line, what);
}

#define HOLDS(statement) check(__LINE__, (statement), #statement)
#define CALL(call) check(__LINE__, (call) == CUDA_SUCCESS, #call)

static int look_up(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL) {
        return -1;
    }
#define FUNCTION(name, symbol) \
    if ((*(void **)&p_##name = dlsym(library, #symbol)) == NULL) \
        return -1;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    return 0;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long bytes;

    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) > 0) {
        rewind(file);
        text = calloc((size_t)bytes + 1, 1);
        if (text != NULL && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

static CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    CALL(p_cuModuleGetFunction(&function, module, name));
    return function;
}

static CUdeviceptr device_copy(const void *from, size_t bytes)
{
    CUdeviceptr memory = 0;

    CALL(p_cuMemAlloc(&memory, bytes));
    CALL(p_cuMemcpyHtoD(memory, from, bytes));
    return memory;
}

static void run(CUmodule module, const char *name, unsigned blocks, unsigned threads,
                unsigned shared_bytes, void **arguments)
{
    CALL(p_cuLaunchKernel(function_of(module, name), blocks, 1, 1, threads, 1, 1, shared_bytes,
                          NULL, arguments, NULL));
    CALL(p_cuCtxSynchronize());
}

static void check_add(CUmodule module)
{
    static float a[COUNT], b[COUNT], sum[COUNT];
    int count = COUNT;

    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i * 0.37f;
        b[i] = (float)(COUNT - i) * 1.7f;
    }
    CUdeviceptr of_a = device_copy(a, sizeof(a)), of_b = device_copy(b, sizeof(b));
    CUdeviceptr of_sum = device_copy(sum, sizeof(sum));
    void *arguments[] = {&of_a, &of_b, &of_sum, &count};
    run(module, "add", BLOCKS, BLOCK, 0, arguments);
    CALL(p_cuMemcpyDtoH(sum, of_sum, sizeof(sum)));
    for (int i = 0; i < COUNT; i++) {
        HOLDS(sum[i] == a[i] + b[i]);
    }
    CALL(p_cuMemFree(of_a));
    CALL(p_cuMemFree(of_b));
    CALL(p_cuMemFree(of_sum));
}

static void set_multiplier(CUmodule module)
{
    const int scale = SCALE;
    CUdeviceptr address = 0;
    size_t bytes = 0;

    CALL(p_cuModuleGetGlobal(&address, &bytes, module, "multiplier"));
    HOLDS(bytes == sizeof(scale));
    CALL(p_cuMemcpyHtoD(address, &scale, sizeof(scale)));
}

static void check_block_sum(CUmodule module)
{
    static const int table[4] = {1, 10, 100, 1000};
    static int in[COUNT], out[BLOCKS];
    int wanted[BLOCKS] = {0}, count = COUNT;
    unsigned visits = 0;
    CUdeviceptr address = 0;
    size_t bytes = 0;

    for (int i = 0; i < COUNT; i++) {
        in[i] = i * 13 % 101 - 50;
        wanted[i / BLOCK] += in[i] * SCALE;
    }
    set_multiplier(module);
    CUdeviceptr of_in = device_copy(in, sizeof(in)), of_out = device_copy(out, sizeof(out));
    void *arguments[] = {&of_in, &count, &of_out};
    run(module, "block_sum", BLOCKS, BLOCK, BLOCK * sizeof(int), arguments);
    CALL(p_cuMemcpyDtoH(out, of_out, sizeof(out)));
    for (int i = 0; i < BLOCKS; i++) {
        HOLDS(out[i] == wanted[i] + table[i % 4]);
    }
    CALL(p_cuModuleGetGlobal(&address, &bytes, module, "visits"));
    CALL(p_cuMemcpyDtoH(&visits, address, sizeof(visits)));
    HOLDS(visits == BLOCKS);
    CALL(p_cuMemFree(of_in));
    CALL(p_cuMemFree(of_out));
}

static void check_powers(CUmodule module)
{
    struct {
        char tag;
        uint64_t base;
    } pair = {'t', 23};
    uint64_t out[POWERS] = {0};
    CUdeviceptr of_out = device_copy(out, sizeof(out));
    void *arguments[] = {&pair, &of_out};

    run(module, "powers", 1, POWERS, 0, arguments);
    CALL(p_cuMemcpyDtoH(out, of_out, sizeof(out)));
    for (unsigned i = 0; i < POWERS; i++) {
        uint64_t wanted = 1;

        for (unsigned j = 0; j < i % 13; j++) {
            wanted *= 23;
        }
        HOLDS(out[i] == wanted + 't');
    }
    CALL(p_cuMemFree(of_out));
}

/* Text that is no PTX, and names that are not there. */
static void check_refusals(CUmodule module)
{
    CUfunction function;
    CUmodule none;
    CUdeviceptr address;
    size_t bytes;

    HOLDS(p_cuModuleLoadData(&none, ".version 9.0\n.target sm_90\n.address_size 64\n.entry x( {") ==
          CUDA_ERROR_INVALID_PTX);
    HOLDS(p_cuModuleGetFunction(&function, module, "no_such_kernel") == CUDA_ERROR_NOT_FOUND);
    HOLDS(p_cuModuleGetGlobal(&address, &bytes, module, "no_such_variable") ==
          CUDA_ERROR_NOT_FOUND);
}

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUdevice device = 0;
    char *text = argc == 2 ? read_text(argv[1]) : NULL;

    if (text == NULL || look_up() != 0) {
        fputs("usage: sim_ptx FILE.ptx, with a libcuda.so.1 that can be loaded\n", stderr);
        free(text);
        return 2;
    }
    CALL(p_cuInit(0));
    CALL(p_cuDeviceGet(&device, 0));
    CALL(p_cuDevicePrimaryCtxRetain(&context, device));
    CALL(p_cuCtxSetCurrent(context));
    CALL(p_cuModuleLoadData(&module, text));
    free(text);
    if (failures == 0) {
        check_add(module);
        check_block_sum(module);
        check_powers(module);
        check_refusals(module);
        CALL(p_cuModuleUnload(module));
    }
    printf("plain_ptx %s\n", failures == 0 ? "ok" : "FAILED");
    return failures != 0;
}
