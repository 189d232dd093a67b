/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel, and what may be set: attributes, parameters, preferences. */
#include "simgpu/driver/library.h"

/* For queries: in the current context, or as loaded in any. */
static struct sim_function *function_of(CUfunction handle)
{
    return sim_function_of(handle, sim_current());
}

static CUresult name_of(const char **name, CUfunction handle)
{
    const struct sim_function *function = function_of(handle);
    if (name == NULL || function == NULL) {
        return name == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *name = function->info->name;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetName(const char **name, CUfunction hfunc)
{
    return name_of(name, hfunc);
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
    return name_of(name, (CUfunction)hfunc);
}

CUresult sim_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    const struct sim_function *function = function_of(hfunc);
    if (hmod == NULL || function == NULL) {
        return hmod == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *hmod = (CUmodule)function->image;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                                size_t *paramSize)
{
    const struct sim_function *function = function_of(func);
    if (function == NULL || paramOffset == NULL || paramIndex >= function->info->param_count) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *paramOffset = function->info->params[paramIndex].offset;
    if (paramSize != NULL) {
        *paramSize = function->info->params[paramIndex].bytes;
    }
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                                  size_t *paramSize)
{
    return sim_cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

/* ---- attributes ---- */

static CUresult get(const struct sim_function *function, CUfunction_attribute attribute, int *value)
{
    const struct sim_kernel_info *info = function->info;
    const int target = SIM_COMPUTE_MAJOR * 10 + SIM_COMPUTE_MINOR;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info->max_threads_per_block; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)function->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)function->image->target; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = target; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = info->needs_cluster; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* What a block may have beyond its static shared memory, after opting in. */
static CUresult set_dynamic(struct sim_function *function, int value)
{
    if (value < 0 ||
        (size_t)value + function->info->static_shared_bytes > (size_t)SIM_MAX_SHARED_BYTES) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    function->max_dynamic_bytes = value;
    return CUDA_SUCCESS;
}

static CUresult set(struct sim_function *function, CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return set_dynamic(function, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    const struct sim_function *function = function_of(hfunc);
    if (pi == NULL || function == NULL) {
        return pi == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    return get(function, attrib, pi);
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct sim_function *function = function_of(hfunc);
    return function == NULL ? CUDA_ERROR_INVALID_HANDLE : set(function, attrib, value);
}

/* A kernel's attributes are those of a device, whichever contexts use it there. */
static struct sim_library_kernel *kernel_of(CUkernel handle)
{
    return sim_object_element(handle, SIM_KERNEL, sizeof(struct sim_library_kernel))
               ? (struct sim_library_kernel *)handle
               : NULL;
}

CUresult sim_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
                                  CUdevice dev)
{
    const struct sim_library_kernel *found = kernel_of(kernel);
    const struct sim_function *function = function_of((CUfunction)kernel);
    if (pi == NULL || !sim_device_valid(dev)) {
        return pi == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
    }
    if (found == NULL || function == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult result = get(function, attrib, pi);
    if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        found->max_dynamic_bytes[dev] != 0) {
        *pi = found->max_dynamic_bytes[dev];
    }
    return result;
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                  CUdevice dev)
{
    struct sim_library_kernel *found = kernel_of(kernel);
    if (!sim_device_valid(dev) || found == NULL) {
        return found == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_DEVICE;
    }
    return sim_library_set(found, dev, attrib, val, set);
}

/* ---- preferences: they choose how much of one memory is cache and change no result ---- */

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    return function_of(hfunc) == NULL                      ? CUDA_ERROR_INVALID_HANDLE
           : (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_SUCCESS;
}

CUresult sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    return sim_device_valid(dev) ? sim_cuFuncSetCacheConfig((CUfunction)kernel, config)
                                 : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    return function_of(hfunc) == NULL ? CUDA_ERROR_INVALID_HANDLE
           : (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                          : CUDA_SUCCESS;
}

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (state == NULL || function_of(function) == NULL) {
        return state == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncLoad(CUfunction function)
{
    return function_of(function) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
