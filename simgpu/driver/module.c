/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, kernels and their attributes (software device driver). The images are PTX text. */
#include "simgpu/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_function *sim_function_of(CUfunction handle)
{
    if (sim_object_element(handle, SIM_FUNCTION, sizeof(struct sim_function))) {
        return (struct sim_function *)handle;
    }
    if (sim_object_element(handle, SIM_KERNEL, sizeof(struct sim_kernel))) {
        return ((struct sim_kernel *)handle)->function;
    }
    return NULL;
}

static struct sim_function *named(struct sim_module *module, const char *name)
{
    for (unsigned i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i].name, name) == 0) {
            return &module->functions[i];
        }
    }
    return NULL;
}

static char *read_file(const char *path)
{
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    char *text = NULL;
    size_t used = 0, got;
    if (file == NULL) {
        return NULL;
    }
    do {
        char *grown = realloc(text, used + 65537);
        if (grown == NULL) {
            break;
        }
        text = grown;
        got = fread(text + used, 1, 65536, file);
        used += got;
        text[used] = '\0';
    } while (got != 0);
    fclose(file);
    return text;
}

/* ---- modules ---- */

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image)
{
    struct sim_context *context = sim_current();
    struct sim_module **made = (struct sim_module **)module;
    CUresult result = context == NULL ? CUDA_ERROR_INVALID_CONTEXT : sim_module_parse(image, made);
    if (result == CUDA_SUCCESS) {
        sim_object_own((*made)->functions, context);
    }
    return result;
}

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                CUjit_option *options, void **optionValues)
{
    return numOptions != 0 && (options == NULL || optionValues == NULL)
               ? CUDA_ERROR_INVALID_VALUE
               : sim_cuModuleLoadData(module, image);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return sim_cuModuleLoadData(module, fatCubin);
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *fname)
{
    char *text = read_file(fname);
    if (text == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = sim_cuModuleLoadData(module, text);
    free(text);
    return result;
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
    if (!sim_object_is(hmod, SIM_MODULE)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    sim_module_free((struct sim_module *)hmod);
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    if (hfunc == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_object_is(hmod, SIM_MODULE)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    struct sim_function *function = named((struct sim_module *)hmod, name);
    *hfunc = (CUfunction)function;
    return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    if (count == NULL || !sim_object_is(mod, SIM_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *count = ((struct sim_module *)mod)->function_count;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                        CUmodule mod)
{
    if (functions == NULL || !sim_object_is(mod, SIM_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_module *module = (struct sim_module *)mod;
    for (unsigned i = 0; i < numFunctions; i++) {
        functions[i] = i < module->function_count ? (CUfunction)&module->functions[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    if (name == NULL || !sim_object_is(hmod, SIM_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_module *module = (struct sim_module *)hmod;
    for (unsigned i = 0; i < module->global_count; i++) {
        if (strcmp(module->globals[i].name, name) == 0) {
            if (dptr != NULL) {
                *dptr = (CUdeviceptr)module->globals[i].data;
            }
            if (bytes != NULL) {
                *bytes = module->globals[i].bytes;
            }
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (mode == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* ---- libraries ---- */

static CUresult library_new(CUlibrary *library, const char *text)
{
    struct sim_module *module;
    if (library == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_module_parse(text, &module);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct sim_library *made = sim_object_new(SIM_LIBRARY, sizeof *made);
    size_t count = module->function_count != 0 ? module->function_count : 1;
    struct sim_kernel *kernels = sim_object_new(SIM_KERNEL, count * sizeof *kernels);
    if (made == NULL || kernels == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        kernels[i] = (struct sim_kernel){.function = &module->functions[i], .library = made};
    }
    *made = (struct sim_library){.module = module, .kernels = kernels};
    *library = (CUlibrary)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    bool jit_ok = numJitOptions == 0 || (jitOptions != NULL && jitOptionsValues != NULL);
    bool options_ok = numLibraryOptions == 0 ||
                      (libraryOptions != NULL && libraryOptionValues != NULL);
    return jit_ok && options_ok ? library_new(library, code) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                   CUjit_option *jitOptions, void **jitOptionsValues,
                                   unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned int numLibraryOptions)
{
    char *text = read_file(fileName);
    if (text == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = sim_cuLibraryLoadData(library, text, jitOptions, jitOptionsValues,
                                            numJitOptions, libraryOptions, libraryOptionValues,
                                            numLibraryOptions);
    free(text);
    return result;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
    if (!sim_object_is(library, SIM_LIBRARY)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    struct sim_library *gone = (struct sim_library *)library;
    sim_module_free(gone->module);
    sim_object_delete(gone->kernels, SIM_KERNEL);
    sim_object_delete(gone, SIM_LIBRARY);
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    if (pKernel == NULL || name == NULL || !sim_object_is(library, SIM_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_library *found = (struct sim_library *)library;
    const struct sim_function *function = named(found->module, name);
    *pKernel = function != NULL ? (CUkernel)&found->kernels[function - found->module->functions]
                                : NULL;
    return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    if (pMod == NULL || !sim_object_is(library, SIM_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pMod = (CUmodule)((struct sim_library *)library)->module;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    CUmodule module;
    CUresult result = sim_cuLibraryGetModule(&module, lib);
    return result != CUDA_SUCCESS ? result : sim_cuModuleGetFunctionCount(count, module);
}

CUresult sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    if (kernels == NULL || !sim_object_is(lib, SIM_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct sim_library *library = (struct sim_library *)lib;
    for (unsigned i = 0; i < numKernels; i++) {
        kernels[i] = i < library->module->function_count ? (CUkernel)&library->kernels[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                const char *name)
{
    CUmodule module;
    CUresult result = sim_cuLibraryGetModule(&module, library);
    return result != CUDA_SUCCESS ? result : sim_cuModuleGetGlobal_v2(dptr, bytes, module, name);
}

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    if (pFunc == NULL || !sim_object_element(kernel, SIM_KERNEL, sizeof(struct sim_kernel))) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pFunc = (CUfunction)((struct sim_kernel *)kernel)->function;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    if (pLib == NULL || !sim_object_element(kernel, SIM_KERNEL, sizeof(struct sim_kernel))) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pLib = (CUlibrary)((struct sim_kernel *)kernel)->library;
    return CUDA_SUCCESS;
}

/* ---- functions ---- */

CUresult sim_cuFuncGetName(const char **name, CUfunction hfunc)
{
    const struct sim_function *function = sim_function_of(hfunc);
    if (name == NULL || function == NULL) {
        return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
    return sim_cuFuncGetName(name, (CUfunction)hfunc);
}

CUresult sim_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    const struct sim_function *function = sim_function_of(hfunc);
    if (hmod == NULL || function == NULL) {
        return hmod == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *hmod = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                size_t *paramSize)
{
    const struct sim_function *function = sim_function_of(func);
    if (function == NULL || paramOffset == NULL || paramIndex >= function->param_count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *paramOffset = function->params[paramIndex].offset;
    if (paramSize != NULL) {
        *paramSize = function->params[paramIndex].bytes;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                  size_t *paramSize)
{
    return sim_cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    const struct sim_function *function = sim_function_of(hfunc);
    if (pi == NULL || function == NULL) {
        return pi == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *pi = function->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *pi = function->static_shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *pi = function->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *pi = 32; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *pi = 90; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *pi = function->max_dynamic_shared_bytes;
        break;
    default:
        *pi = 0;
        return (unsigned)attrib < CU_FUNC_ATTRIBUTE_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                  CUdevice dev)
{
    return sim_device_valid(dev) ? sim_cuFuncGetAttribute(pi, attrib, (CUfunction)kernel)
                                 : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct sim_function *function = sim_function_of(hfunc);
    if (function == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || value > 232448) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        function->max_dynamic_shared_bytes = value;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                  CUdevice dev)
{
    return sim_device_valid(dev) ? sim_cuFuncSetAttribute((CUfunction)kernel, attrib, val)
                                 : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    return sim_function_of(hfunc) == NULL ? CUDA_ERROR_INVALID_HANDLE
                                          : sim_cuCtxSetCacheConfig(config);
}

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (state == NULL || sim_function_of(function) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncLoad(CUfunction function)
{
    return sim_function_of(function) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- occupancy: the limits of compute capability 9.0 ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                         int blockSize, size_t dynamicSMemSize)
{
    const struct sim_function *function = sim_function_of(func);
    if (numBlocks == NULL || blockSize <= 0 || function == NULL) {
        return function == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
    int warps = (blockSize + 31) / 32;
    size_t shared = ((size_t)function->static_shared_bytes + dynamicSMemSize + 1024 + 127) / 128 *
                    128;
    int blocks = least(32, 64 / warps);                /* resident blocks and warps */
    blocks = least(blocks, 65536 / (32 * 32) / warps); /* 32 registers per thread */
    blocks = least(blocks, (int)(233472 / shared));
    *numBlocks = blockSize > function->max_threads ? 0 : blocks;
    return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize,
                                                                  unsigned int flags)
{
    return flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
               ? CUDA_ERROR_INVALID_VALUE
               : sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize,
                                                                 dynamicSMemSize);
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit)
{
    const struct sim_function *function = sim_function_of(func);
    if (minGridSize == NULL || blockSize == NULL || function == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int best = least(function->max_threads, blockSizeLimit > 0 ? blockSizeLimit : 1024);
    int blocks;
    size_t shared = blockSizeToDynamicSMemSize != NULL ? blockSizeToDynamicSMemSize(best)
                                                       : dynamicSMemSize;
    CUresult result = sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, func, best, shared);
    if (result == CUDA_SUCCESS) {
        *blockSize = best;
        *minGridSize = blocks * 132;
    }
    return result;
}
