/* SPDX-License-Identifier: Apache-2.0 */
/* The linker: one input of PTX (or a fat binary with PTX) is handed on; more are refused. */
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/library.h"

struct sim_link {
    struct sim_jit jit; /* the arrays stay the caller's until cuLinkDestroy, as the API demands */
    char *ptx;
    size_t bytes;
};

static struct sim_link *link_of(CUlinkState handle)
{
    return sim_object_is(handle, SIM_LINK) ? (struct sim_link *)handle : NULL;
}

CUresult sim_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                             CUlinkState *stateOut)
{
    struct sim_context *context = sim_current();
    if (stateOut == NULL || (numOptions != 0 && (options == NULL || optionValues == NULL))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    struct sim_link *link = sim_object_new(SIM_LINK, sizeof *link, NULL);
    if (link == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    link->jit = (struct sim_jit){numOptions, options, optionValues};
    *stateOut = (CUlinkState)link;
    return CUDA_SUCCESS;
}

static CUresult add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes)
{
    struct sim_link *link = link_of(state);
    if (link == NULL || data == NULL || bytes == 0) {
        return link == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
        sim_say("linking machine code or libraries is not supported: only PTX is executed");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (link->ptx != NULL) {
        sim_say("linking several PTX inputs is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return sim_image_ptx(data, bytes, &link->jit, &link->ptx, &link->bytes);
}

CUresult sim_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned int numOptions, CUjit_option *options,
                              void **optionValues)
{
    (void)name;
    return numOptions != 0 && (options == NULL || optionValues == NULL)
               ? CUDA_ERROR_INVALID_VALUE
               : add(state, type, data, size);
}

CUresult sim_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    size_t bytes;
    if (numOptions != 0 && (options == NULL || optionValues == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    char *data = sim_read_file(path, &bytes);
    if (data == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    CUresult result = add(state, type, data, bytes);
    free(data);
    return result;
}

CUresult sim_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                          CUlinkState *stateOut)
{
    return sim_cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                           const char *name, unsigned int numOptions, CUjit_option *options,
                           void **optionValues)
{
    return sim_cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues);
}

CUresult sim_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                           unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    return sim_cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}

/* The result is the PTX itself: it is checked by loading it, and belongs to the state. */
CUresult sim_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct sim_link *link = link_of(state);
    struct sim_image *image;
    if (link == NULL || cubinOut == NULL) {
        return link == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
    if (link->ptx == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = sim_image_new(link->ptx, link->bytes, NULL, &link->jit, &image);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    sim_image_free(image);
    *cubinOut = link->ptx;
    if (sizeOut != NULL) {
        *sizeOut = link->bytes + 1;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuLinkDestroy(CUlinkState state)
{
    struct sim_link *link = link_of(state);
    if (link == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    free(link->ptx);
    sim_object_delete(link, SIM_LINK);
    return CUDA_SUCCESS;
}
