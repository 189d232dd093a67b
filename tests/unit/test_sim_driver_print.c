/* SPDX-License-Identifier: Apache-2.0 */
/* When what kernels print comes out: at synchronizations, with the context, at the process's end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_driver_fixture.h"

static const char hello[] = SIM_PTX_HEAD
    ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);\n"
    ".global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};\n"
    ".visible .entry hello()\n{\n .reg .b64 %rd<3>;\n .reg .b32 %r<2>;\n"
    " mov.u64 %rd1, text;\n cvta.global.u64 %rd2, %rd1;\n"
    " {\n .param .b64 format;\n st.param.b64 [format], %rd2;\n"
    " .param .b64 arguments;\n st.param.b64 [arguments], 0;\n .param .b32 result;\n"
    " call.uni (result), vprintf, (format, arguments);\n ld.param.b32 %r1, [result];\n }\n "
    "ret;\n}\n";

static FILE *printed;

static void redirect_stdout(void)
{
    printed = tmpfile();
    cr_assert_not_null(printed);
    (void)fflush(stdout);
    cr_assert(dup2(fileno(printed), STDOUT_FILENO) >= 0);
}

static const char *so_far(void)
{
    static char text[64];
    (void)fflush(stdout); /* as the program's own lines come out */
    ssize_t got = pread(fileno(printed), text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

Test(sim_driver_print, comes_out_when_somebody_waits)
{
    CUstream stream;
    CUevent event;
    sim_start(1);
    redirect_stdout();
    CUfunction function = sim_kernel_of(hello, "hello");
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(sim_launch_one(function, 1, NULL));
    cr_expect_str_eq(so_far(), "");
    OK(cuStreamSynchronize(stream));
    cr_expect_str_eq(so_far(), "hello\n");
    OK(sim_launch_one(function, 2, NULL));
    OK(cuEventSynchronize(event));
    cr_expect_str_eq(so_far(), "hello\nhello\nhello\n");
}

Test(sim_driver_print, comes_out_with_a_blocking_copy_and_with_the_context)
{
    CUcontext context;
    CUdeviceptr memory;
    char byte = 0;
    sim_start(1);
    redirect_stdout();
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuMemAlloc(&memory, 1));
    OK(sim_launch_one(sim_kernel_of(hello, "hello"), 1, NULL));
    OK(cuMemcpyHtoD(memory, &byte, 1));
    cr_expect_str_eq(so_far(), "hello\n");
    OK(sim_launch_one(sim_kernel_of(hello, "hello"), 1, NULL));
    OK(cuCtxDestroy(context));
    cr_expect_str_eq(so_far(), "hello\nhello\n");
}

/* A child that uses CUDA for the first time, and ends without waiting. */
Test(sim_driver_print, comes_out_at_the_end_of_the_process)
{
    int status = -1;
    redirect_stdout();
    pid_t child = fork();
    if (child == 0) {
        sim_start(1);
        OK(sim_launch_one(sim_kernel_of(hello, "hello"), 1, NULL));
        exit(0); // NOLINT: its destructors are what is tested
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_str_eq(so_far(), "hello\n");
}

/* What the parent's kernels printed is the parent's; and its device is not the child's. */
Test(sim_driver_print, a_forked_child_prints_nothing_of_its_parents)
{
    int status = -1;
    sim_start(1);
    redirect_stdout();
    OK(sim_launch_one(sim_kernel_of(hello, "hello"), 1, NULL));
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory;
        exit(cuMemAlloc(&memory, 1) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1); // NOLINT
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_str_eq(so_far(), "");
    OK(cuCtxSynchronize());
    cr_expect_str_eq(so_far(), "hello\n");
}
