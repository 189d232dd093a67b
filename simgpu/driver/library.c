/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries: PTX that every context may use, and the kernels in it. */
#include <stdlib.h>

#include "simgpu/driver/library.h"
#include "simgpu/order/order.h"

/* ---- images of a library ---- */

/* Attributes that were set for the device before. */
static void take_over(struct sim_library *library, struct sim_image *image)
{
    for (unsigned i = 0; i < image->function_count; i++) {
        int bytes = library->kernels[i].max_dynamic_bytes[image->context->device];
        if (bytes != 0) {
            image->functions[i].max_dynamic_bytes = bytes;
        }
    }
}

/* The image of that context; else one that no context uses yet. Library locked. */
static struct sim_image *find(const struct sim_library *library, const struct sim_context *context)
{
    struct sim_image *unused = NULL;
    for (struct sim_image *image = library->images; image != NULL; image = image->next) {
        if (image->context == context || context == NULL) {
            return image;
        }
        if (image->context == NULL) {
            unused = image;
        }
    }
    return unused;
}

CUresult sim_library_image(struct sim_library *library, struct sim_context *context,
                           struct sim_image **out)
{
    CUresult result = CUDA_SUCCESS;
    sim_library_lock();
    struct sim_image *image = find(library, context);
    if (image == NULL) {
        result = sim_image_new(library->ptx, library->ptx_bytes, library, NULL, &image);
        if (result == CUDA_SUCCESS) {
            image->next = library->images;
            library->images = image;
        }
    }
    if (result == CUDA_SUCCESS && context != NULL && image->context == NULL) {
        result = sim_image_enter(image, context);
        take_over(library, image);
    }
    sim_library_unlock();
    *out = result == CUDA_SUCCESS ? image : NULL;
    return result;
}

CUresult sim_library_set(struct sim_library_kernel *kernel, CUdevice device,
                         CUfunction_attribute attribute, int value,
                         CUresult (*set)(struct sim_function *, CUfunction_attribute, int))
{
    struct sim_image *any;
    CUresult result = sim_library_image(kernel->library, NULL, &any);
    sim_library_lock();
    /* An image that no context uses yet only says whether the value is right. */
    struct sim_function scratch = result == CUDA_SUCCESS ? any->functions[kernel->index]
                                                         : (struct sim_function){0};
    result = result == CUDA_SUCCESS ? set(&scratch, attribute, value) : result;
    struct sim_image *image = result == CUDA_SUCCESS ? kernel->library->images : NULL;
    for (; image != NULL; image = image->next) {
        if (image->context != NULL && image->context->device == device) {
            (void)set(&image->functions[kernel->index], attribute, value);
        }
    }
    if (result == CUDA_SUCCESS && attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        kernel->max_dynamic_bytes[device] = value;
    }
    sim_library_unlock();
    return result;
}

/* ---- libraries ---- */

/* Work lock held for writing, or nobody knows the library yet. */
static void library_free(struct sim_library *library)
{
    while (library->images != NULL) {
        sim_image_free(library->images);
    }
    sim_library_unshare(library);
    free(library->ptx);
    if (library->kernels != NULL) {
        sim_object_delete(library->kernels, SIM_KERNEL);
    }
    sim_object_delete(library, SIM_LIBRARY);
}

/* Takes `ptx` over. */
static CUresult library_new(CUlibrary *library, char *ptx, size_t bytes, const struct sim_jit *jit)
{
    struct sim_library *made = sim_object_new(SIM_LIBRARY, sizeof *made, NULL);
    if (made == NULL) {
        free(ptx);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->ptx = ptx;
    made->ptx_bytes = bytes;
    CUresult result = sim_image_new(ptx, bytes, made, jit, &made->images);
    if (result == CUDA_SUCCESS) {
        made->kernel_count = made->images->function_count;
        size_t count = made->kernel_count != 0 ? made->kernel_count : 1;
        made->kernels = sim_object_new(SIM_KERNEL, count * sizeof *made->kernels, NULL);
        result = made->kernels != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS) {
        library_free(made);
        return result;
    }
    for (unsigned i = 0; i < made->kernel_count; i++) {
        made->kernels[i].library = made;
        made->kernels[i].index = i;
    }
    *library = (CUlibrary)made;
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *library, const void *code, size_t code_bytes,
                     const struct sim_jit *jit)
{
    char *ptx;
    size_t bytes;
    if (library == NULL || code == NULL ||
        (jit->count != 0 && (jit->options == NULL || jit->values == NULL))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_image_ptx(code, code_bytes, jit, &ptx, &bytes);
    return result != CUDA_SUCCESS ? result : library_new(library, ptx, bytes, jit);
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    struct sim_jit jit = {numJitOptions, jitOptions, jitOptionsValues};
    (void)libraryOptionValues; /* hints on what may be kept instead of copied */
    return numLibraryOptions != 0 && libraryOptions == NULL ? CUDA_ERROR_INVALID_VALUE
                                                            : load(library, code, SIZE_MAX, &jit);
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                   CUjit_option *jitOptions, void **jitOptionsValues,
                                   unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                   void **libraryOptionValues, unsigned int numLibraryOptions)
{
    struct sim_jit jit = {numJitOptions, jitOptions, jitOptionsValues};
    size_t bytes;
    (void)libraryOptionValues;
    if (numLibraryOptions != 0 && libraryOptions == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    char *code = sim_read_file(fileName, &bytes);
    if (code == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = load(library, code, bytes, &jit);
    free(code);
    return result;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
    sim_order_drain();
    sim_work_stop();
    bool is = sim_object_is(library, SIM_LIBRARY);
    if (is) {
        library_free((struct sim_library *)library);
    }
    sim_work_resume();
    return is ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* In the current context. */
static CUresult image_here(CUlibrary library, struct sim_image **image)
{
    struct sim_context *context = sim_current();
    return !sim_object_is(library, SIM_LIBRARY) ? CUDA_ERROR_INVALID_HANDLE
           : context == NULL                    ? CUDA_ERROR_INVALID_CONTEXT
                             : sim_library_image((struct sim_library *)library, context, image);
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct sim_image *image;
    if (pKernel == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!sim_object_is(library, SIM_LIBRARY)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const struct sim_library *found = (struct sim_library *)library;
    CUresult result = sim_library_image((struct sim_library *)library, NULL, &image);
    const struct sim_function *function = result == CUDA_SUCCESS ? sim_image_function(image, name)
                                                                 : NULL;
    if (function == NULL) {
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_FOUND;
    }
    *pKernel = (CUkernel)&found->kernels[function->index];
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct sim_image *image;
    CUresult result = pMod == NULL ? CUDA_ERROR_INVALID_VALUE : image_here(library, &image);
    if (result == CUDA_SUCCESS) {
        *pMod = (CUmodule)image;
    }
    return result;
}

CUresult sim_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    if (count == NULL || !sim_object_is(lib, SIM_LIBRARY)) {
        return count == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *count = ((struct sim_library *)lib)->kernel_count;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    if (kernels == NULL || !sim_object_is(lib, SIM_LIBRARY)) {
        return kernels == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    const struct sim_library *library = (struct sim_library *)lib;
    for (unsigned i = 0; i < numKernels; i++) {
        kernels[i] = i < library->kernel_count ? (CUkernel)&library->kernels[i] : NULL;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                const char *name)
{
    struct sim_image *image;
    CUresult result = name == NULL ? CUDA_ERROR_INVALID_VALUE : image_here(library, &image);
    return result != CUDA_SUCCESS ? result : sim_image_global(image, name, false, dptr, bytes);
}

CUresult sim_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                 const char *name)
{
    struct sim_image *image;
    if (name == NULL || !sim_object_is(library, SIM_LIBRARY)) {
        return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = sim_library_image((struct sim_library *)library, NULL, &image);
    return result != CUDA_SUCCESS ? result : sim_image_global(image, name, true, dptr, bytes);
}

/* ---- kernels ---- */

static struct sim_library_kernel *kernel_of(CUkernel handle)
{
    return sim_object_element(handle, SIM_KERNEL, sizeof(struct sim_library_kernel))
               ? (struct sim_library_kernel *)handle
               : NULL;
}

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    const struct sim_library_kernel *found = kernel_of(kernel);
    struct sim_image *image;
    if (pFunc == NULL || found == NULL) {
        return pFunc == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = image_here((CUlibrary)found->library, &image);
    if (result == CUDA_SUCCESS) {
        *pFunc = (CUfunction)&image->functions[found->index];
    }
    return result;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    const struct sim_library_kernel *found = kernel_of(kernel);
    if (pLib == NULL || found == NULL) {
        return pLib == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *pLib = (CUlibrary)found->library;
    return CUDA_SUCCESS;
}
