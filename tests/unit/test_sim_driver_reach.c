/* SPDX-License-Identifier: Apache-2.0 */
/* What the software device says of code: variables of the module, and what is more than memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim_driver_fixture.h"
#include "simgpu/simgpu.h"

const struct simgpu_interface *simgpu_interface(void);

/* One kernel per effect, some through a function, and one that has none. */
static const char effects[] = SIM_PTX_HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 m);\n"
    ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f);\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 b);\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f);\n"
    ".extern .func elsewhere(.param .b64 p);\n"
    ".global .align 4 .u32 counter;\n"
    ".func inner(.param .b64 x)\n{\n .reg .b64 %rd<2>;\n ld.param.b64 %rd1, [x];\n"
    " { .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }\n ret;\n}\n"
    ".func outer(.param .b64 x)\n{\n { .param .b64 a; st.param.b64 [a], 0; call.uni inner, (a); }\n"
    " ret;\n}\n"
#define CALLS(name, result, target) \
    ".visible .entry " name "()\n{\n { .param .b64 a; .param " result " r;\n" \
    " st.param.b64 [a], 0; call.uni (r), " target ", (a); }\n ret;\n}\n"
#define CALLS_VOID(name, target) \
    ".visible .entry " name "()\n{\n { .param .b64 a; st.param.b64 [a], 0;\n" \
    " call.uni " target ", (a); }\n ret;\n}\n"
    CALLS("allocates", ".b64", "malloc") CALLS_VOID("frees", "free")
        CALLS_VOID("asserts", "__assertfail") CALLS("buffer", ".b64", "cudaGetParameterBufferV2")
            CALLS("launches", ".b32", "cudaLaunchDeviceV2") CALLS("launches_later", ".b64",
                                                                  "__cudaCDP2GetParameterBufferV2")
                CALLS_VOID("deep", "outer") CALLS_VOID(
                    "away",
                    "elsewhere") ".visible .entry prints()\n{\n { .param .b64 a; .param .b64 b; "
                                 ".param .b32 r;\n"
                                 " st.param.b64 [a], 0; st.param.b64 [b], 0; call.uni (r), "
                                 "vprintf, (a, b); }\n ret;\n}\n"
                                 ".visible .entry takes()\n{\n .reg .b64 %rd<3>;\n mov.u64 %rd1, "
                                 "elsewhere;\n"
                                 " mov.u64 %rd2, counter;\n cvta.global.u64 %rd2, %rd2;\n st.u64 "
                                 "[%rd2], %rd1;\n ret;\n}\n"
                                 ".visible .entry clean()\n{\n .reg .b32 %r<2>;\n mov.u32 %r1, 1;\n"
                                 " st.global.u32 [counter], %r1;\n ret;\n}\n";

/* A call through a pointer reaches every function whose address is taken. */
static const char indirect[] = SIM_PTX_HEAD
    ".extern .func free(.param .b64 p);\n"
    ".func target(.param .b64 x)\n{\n { .param .b64 a; st.param.b64 [a], 0; call.uni free, (a); }\n"
    " ret;\n}\n"
    ".global .align 8 .u64 table[1] = {target};\n"
    ".visible .entry pointer()\n{\n .reg .b64 %rd<2>;\n ld.global.u64 %rd1, [table];\n"
    " { .param .b64 a; st.param.b64 [a], 0; P: .callprototype _ (.param .b64 _);\n"
    " call %rd1, (a), P; }\n ret;\n}\n";

static char names[256];

static void note(void *data, const char *name)
{
    cr_expect_str_eq(data, "data");
    (void)strncat(names, name, sizeof names - strlen(names) - 1);
    (void)strncat(names, " ", sizeof names - strlen(names) - 1);
}

static int reach(void *function)
{
    names[0] = '\0';
    return simgpu_interface()->code_reach(function, note, "data");
}

Test(sim_driver_reach, names_the_variables_in_global_and_constant_memory)
{
    sim_start(1);
    cr_expect_eq(reach(sim_kernel_of(sim_ptx_variables, "bump")), 0);
    cr_expect_str_eq(names, "counter table common ");
    cr_expect_eq(reach(sim_kernel_of(sim_ptx_fill, "fill")), 0);
    cr_expect_str_eq(names, "");
}

Test(sim_driver_reach, knows_kernels_of_libraries)
{
    CUlibrary library;
    CUkernel kernel;
    sim_start(1);
    OK(cuLibraryLoadData(&library, sim_ptx_variables, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "bump"));
    cr_expect_eq(reach(kernel), 0);
    cr_expect_str_eq(names, "counter table common ");
}

Test(sim_driver_reach, reports_each_effect_and_names_nothing_then)
{
    static const char *const kernels[] = {"allocates",      "frees", "buffer", "launches",
                                          "launches_later", "deep",  "prints"};
    CUmodule module;
    CUfunction function;
    sim_start(1);
    OK(cuModuleLoadData(&module, effects));
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        OK(cuModuleGetFunction(&function, module, kernels[i]));
        cr_expect_eq(reach(function), -EPERM, "%s", kernels[i]);
        cr_expect_str_eq(names, "");
    }
    OK(cuModuleGetFunction(&function, module, "asserts"));
    cr_expect_eq(reach(function), 0, "after it nothing is executed");
    names[0] = '\0';
    OK(cuModuleGetFunction(&function, module, "clean"));
    cr_expect_eq(reach(function), 0);
    cr_expect_str_eq(names, "counter ");
}

Test(sim_driver_reach, knows_whether_any_code_may_allocate)
{
    CUmodule module;
    sim_start(1);
    (void)sim_kernel_of(sim_ptx_fill, "fill");
    cr_expect_not(simgpu_interface()->code_allocates());
    OK(cuModuleLoadData(&module, effects));
    OK(cuModuleUnload(module));
    cr_expect(simgpu_interface()->code_allocates(), "its memory is still there");
}

Test(sim_driver_reach, does_not_know_functions_without_a_body)
{
    sim_start(1);
    cr_expect_eq(reach(sim_kernel_of(effects, "away")), -ENOENT);
    cr_expect_eq(reach(sim_kernel_of(effects, "takes")), -ENOENT);
    cr_expect_eq(reach((void *)names), -ENOENT, "no function at all");
}

Test(sim_driver_reach, follows_calls_through_pointers)
{
    sim_start(1);
    cr_expect_eq(reach(sim_kernel_of(indirect, "pointer")), -EPERM);
}
