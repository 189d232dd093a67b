/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries: what loads, what does not and what is said of it, variables in contexts. */
#include <stdio.h>
#include <string.h>

#include "sim_driver_fixture.h"

Test(sim_driver_modules, variables_are_memory)
{
    CUmodule module;
    CUfunction bump;
    CUdeviceptr counter, table, base;
    size_t bytes;
    unsigned seven = 7;
    sim_start(1);
    OK(cuModuleLoadData(&module, sim_ptx_variables));
    OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    cr_expect_eq(bytes, 4);
    cr_expect_eq(sim_word_at(counter), 5);
    OK(cuModuleGetFunction(&bump, module, "bump"));
    OK(sim_launch_one(bump, 1, NULL));
    cr_expect_eq(sim_word_at(counter), 5 + 22);
    OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
    cr_expect_eq(bytes, 8);
    OK(cuMemcpyHtoD(table + 4, &seven, 4));
    OK(sim_launch_one(bump, 1, NULL));
    cr_expect_eq(sim_word_at(counter), 5 + 22 + 7);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(counter));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&base, NULL, module, "absent"));
    OK(cuModuleUnload(module));
    FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, NULL, counter));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
}

static void store_through(CUfunction reach, CUdeviceptr address, CUresult expected)
{
    OK(sim_launch_one(reach, 1, (void *[]){&address}));
    FAILS(expected, cuCtxSynchronize());
}

Test(sim_driver_modules, kernels_cannot_write_constants)
{
    CUmodule module;
    CUdeviceptr table;
    sim_start(1);
    OK(cuModuleLoadData(&module, sim_ptx_variables));
    OK(cuModuleGetGlobal(&table, NULL, module, "table"));
    store_through(sim_kernel_of(sim_ptx_faults, "reach"), table, CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- what does not load ---- */

Test(sim_driver_modules, errors_name_the_line_in_the_log_and_on_stderr)
{
    char log[200] = "";
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    sim_start(1);
    sim_capture_stderr();
    FAILS(CUDA_ERROR_INVALID_PTX,
          cuModuleLoadDataEx(&module,
                             SIM_PTX_HEAD ".visible .entry k()\n{\n add.u32 %r1, 1, 2;\n}\n", 2,
                             options, values));
    const char *said = sim_captured_stderr();
    cr_expect_not_null(strstr(log, "line 6"), "%s", log);
    cr_expect_eq((size_t)values[1], strlen(log) + 1);
    cr_expect_not_null(strstr(said, log), "%s", said);
}

Test(sim_driver_modules, what_is_no_image_is_refused)
{
    CUmodule module;
    sim_start(1);
    FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "neither PTX nor a fat binary"));
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent"));
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU,
          cuModuleLoadData(&module, ".version 8.7\n.target sm_100\n.address_size 64\n"));
}

/* An ELF header is enough to be machine code. */
Test(sim_driver_modules, machine_code_says_once_how_to_rebuild)
{
    static const unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, [18] = 190};
    CUmodule module;
    sim_start(1);
    sim_capture_stderr();
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, cubin));
    FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, cubin));
    cr_expect_str_eq(sim_captured_stderr(),
                     "gmtrace software device: this program carries no PTX: rebuild with -gencode "
                     "arch=compute_90,code=compute_90 (or any -arch with PTX)\n");
}
