/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX of driverclient's kernels: valid on a real driver too. */
#include "client.h"

const char client_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[256];\n"
    "// out[i] = a[i] + b[i]\n"
    ".visible .entry vector_add(\n"
    "    .param .u64 vector_add_out,\n    .param .u64 vector_add_a,\n"
    "    .param .u64 vector_add_b,\n    .param .u32 vector_add_count)\n"
    "{\n"
    "    .reg .pred %p;\n    .reg .f32 %f<4>;\n    .reg .b32 %r<6>;\n    .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [vector_add_out];\n    ld.param.u64 %rd2, [vector_add_a];\n"
    "    ld.param.u64 %rd3, [vector_add_b];\n    ld.param.u32 %r1, [vector_add_count];\n"
    "    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n    setp.ge.u32 %p, %r5, %r1;\n    @%p bra DONE;\n"
    "    mul.wide.u32 %rd4, %r5, 4;\n    add.s64 %rd5, %rd2, %rd4;\n    add.s64 %rd6, %rd3, %rd4;\n"
    "    add.s64 %rd7, %rd1, %rd4;\n    ld.global.f32 %f1, [%rd5];\n    ld.global.f32 %f2, "
    "[%rd6];\n"
    "    add.f32 %f3, %f1, %f2;\n    st.global.f32 [%rd7], %f3;\nDONE:\n    ret;\n}\n"
    "// data[i] *= factor; struct { float factor; unsigned count; float *data; }\n"
    ".visible .entry scale(.param .align 8 .b8 scale_0[16])\n"
    "{\n"
    "    .reg .pred %p;\n    .reg .f32 %f<4>;\n    .reg .b32 %r<6>;\n    .reg .b64 %rd<4>;\n"
    "    .shared .align 4 .b8 scratch[1024];\n"
    "    ld.param.f32 %f1, [scale_0];\n    ld.param.u32 %r1, [scale_0+4];\n"
    "    ld.param.u64 %rd1, [scale_0+8];\n"
    "    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n    setp.ge.u32 %p, %r5, %r1;\n    @%p bra DONE;\n"
    "    mul.wide.u32 %rd2, %r5, 4;\n    add.s64 %rd3, %rd1, %rd2;\n    ld.global.f32 %f2, "
    "[%rd3];\n"
    "    mul.f32 %f3, %f1, %f2;\n    st.global.f32 [%rd3], %f3;\nDONE:\n    ret;\n}\n"
    ".visible .entry touch(.param .u64 touch_0)\n.maxntid 256, 1, 1\n{\n    ret;\n}\n";

CUresult client_vector_add(CUfunction function, CUdeviceptr out, CUdeviceptr a, CUdeviceptr b,
                           unsigned count, CUstream stream)
{
    void *params[] = {&out, &a, &b, &count};
    return cu.cuLaunchKernel(function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream, params,
                             NULL);
}
