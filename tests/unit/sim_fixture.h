/* SPDX-License-Identifier: Apache-2.0 */
/* Trying kernels written in PTX on the interpreter: one module, one output array. */
#ifndef TESTS_SIM_FIXTURE_H
#define TESTS_SIM_FIXTURE_H

#include "simgpu/exec/exec.h"

#define SIM_TRY_WORDS 4096

/*
 * A kernel `name`(out, n). Its text finds: %rd1 = out, %r0 = n, %r1 = %tid.x, %rd3 = &out[tid], and
 * registers %p0..7, %r2..31, %rd4..15 to use. SIM_STORE writes a register to out[tid].
 */
#define SIM_HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
#define SIM_KERNEL(name, text) \
    ".visible .entry " name "(.param .u64 out, .param .u32 n)\n{\n" \
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n" \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n" text "}\n"
#define SIM_STORE(register) "st.global.u32 [%rd3], " register ";\n"

struct sim_try {
    struct sim_module *module;
    struct sim_launch launch; /* one block of 32 threads; tests change what they like */
    struct sim_counts counts; /* of the last run */
    struct sim_error error;
    enum sim_status status;
    _Alignas(16) uint32_t out[SIM_TRY_WORDS]; /* zero at first, kept between runs */
    uint32_t n;                               /* the second parameter */
    struct sim_map map;
    struct sim_region regions[16];
    struct {
        uint64_t out;
        uint32_t n;
    } params;
};

/* Load `ptx`; the test fails if it cannot be. sim_try_end releases everything. */
struct sim_try *sim_try_new(const char *ptx);
void sim_try_end(struct sim_try *trial);
/* Run a kernel with the launch as it stands, counting. */
enum sim_status sim_try_run(struct sim_try *trial, const char *kernel);
/* The same, and it must succeed. */
void sim_try_ok(struct sim_try *trial, const char *kernel);
/* Counts of the n-th (from 0) instruction of the last run whose name begins with `opcode`. */
const struct sim_inst_counts *sim_try_inst(const struct sim_try *trial, const char *opcode,
                                           unsigned n);

#endif
