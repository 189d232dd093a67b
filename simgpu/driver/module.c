/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: loading them into the current context, and finding what is in them. */
#include <stdlib.h>

#include "simgpu/driver/library.h"
#include "simgpu/order/order.h"

struct sim_function *sim_function_of(CUfunction handle, struct sim_context *context)
{
    if (sim_object_element(handle, SIM_FUNCTION, sizeof(struct sim_function))) {
        return (struct sim_function *)handle;
    }
    if (sim_object_element(handle, SIM_KERNEL, sizeof(struct sim_library_kernel))) {
        const struct sim_library_kernel *kernel = (struct sim_library_kernel *)handle;
        struct sim_image *image;
        if (sim_library_image(kernel->library, context, &image) == CUDA_SUCCESS) {
            return &image->functions[kernel->index];
        }
    }
    return NULL;
}

static CUresult load(CUmodule *module, const void *image, size_t image_bytes,
                     const struct sim_jit *jit)
{
    struct sim_context *context = sim_current();
    struct sim_image *made = NULL;
    char *ptx;
    size_t bytes;
    if (module == NULL || image == NULL ||
        (jit->count != 0 && (jit->options == NULL || jit->values == NULL))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult result = sim_image_ptx(image, image_bytes, jit, &ptx, &bytes);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = sim_image_new(ptx, bytes, NULL, jit, &made);
    free(ptx);
    if (result == CUDA_SUCCESS) {
        result = sim_image_enter(made, context);
    }
    if (result == CUDA_SUCCESS) {
        *module = (CUmodule)made;
    } else if (made != NULL) {
        sim_image_free(made);
    }
    return result;
}

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(module, image, SIZE_MAX, &(struct sim_jit){0});
}

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                CUjit_option *options, void **optionValues)
{
    struct sim_jit jit = {numOptions, options, optionValues};
    return load(module, image, SIZE_MAX, &jit);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return sim_cuModuleLoadData(module, fatCubin);
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *fname)
{
    size_t bytes;
    char *image = sim_read_file(fname, &bytes);
    if (image == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = load(module, image, bytes, &(struct sim_jit){0});
    free(image);
    return result;
}

static struct sim_image *image_of(CUmodule handle)
{
    return sim_object_is(handle, SIM_IMAGE) ? (struct sim_image *)handle : NULL;
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
    sim_order_drain();
    sim_work_stop();
    struct sim_image *image = image_of(hmod);
    CUresult result = image == NULL            ? CUDA_ERROR_INVALID_HANDLE
                      : image->library != NULL ? CUDA_ERROR_NOT_PERMITTED /* the library's own */
                                               : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        sim_image_free(image);
    }
    sim_work_resume();
    return result;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    const struct sim_image *image = image_of(hmod);
    if (hfunc == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (image == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *hfunc = (CUfunction)sim_image_function(image, name);
    return *hfunc != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    const struct sim_image *image = image_of(mod);
    if (count == NULL || image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *count = image->function_count;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                        CUmodule mod)
{
    const struct sim_image *image = image_of(mod);
    if (functions == NULL || image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned i = 0; i < numFunctions; i++) {
        functions[i] = i < image->function_count ? (CUfunction)&image->functions[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    const struct sim_image *image = image_of(hmod);
    if (name == NULL || image == NULL) {
        return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    return sim_image_global(image, name, false, dptr, bytes);
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (mode == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
