/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the software device's driver part share. */
#include "sim_driver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char sim_ptx_fill[] = SIM_PTX_HEAD
    ".visible .entry fill(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b32 %r<4>;\n .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out];\n ld.param.u32 %r1, [value];\n mov.u32 %r2, %tid.x;\n"
    " add.u32 %r3, %r1, %r2;\n mul.wide.u32 %rd2, %r2, 4;\n add.u64 %rd3, %rd1, %rd2;\n"
    " st.global.u32 [%rd3], %r3;\n ret;\n}\n";

const char sim_ptx_faults[] = SIM_PTX_HEAD
    ".visible .entry reach(.param .u64 at)\n"
    "{\n .reg .b32 %r<2>;\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [at];\n mov.u32 %r1, 7;\n"
    " st.global.u32 [%rd1], %r1;\n ret;\n}\n"
    ".visible .entry stop()\n{\n trap;\n}\n"
    ".visible .entry texture()\n{\n .reg .f32 %f<5>;\n .reg .b64 %rd<2>;\n .reg .b32 %r<2>;\n"
    " mov.u64 %rd1, 0;\n mov.u32 %r1, 0;\n"
    " tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];\n ret;\n}\n";

const char sim_ptx_variables[] = SIM_PTX_HEAD
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .u32 table[2] = {11, 22};\n"
    ".visible .global .attribute(.managed) .align 4 .u32 common = 9;\n"
    ".visible .entry bump()\n{\n .reg .b32 %r<4>;\n"
    " ld.global.u32 %r1, [counter];\n ld.const.u32 %r2, [table+4];\n add.u32 %r3, %r1, %r2;\n"
    " st.global.u32 [counter], %r3;\n st.global.u32 [common], %r3;\n ret;\n}\n";

void sim_expect(CUresult result, CUresult expected, const char *call, const char *file, int line)
{
    const char *name = NULL, *expected_name = NULL;
    (void)cuGetErrorName(result, &name);
    (void)cuGetErrorName(expected, &expected_name);
    cr_assert_eq(result, expected, "%s:%d: %s: %s, expected %s", file, line, call, name,
                 expected_name);
}

CUcontext sim_start(int devices)
{
    char count[16];
    CUcontext context;
    (void)snprintf(count, sizeof count, "%d", devices);
    setenv("SIMGPU_DEVICES", count, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

CUfunction sim_kernel_of(const char *ptx, const char *name)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

CUresult sim_launch_one(CUfunction function, unsigned threads, void **params)
{
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
}

unsigned sim_word_at(CUdeviceptr address)
{
    unsigned value = 0;
    OK(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

static int saved = -1;
static FILE *file;

void sim_capture_stderr(void)
{
    file = tmpfile();
    cr_assert_not_null(file);
    (void)fflush(stderr);
    saved = dup(STDERR_FILENO);
    cr_assert(dup2(fileno(file), STDERR_FILENO) >= 0);
}

const char *sim_captured_stderr(void)
{
    static char text[4096];
    (void)fflush(stderr);
    cr_assert(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
    ssize_t got = pread(fileno(file), text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    (void)fclose(file);
    return text;
}
