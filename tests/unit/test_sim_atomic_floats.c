/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red on floating-point numbers of all sizes. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim_fixture.h"

TestSuite(sim_atomic_floats, .timeout = 120);

#define LANES 32
#define CELL 1024 /* word of `out` that all lanes change */
#define ONE_KERNEL(text) sim_try_new(SIM_HEAD SIM_KERNEL("k", text "ret;\n"))

Test(sim_atomic_floats, sums_of_floats_are_rounded_in_lane_order)
{
    struct sim_try *trial = ONE_KERNEL(
        ".reg .f32 %f1;\n.reg .f64 %d<3>;\ncvt.rn.f32.u32 %f1, %r1;\n"
        "mul.f32 %f1, %f1, 0f3DCCCCCD;\nred.global.add.f32 [%rd1+4096], %f1;\n"
        "cvt.f64.f32 %d1, %f1;\natom.global.add.f64 %d2, [%rd1+4104], %d1;\n");
    float single = 0;
    double wide = 0, stored;

    sim_try_ok(trial, "k");
    for (unsigned i = 0; i < LANES; i++) {
        const float value = (float)i * 0.1f;
        single += value;
        wide += (double)value;
    }
    cr_expect_arr_eq(&trial->out[CELL], &single, sizeof single);
    memcpy(&stored, &trial->out[CELL + 2], sizeof stored);
    cr_expect_eq(stored, wide);
    sim_try_end(trial);
}

Test(sim_atomic_floats, pairs_of_halves)
{
    struct sim_try *trial = ONE_KERNEL(
        "mov.u32 %r2, 0x3c003800;\nred.global.add.noftz.f16x2 [%rd1+4096], %r2;\n"
        "mov.u32 %r3, 0x3f803f00;\natom.global.add.noftz.bf16x2 %r4, [%rd1+4100], %r3;\n"
        ".reg .b16 %h<2>;\nmov.b16 %h1, 0x3c00;\n"
        "red.global.add.noftz.f16 [%rd1+4104], %h1;\n");

    sim_try_ok(trial, "k");
    cr_expect_eq(trial->out[CELL], 0x50004c00, "32 and 16: %x", trial->out[CELL]);
    cr_expect_eq(trial->out[CELL + 1], 0x42004180, "32 and 16: %x", trial->out[CELL + 1]);
    cr_expect_eq(trial->out[CELL + 2], 0x5000, "32: %x", trial->out[CELL + 2]);
    sim_try_end(trial);
}

Test(sim_atomic_floats, subnormal_floats_are_flushed_in_global_memory_only)
{
    struct sim_try *trial = ONE_KERNEL(
        ".shared .align 4 .b8 cell[4];\n.reg .f32 %f<3>;\nmov.f32 %f1, 0f00000001;\n"
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\nst.shared.f32 [cell], 0f00000002;\n"
        "red.shared.add.f32 [cell], %f1;\nred.global.add.f32 [%rd1+4096], %f1;\n"
        "ld.shared.u32 %r2, [cell];\nst.global.u32 [%rd1], %r2;\nEND:\n");

    trial->out[CELL] = 2;
    sim_try_ok(trial, "k");
    cr_expect_eq(trial->out[0], 3);
    cr_expect_eq(trial->out[CELL], 0);
    sim_try_end(trial);
}

Test(sim_atomic_floats, vectors_add_each_element)
{
    struct sim_try *trial = ONE_KERNEL(".reg .f32 %f<5>;\ncvt.rn.f32.u32 %f1, %r1;\n"
                                       "red.global.v2.f32.add [%rd1+4096], {%f1, 0f3F800000};\n");
    float sums[2];

    sim_try_ok(trial, "k");
    memcpy(sums, &trial->out[CELL], sizeof sums);
    cr_expect_eq(sums[0], 31 * 16);
    cr_expect_eq(sums[1], 32);
    sim_try_end(trial);
}
