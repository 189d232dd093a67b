/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, kernels and their attributes (stand-in driver). The images are PTX text. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_function *fake_function_of(CUfunction handle)
{
    if (fake_object_element(handle, FAKE_FUNCTION, sizeof(struct fake_function))) {
        return (struct fake_function *)handle;
    }
    if (fake_object_element(handle, FAKE_KERNEL, sizeof(struct fake_kernel))) {
        return ((struct fake_kernel *)handle)->function;
    }
    return NULL;
}

static struct fake_function *named(struct fake_module *module, const char *name)
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

CUresult fake_cuModuleLoadData(CUmodule *module, const void *image)
{
    struct fake_context *context = fake_current();
    struct fake_module **made = (struct fake_module **)module;
    CUresult result = context == NULL ? CUDA_ERROR_INVALID_CONTEXT : fake_module_parse(image, made);
    if (result == CUDA_SUCCESS) {
        fake_object_own((*made)->functions, context);
    }
    return result;
}

CUresult fake_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                 CUjit_option *options, void **optionValues)
{
    return numOptions != 0 && (options == NULL || optionValues == NULL)
               ? CUDA_ERROR_INVALID_VALUE
               : fake_cuModuleLoadData(module, image);
}

CUresult fake_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return fake_cuModuleLoadData(module, fatCubin);
}

CUresult fake_cuModuleLoad(CUmodule *module, const char *fname)
{
    char *text = read_file(fname);
    if (text == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = fake_cuModuleLoadData(module, text);
    free(text);
    return result;
}

CUresult fake_cuModuleUnload(CUmodule hmod)
{
    if (!fake_object_is(hmod, FAKE_MODULE)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    fake_module_free((struct fake_module *)hmod);
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    if (hfunc == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!fake_object_is(hmod, FAKE_MODULE)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    struct fake_function *function = named((struct fake_module *)hmod, name);
    *hfunc = (CUfunction)function;
    return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    if (count == NULL || !fake_object_is(mod, FAKE_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *count = ((struct fake_module *)mod)->function_count;
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                         CUmodule mod)
{
    if (functions == NULL || !fake_object_is(mod, FAKE_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct fake_module *module = (struct fake_module *)mod;
    for (unsigned i = 0; i < numFunctions; i++) {
        functions[i] = i < module->function_count ? (CUfunction)&module->functions[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                                   const char *name)
{
    if (name == NULL || !fake_object_is(hmod, FAKE_MODULE)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct fake_module *module = (struct fake_module *)hmod;
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

CUresult fake_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
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
    struct fake_module *module;
    if (library == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = fake_module_parse(text, &module);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct fake_library *made = fake_object_new(FAKE_LIBRARY, sizeof *made);
    size_t count = module->function_count != 0 ? module->function_count : 1;
    struct fake_kernel *kernels = fake_object_new(FAKE_KERNEL, count * sizeof *kernels);
    if (made == NULL || kernels == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        kernels[i] = (struct fake_kernel){.function = &module->functions[i], .library = made};
    }
    *made = (struct fake_library){.module = module, .kernels = kernels};
    *library = (CUlibrary)made;
    return CUDA_SUCCESS;
}

CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                void **jitOptionsValues, unsigned int numJitOptions,
                                CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                unsigned int numLibraryOptions)
{
    bool jit_ok = numJitOptions == 0 || (jitOptions != NULL && jitOptionsValues != NULL);
    bool options_ok = numLibraryOptions == 0 ||
                      (libraryOptions != NULL && libraryOptionValues != NULL);
    return jit_ok && options_ok ? library_new(library, code) : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                    CUjit_option *jitOptions, void **jitOptionsValues,
                                    unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                    void **libraryOptionValues, unsigned int numLibraryOptions)
{
    char *text = read_file(fileName);
    if (text == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = fake_cuLibraryLoadData(library, text, jitOptions, jitOptionsValues,
                                             numJitOptions, libraryOptions, libraryOptionValues,
                                             numLibraryOptions);
    free(text);
    return result;
}

CUresult fake_cuLibraryUnload(CUlibrary library)
{
    if (!fake_object_is(library, FAKE_LIBRARY)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    struct fake_library *gone = (struct fake_library *)library;
    fake_module_free(gone->module);
    fake_object_delete(gone->kernels, FAKE_KERNEL);
    fake_object_delete(gone, FAKE_LIBRARY);
    return CUDA_SUCCESS;
}

CUresult fake_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    if (pKernel == NULL || name == NULL || !fake_object_is(library, FAKE_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct fake_library *found = (struct fake_library *)library;
    const struct fake_function *function = named(found->module, name);
    *pKernel = function != NULL ? (CUkernel)&found->kernels[function - found->module->functions]
                                : NULL;
    return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    if (pMod == NULL || !fake_object_is(library, FAKE_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pMod = (CUmodule)((struct fake_library *)library)->module;
    return CUDA_SUCCESS;
}

CUresult fake_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    CUmodule module;
    CUresult result = fake_cuLibraryGetModule(&module, lib);
    return result != CUDA_SUCCESS ? result : fake_cuModuleGetFunctionCount(count, module);
}

CUresult fake_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    if (kernels == NULL || !fake_object_is(lib, FAKE_LIBRARY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const struct fake_library *library = (struct fake_library *)lib;
    for (unsigned i = 0; i < numKernels; i++) {
        kernels[i] = i < library->module->function_count ? (CUkernel)&library->kernels[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                 const char *name)
{
    CUmodule module;
    CUresult result = fake_cuLibraryGetModule(&module, library);
    return result != CUDA_SUCCESS ? result : fake_cuModuleGetGlobal_v2(dptr, bytes, module, name);
}

CUresult fake_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    if (pFunc == NULL || !fake_object_element(kernel, FAKE_KERNEL, sizeof(struct fake_kernel))) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pFunc = (CUfunction)((struct fake_kernel *)kernel)->function;
    return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    if (pLib == NULL || !fake_object_element(kernel, FAKE_KERNEL, sizeof(struct fake_kernel))) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *pLib = (CUlibrary)((struct fake_kernel *)kernel)->library;
    return CUDA_SUCCESS;
}

/* ---- functions ---- */

CUresult fake_cuFuncGetName(const char **name, CUfunction hfunc)
{
    const struct fake_function *function = fake_function_of(hfunc);
    if (name == NULL || function == NULL) {
        return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetName(const char **name, CUkernel hfunc)
{
    return fake_cuFuncGetName(name, (CUfunction)hfunc);
}

CUresult fake_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    const struct fake_function *function = fake_function_of(hfunc);
    if (hmod == NULL || function == NULL) {
        return hmod == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *hmod = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult fake_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                 size_t *paramSize)
{
    const struct fake_function *function = fake_function_of(func);
    if (function == NULL || paramOffset == NULL || paramIndex >= function->param_count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *paramOffset = function->params[paramIndex].offset;
    if (paramSize != NULL) {
        *paramSize = function->params[paramIndex].bytes;
    }
    return CUDA_SUCCESS;
}

CUresult fake_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                   size_t *paramSize)
{
    return fake_cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

CUresult fake_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    const struct fake_function *function = fake_function_of(hfunc);
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

CUresult fake_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                   CUdevice dev)
{
    return fake_device_valid(dev) ? fake_cuFuncGetAttribute(pi, attrib, (CUfunction)kernel)
                                  : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fake_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct fake_function *function = fake_function_of(hfunc);
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

CUresult fake_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                   CUdevice dev)
{
    return fake_device_valid(dev) ? fake_cuFuncSetAttribute((CUfunction)kernel, attrib, val)
                                  : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fake_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    return fake_function_of(hfunc) == NULL ? CUDA_ERROR_INVALID_HANDLE
                                           : fake_cuCtxSetCacheConfig(config);
}

CUresult fake_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (state == NULL || fake_function_of(function) == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult fake_cuFuncLoad(CUfunction function)
{
    return fake_function_of(function) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- occupancy: the limits of compute capability 9.0 ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                          int blockSize, size_t dynamicSMemSize)
{
    const struct fake_function *function = fake_function_of(func);
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

CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags)
{
    return flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
               ? CUDA_ERROR_INVALID_VALUE
               : fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize,
                                                                  dynamicSMemSize);
}

CUresult fake_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                               CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                               size_t dynamicSMemSize, int blockSizeLimit)
{
    const struct fake_function *function = fake_function_of(func);
    if (minGridSize == NULL || blockSize == NULL || function == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int best = least(function->max_threads, blockSizeLimit > 0 ? blockSizeLimit : 1024);
    int blocks;
    size_t shared = blockSizeToDynamicSMemSize != NULL ? blockSizeToDynamicSMemSize(best)
                                                       : dynamicSMemSize;
    CUresult result = fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, func, best, shared);
    if (result == CUDA_SUCCESS) {
        *blockSize = best;
        *minGridSize = blocks * 132;
    }
    return result;
}
