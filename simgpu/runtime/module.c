/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading what a program registered, when it is first used: libraries, which the driver loads without
 * a context, so that their kernels and variables are there on whichever device is current.
 */
#include "simgpu/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* fatbinary_section.h: the wrapper that nvcc's stubs hand over. */
#define WRAPPER_MAGIC 0x466243b1u
#define WRAPPER_OF_SEVERAL 2 /* -rdc=true: `several` lists the containers that were linked */

struct sim_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *several; /* ends with NULL */
};

/* A container and its entries, as in simgpu/fatbin/fatbin.h. */
#define CONTAINER_MAGIC 0xba55ed50u
#define PTX_ENTRY 1

struct sim_container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
};

struct sim_container_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t padded_bytes;
    uint32_t compressed_bytes, unused[2];
    uint32_t target; /* 90 = compute capability 9.0 */
};

/* PTX that the current device can use. The lengths are trusted: this is part of the program. */
static bool has_ptx(const void *image)
{
    int device = sim_current_device();
    int major = sim_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = sim_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    const struct sim_container *container = image;
    const char *at = (const char *)image + container->header_bytes;
    const char *end = at + container->body_bytes;
    if (container->magic != CONTAINER_MAGIC) {
        return false;
    }
    while ((size_t)(end - at) >= sizeof(struct sim_container_entry)) {
        struct sim_container_entry entry;
        memcpy(&entry, at, sizeof entry);
        uint64_t bytes = entry.header_bytes + entry.padded_bytes;
        if (entry.kind == PTX_ENTRY && entry.target <= (unsigned)(major * 10 + minor)) {
            return true;
        }
        if (bytes < sizeof entry || bytes > (uint64_t)(end - at)) {
            return false;
        }
        at += bytes;
    }
    return false;
}

static void load_image(struct sim_binary *binary, const void *image)
{
    CUlibrary library;
    cudaError_t error = sim_rt_error(
        SIM_CU->cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    if (error == cudaSuccess) {
        binary->libraries[binary->library_count++] = library;
    } else if (binary->error == cudaSuccess) {
        binary->error = error;
    }
}

/* The containers of a wrapper; one, the wrapper itself, unless it lists several. */
static const void *const *images_of(const struct sim_binary *binary, size_t *count)
{
    const struct sim_wrapper *wrapper = binary->image;
    if (wrapper != NULL && wrapper->magic == WRAPPER_MAGIC &&
        wrapper->version == WRAPPER_OF_SEVERAL && wrapper->several != NULL) {
        *count = 0;
        while (wrapper->several[*count] != NULL) {
            (*count)++;
        }
        return wrapper->several;
    }
    *count = 1;
    return &binary->image;
}

/* Point the host's pointers to the binary's managed variables. */
static void set_managed(const struct sim_binary *binary)
{
    struct sim_symbol *symbol;
    for (size_t i = 0; (symbol = sim_symbol_at(i)) != NULL; i++) {
        if (symbol->binary != binary || symbol->kind != SIM_MANAGED_SYMBOL) {
            continue;
        }
        CUdeviceptr address;
        size_t bytes;
        for (size_t k = 0; k < binary->library_count; k++) {
            CUlibrary library = binary->libraries[k];
            if (SIM_CU->cuLibraryGetManaged(&address, &bytes, library, symbol->name) ==
                CUDA_SUCCESS) {
                *(void **)symbol->host = (void *)address;
            }
        }
    }
}

void sim_binary_load(struct sim_binary *binary)
{
    size_t count;
    if (binary->loaded) {
        return;
    }
    const void *const *images = images_of(binary, &count);
    binary->loaded = true;
    binary->libraries = calloc(count + 1, sizeof(CUlibrary));
    if (binary->libraries == NULL) {
        binary->error = cudaErrorMemoryAllocation;
        return;
    }
    /* Of several, those without PTX were linked from libraries: only what needs them fails. */
    for (size_t i = 0; i < count; i++) {
        if (count == 1 || has_ptx(images[i])) {
            load_image(binary, images[i]);
        } else {
            binary->error = cudaErrorNoKernelImageForDevice;
        }
    }
    if (binary->library_count == 0 && count > 1) {
        load_image(binary, images[0]); /* it is the driver that says what is wrong */
    }
    set_managed(binary);
}

/* The driver may be gone already at the end of the process: what it answers is of no interest. */
void sim_binary_unload(struct sim_binary *binary)
{
    for (size_t i = 0; i < binary->library_count; i++) {
        (void)sim_driver_calls(false)->cuLibraryUnload(binary->libraries[i]);
    }
    free(binary->libraries);
    binary->libraries = NULL;
    binary->library_count = 0;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static cudaError_t look_up(struct sim_symbol *symbol)
{
    struct sim_binary *binary = symbol->binary;
    sim_binary_load(binary);
    for (size_t i = 0; symbol->kernel == NULL && i < binary->library_count; i++) {
        CUkernel kernel;
        if (SIM_CU->cuLibraryGetKernel(&kernel, binary->libraries[i], symbol->name) ==
            CUDA_SUCCESS) {
            symbol->kernel = kernel;
        }
    }
    if (symbol->kernel != NULL) {
        return cudaSuccess;
    }
    return binary->error != cudaSuccess ? binary->error : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_kernel_of(const void *function, CUkernel *kernel)
{
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    sim_symbols_lock();
    struct sim_symbol *symbol = sim_symbol_find(function);
    if (symbol != NULL && symbol->kind == SIM_KERNEL_SYMBOL) {
        error = look_up(symbol);
        *kernel = symbol->kernel;
    }
    sim_symbols_unlock();
    /* Not registered: a cudaKernel_t, which is the driver's own handle, or nothing at all. */
    CUfunction inside;
    CUkernel handle = (CUkernel)function;
    if (symbol == NULL && function != NULL &&
        SIM_CU->cuKernelGetFunction(&inside, handle) == CUDA_SUCCESS) {
        *kernel = handle;
        error = cudaSuccess;
    }
    return error;
}

/* ---- variables ------------------------------------------------------------------------------ */

static cudaError_t find_variable(const struct sim_symbol *symbol, CUdeviceptr *address,
                                 size_t *bytes)
{
    struct sim_binary *binary = symbol->binary;
    sim_binary_load(binary);
    for (size_t i = 0; i < binary->library_count; i++) {
        CUlibrary library = binary->libraries[i];
        CUresult result = symbol->kind == SIM_MANAGED_SYMBOL
                              ? SIM_CU->cuLibraryGetManaged(address, bytes, library, symbol->name)
                              : SIM_CU->cuLibraryGetGlobal(address, bytes, library, symbol->name);
        if (result == CUDA_SUCCESS) {
            return cudaSuccess;
        }
    }
    return binary->error != cudaSuccess ? binary->error : cudaErrorInvalidSymbol;
}

cudaError_t sim_symbol_of(const void *host, CUdeviceptr *address, size_t *bytes)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    sim_symbols_lock();
    const struct sim_symbol *symbol = sim_symbol_find(host);
    if (symbol != NULL && symbol->kind != SIM_KERNEL_SYMBOL) {
        error = find_variable(symbol, address, bytes);
    }
    sim_symbols_unlock();
    return error;
}
