/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and labels: ranges, vectors, scopes that hide outer names. */
#include <criterion/criterion.h>

#include "tests/unit/ptx_fixture.h"

static struct ptx_module *module;
static const struct ptx_instruction *instructions;
static const struct ptx_function *kernel;

static void parse(const char *body)
{
    kernel = gmt_ptx_kernel(body, &module);
    instructions = kernel->instructions;
}

static void release(void)
{
    ptx_free(module);
}

TestSuite(ptx_registers, .fini = release);

static const char *register_name(const struct ptx_operand *operand)
{
    cr_assert_eq(operand->kind, PTX_OPERAND_REGISTER);
    return kernel->registers[operand->reg].name;
}

Test(ptx_registers, inner_scopes_hide_outer_names)
{
    parse("mov.u32 %r1, 1; { .reg .b32 %r<3>; .reg .b64 x; mov.u32 %r1, 2; mov.u32 %r50, 3;"
          "L: bra L; bra M; } L: mov.u32 %r1, 4; { .reg .b32 x; mov.u32 x, 5; bra L; } M: bra L;");
    const struct ptx_operand *outer = &instructions[0].operands[0];

    cr_expect_str_eq(register_name(outer), "%r1");
    cr_expect_str_eq(register_name(&instructions[1].operands[0]), "%r1#1");
    cr_expect_str_eq(register_name(&instructions[2].operands[0]), "%r50");
    cr_expect_eq(instructions[3].operands[0].label, 3);
    cr_expect_eq(instructions[4].operands[0].label, 8);
    cr_expect_eq(instructions[5].operands[0].reg, outer->reg);
    cr_expect_eq(instructions[7].operands[0].label, 5);
    cr_expect_eq(kernel->registers[instructions[6].operands[0].reg].type, PTX_B32);
    cr_expect_eq(kernel->register_count, 4); /* those that are used */
}

Test(ptx_registers, vector_registers_have_components)
{
    parse(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 v.x, v.y, v.a;");
    const struct ptx_operand *vector = &instructions[0].operands[0];

    cr_assert_eq(vector->kind, PTX_OPERAND_VECTOR);
    cr_assert_eq(vector->count, 4);
    cr_expect_str_eq(register_name(&vector->items[2]), "v.z");
    cr_expect_eq(instructions[1].operands[0].reg, vector->items[0].reg);
    cr_expect_eq(instructions[1].operands[2].reg, vector->items[3].reg);
}
