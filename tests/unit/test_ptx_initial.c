/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values of variables: numbers, lists, addresses. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/ptx_fixture.h"

/* One variable and the bytes it must have. */
static void expect_bytes(const char *declaration, const void *expected, size_t bytes)
{
    struct ptx_module *module = gmt_ptx_module(declaration);
    const struct ptx_variable *variable = module->variables[0];

    cr_assert_eq(variable->bytes, bytes, "%s: %zu", declaration, variable->bytes);
    cr_assert_not_null(variable->init);
    cr_expect_arr_eq(variable->init, expected, bytes, "%s", declaration);
    ptx_free(module);
}

Test(ptx_initial, expressions_follow_c)
{
    static const uint64_t expected[] = {
        2,  15,           3,  5, (uint64_t)-1, 2,           19, 7, 0, UINT64_MAX, 3,
        32, (uint64_t)-3, 14, 1, UINT64_MAX,   (uint64_t)-2};

    expect_bytes(".const .u64 x[] = { 0x2, 017, 0b11, 5U, -1, 5 % 3, (1<<4)|3, 1+2*3, !3, ~0,"
                 "0 ? 2 : 3, WARP_SZ, -7/2, (5^3)+8, 2>1&&1<2, (.u64)-1, -4>>1 };",
                 expected, sizeof(expected));
}

Test(ptx_initial, floats_are_rounded_once)
{
    static const float floats[] = {0.1F, 2.0F, -1.5F, 3.0F, 1e-3F};
    static const double doubles[] = {0.1, 1.0, -2.0};

    expect_bytes(".global .f32 x[] = {.1, 0f40000000, -1.5, 3, 1e-3};", floats, sizeof(floats));
    expect_bytes(".global .f64 x[] = {.1, 0d3FF0000000000000, -2};", doubles, sizeof(doubles));
}

Test(ptx_initial, braces_follow_dimensions)
{
    static const uint32_t rows[] = {1, 2, 0, 3, 0, 0, 4, 5, 0};
    static const float vectors[] = {1, 2, 0, 0, 3, 0, 0, 0};
    static const uint8_t bytes[] = {1, 255, 0, 0};
    static const uint64_t wide[] = {(uint64_t)-2, UINT64_MAX};

    expect_bytes(".global .u32 x[3][3] = {{1,2},{3}, 4, 5};", rows, sizeof(rows));
    expect_bytes(".global .u32 x[][3] = {{1,2},{3}, {4, 5}};", rows, sizeof(rows));
    expect_bytes(".global .v4 .f32 x[2] = {{1.0, 2.0},{3.0}};", vectors, sizeof(vectors));
    expect_bytes(".global .b8 x[4] = {1, -1};", bytes, sizeof(bytes));
    expect_bytes(".global .b128 x = -2;", wide, sizeof(wide));
}

Test(ptx_initial, addresses_become_relocations)
{
    struct ptx_module *module = gmt_ptx_module(
        ".func f() { ret; }"
        ".global .u64 x[4] = {generic(y)+12, y-4, f, 9};"
        ".global .u8 z[3] = {0xFF(y), 1, 0xff0000(generic(y)+8)}; .global .b8 y[64];");
    const struct ptx_variable *x = ptx_find_variable(module, "x");
    const struct ptx_variable *y = ptx_find_variable(module, "y");
    const struct ptx_variable *z = ptx_find_variable(module, "z");

    cr_assert_eq(x->relocation_count, 3);
    cr_expect_eq(x->relocations[0].variable, y);
    cr_expect(x->relocations[0].generic && x->relocations[0].addend == 12);
    cr_expect_eq(x->relocations[1].at, 8);
    cr_expect_eq(x->relocations[1].bytes, 8);
    cr_expect(!x->relocations[1].generic && x->relocations[1].addend == -4);
    cr_expect_eq(x->relocations[2].function, ptx_find_function(module, "f"));
    cr_assert_eq(z->relocation_count, 2);
    cr_expect_eq(z->relocations[1].at, 2);
    cr_expect_eq(z->relocations[1].bytes, 1);
    cr_expect_eq(z->relocations[1].shift, 16);
    cr_expect_eq(z->relocations[1].addend, 8);
    ptx_free(module);
}

Test(ptx_initial, mistakes_are_named)
{
    gmt_ptx_refused(".global .u32 x[2] = {1,2,3};", 1, "more initial values");
    gmt_ptx_refused(".global .u32 x[2] = {{1},2};", 1, "more braces");
    gmt_ptx_refused(".global .u32 x = 1/0;", 1, "division by zero");
    gmt_ptx_refused(".global .u32 x = 1.5;", 1, "cannot initialize a .u32");
    gmt_ptx_refused(".global .u64 x = nowhere;", 1, "'nowhere' is not declared");
    gmt_ptx_refused(".global .u16 x = x;", 1, "does not fit");
    gmt_ptx_refused(".global .u8 x = 0x1FF(x);", 1, "selects one byte");
    gmt_ptx_refused(".shared .u32 x = 1;", 1, "only .global and .const");
    gmt_ptx_refused(".global .b8 x[4000000000] = {1};", 1, "initialized variables of more than");
}

Test(ptx_initial, large_and_mostly_zero_costs_little)
{
    struct ptx_module *module = gmt_ptx_module(".global .b8 x[1000][1000000] = {{1},{2}};");

    cr_expect_eq(module->variables[0]->init[1000000], 2);
    cr_expect_eq(module->variables[0]->init[999999999], 0);
    ptx_free(module);
}
