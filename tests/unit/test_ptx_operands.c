/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions: guards, modifiers, operands of every kind. */
#include <criterion/criterion.h>
#include <string.h>

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

TestSuite(ptx_operands, .fini = release);

static const char *register_name(const struct ptx_operand *operand)
{
    cr_assert_eq(operand->kind, PTX_OPERAND_REGISTER);
    return kernel->registers[operand->reg].name;
}

Test(ptx_operands, instruction_is_taken_apart)
{
    parse("\n @!%p1 setp.lt.and.s32 %p2|%p3, %r1, -5, !%p4;");
    cr_assert_eq(kernel->instruction_count, 1);
    cr_expect_str_eq(instructions[0].opcode, "setp");
    cr_assert_eq(instructions[0].modifier_count, 3);
    cr_expect_str_eq(instructions[0].modifiers[1], "and");
    cr_expect(instructions[0].guarded && instructions[0].guard_negated);
    cr_expect_str_eq(kernel->registers[instructions[0].guard].name, "%p1");
    cr_expect(instructions[0].pair_first);
    cr_assert_eq(instructions[0].operand_count, 5);
    cr_expect_str_eq(register_name(&instructions[0].operands[1]), "%p3");
    cr_expect_eq((int64_t)instructions[0].operands[3].integer, -5);
    cr_expect(instructions[0].operands[4].negated);
    cr_expect_eq(instructions[0].line, 2);
    cr_expect_eq(strncmp(module->text + instructions[0].text_offset, "@!%p1 setp", 10), 0);
}

Test(ptx_operands, addresses_have_base_and_offset)
{
    parse("ld.global.u32 %r1, [%rd1+-4]; ld.param.u64 %rd1, [out + 8 - 4]; ld.shared.u32 %r1, [12];"
          "ld.global.u32 %r1, [%rd2]; ld.global.u32 %r1, [%rd2-(2*8)];"
          "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];");
    static const int64_t offsets[] = {-4, 4, 0, 0, -16, 0};

    for (unsigned i = 0; i < 6; i++) {
        cr_assert_eq(instructions[i].operands[1].kind, PTX_OPERAND_ADDRESS);
        cr_expect_eq(instructions[i].operands[1].offset, offsets[i], "%u", i);
        cr_expect_eq(instructions[i].operands[1].items[0].offset, 0);
    }
    cr_expect_eq(instructions[1].operands[1].items[0].variable, &kernel->params[0]);
    cr_expect_eq(instructions[2].operands[1].items[0].integer, 12);
    cr_expect_eq(instructions[5].operands[0].count, 4);
    cr_expect_eq(instructions[5].operands[1].items[1].kind, PTX_OPERAND_VECTOR);
}

Test(ptx_operands, numbers_keep_their_bits)
{
    parse("mov.f32 %f1, 0fBF800000; mov.f64 %rd1, 0d3FF0000000000000; mov.f32 %f1, -1.5;"
          "mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF; mov.u32 %r1, WARP_SZ; mov.b32 %r1, ~(3<<4)|1;"
          "mov.f32 %f1, .5; mov.s32 %r1, 017; mov.s32 %r1, 0b101U;");
    static const struct {
        enum ptx_operand_kind kind;
        uint64_t bits;
    } expected[] = {{PTX_OPERAND_FLOAT, 0xBF800000},
                    {PTX_OPERAND_FLOAT, 0x3FF0000000000000},
                    {PTX_OPERAND_FLOAT, 0xBFF8000000000000},
                    {PTX_OPERAND_INTEGER, UINT64_MAX},
                    {PTX_OPERAND_INTEGER, 32},
                    {PTX_OPERAND_INTEGER, ~(uint64_t)(3 << 4) | 1},
                    {PTX_OPERAND_FLOAT, 0x3FE0000000000000},
                    {PTX_OPERAND_INTEGER, 15},
                    {PTX_OPERAND_INTEGER, 5}};

    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_expect_eq(instructions[i].operands[1].kind, expected[i].kind, "%u", i);
        cr_expect_eq(instructions[i].operands[1].integer, expected[i].bits, "%u", i);
        cr_expect_eq(instructions[i].operands[1].is_float32, i == 0);
    }
}

Test(ptx_operands, calls_have_returns_target_and_arguments)
{
    parse("call (%r1, %rd1), %rd2, (out, %r2, 7), shape; call %rd2, shape;"
          "shape: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[8]);"
          "call k, ();");
    const struct ptx_operand *operands = instructions[0].operands;

    cr_assert_eq(instructions[0].operand_count, 4);
    cr_expect_eq(operands[0].kind, PTX_OPERAND_LIST);
    cr_expect_eq(operands[0].count, 2);
    cr_expect_str_eq(register_name(&operands[1]), "%rd2");
    cr_expect_eq(operands[2].items[0].variable, &kernel->params[0]);
    cr_expect_eq(operands[2].items[2].integer, 7);
    cr_assert_eq(operands[3].kind, PTX_OPERAND_PROTOTYPE);
    cr_expect_eq(operands[3].prototype->params[1].bytes, 8);
    cr_expect_eq(instructions[1].operands[1].prototype, operands[3].prototype);
    cr_expect_eq(instructions[2].operands[0].function, kernel);
    cr_expect_eq(instructions[2].operands[1].count, 0);
}

Test(ptx_operands, special_registers_sinks_and_parts)
{
    parse("mov.u32 %r1, %tid.x; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31; mov.b64 {%r1,_}, "
          "%rd1; vadd.s32.u32.s32 %r1, %r2.b3, %r3.h1;");
    cr_expect_str_eq(instructions[0].operands[1].special, "tid.x");
    cr_expect_str_eq(instructions[1].operands[1].special, "clock64");
    cr_expect_str_eq(instructions[2].operands[1].special, "envreg31");
    cr_expect_eq(instructions[3].operands[0].items[1].kind, PTX_OPERAND_SINK);
    cr_expect_eq(instructions[4].operands[1].kind, PTX_OPERAND_PART);
    cr_expect_str_eq(instructions[4].operands[1].special, "b3");
}

Test(ptx_operands, branch_tables_hold_instructions)
{
    parse("brx.idx %r1, T; A: ret; B: ret; T: .branchtargets A, B, A, END; END:");
    const struct ptx_table *table = instructions[0].operands[1].table;
    static const uint32_t expected[] = {1, 2, 1, 3};

    cr_assert_eq(instructions[0].operands[1].kind, PTX_OPERAND_TABLE);
    cr_assert_eq(table->count, 4);
    cr_expect_arr_eq(table->labels, expected, sizeof(expected));
}
