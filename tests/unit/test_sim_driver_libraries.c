/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries: one image of PTX for all contexts, their variables in each, and the linker. */
#include <string.h>

#include "sim_driver_fixture.h"

Test(sim_driver_libraries, each_context_has_the_variables_of_a_library_but_for_managed_ones)
{
    CUlibrary library;
    CUkernel kernel;
    CUcontext second;
    CUdeviceptr here, there, common, common_there;
    CUcontext first = sim_start(2);
    OK(cuLibraryLoadData(&library, sim_ptx_variables, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuLibraryGetGlobal(&here, NULL, library, "counter"));
    OK(cuLibraryGetManaged(&common, NULL, library, "common"));
    cr_expect_eq(sim_word_at(common), 9);
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxSetCurrent(second));
    OK(cuLibraryGetGlobal(&there, NULL, library, "counter"));
    OK(cuLibraryGetManaged(&common_there, NULL, library, "common"));
    cr_expect_neq(here, there);
    cr_expect_eq(common, common_there);
    OK(sim_launch_one((CUfunction)kernel, 1, NULL));
    cr_expect_eq(sim_word_at(here), 5);
    cr_expect_eq(sim_word_at(there), 27);
    cr_expect_eq(sim_word_at(common), 27);
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuCtxSetCurrent(first));
    OK(sim_launch_one((CUfunction)kernel, 1, NULL));
    cr_expect_eq(sim_word_at(here), 27);
    OK(cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(library));
    FAILS(CUDA_ERROR_INVALID_HANDLE, sim_launch_one((CUfunction)kernel, 1, NULL));
}

Test(sim_driver_libraries, a_library_needs_no_context)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    const char *name;
    unsigned count;
    OK(cuInit(0));
    OK(cuLibraryLoadData(&library, sim_ptx_variables, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    cr_expect_eq(count, 1);
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    OK(cuKernelGetName(&name, kernel));
    cr_expect_str_eq(name, "bump");
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetFunction(&function, kernel));
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
    sim_start(1);
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 100000, NULL, NULL, NULL));
}

Test(sim_driver_libraries, one_ptx_input_can_be_linked)
{
    CUlinkState link;
    CUmodule module;
    CUfunction bump;
    void *image;
    size_t bytes;
    sim_start(1);
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)sim_ptx_variables,
                     strlen(sim_ptx_variables) + 1, "a", 0, NULL, NULL));
    FAILS(CUDA_ERROR_NOT_SUPPORTED,
          cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)sim_ptx_variables,
                        strlen(sim_ptx_variables) + 1, "b", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&bump, module, "bump"));
    OK(sim_launch_one(bump, 1, NULL));
    OK(cuCtxSynchronize());
}
