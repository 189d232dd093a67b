/* SPDX-License-Identifier: Apache-2.0 */
/* PTX modules: functions, variables, names and scopes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/ptx_fixture.h"

Test(ptx_module, header_is_read)
{
    struct ptx_error error;
    const char text[] = "// comment\n.version 8.5\n.target sm_90a, debug\n.address_size 64\n";
    struct ptx_module *module = ptx_parse(text, sizeof(text), &error); /* with the NUL */

    cr_assert_not_null(module, "%s", error.text);
    cr_expect_eq(module->version_major, 8);
    cr_expect_eq(module->version_minor, 5);
    cr_expect_str_eq(module->target, "sm_90a");
    cr_expect_eq(module->target_sm, 90);
    cr_expect_eq(module->address_bytes, 8);
    ptx_free(module);
}

Test(ptx_module, function_declared_and_defined_is_one)
{
    struct ptx_module *module = gmt_ptx_module(
        ".func (.param .b32 r) f (.param .b32 a);"
        ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24])"
        ".maxntid 128, 2 .reqntid 64 .minnctapersm 3 .maxnreg 40 .maxclusterrank 8"
        "{ .reg .b32 x; call (x), f, (7); ret; }"
        ".weak .func (.param .b32 r) f (.param .b32 a) { ret; }");
    const struct ptx_function *f = ptx_find_function(module, "f");
    const struct ptx_function *k = ptx_find_function(module, "k");

    cr_assert_eq(module->function_count, 2);
    cr_expect(f->is_defined && f->is_weak && !f->is_entry);
    cr_expect_eq(k->instructions[0].operands[1].function, f);
    cr_expect(k->is_entry && k->is_visible);
    cr_expect_eq(k->max_threads[0] * k->max_threads[1] * k->max_threads[2], 256);
    cr_expect_eq(k->required_threads[0], 64);
    cr_expect_eq(k->min_blocks, 3);
    cr_expect_eq(k->max_registers, 40);
    cr_expect_not(k->needs_cluster); /* may be launched in clusters, need not */
    cr_expect_eq(k->params[0].bytes, 8);
    cr_expect_eq(k->params[0].align, 8); /* not that of what it points to */
    cr_expect_eq(k->params[1].bytes, 24);
    cr_expect_eq(k->params[1].align, 8);
    ptx_free(module);
}

Test(ptx_module, clusters_are_seen)
{
    struct ptx_module *module = gmt_ptx_module(
        ".entry a() .explicitcluster { ret; } .entry b() .reqnctapercluster 2,1,1 { ret; }"
        ".entry c() .reqnctapercluster 1, 1, 1 { ret; }");

    cr_expect(ptx_find_function(module, "a")->needs_cluster);
    cr_expect(ptx_find_function(module, "b")->needs_cluster);
    cr_expect_not(ptx_find_function(module, "c")->needs_cluster);
    ptx_free(module);
}

Test(ptx_module, alias_stands_for_its_target)
{
    struct ptx_module *module = gmt_ptx_module(
        ".func a(.param .b32 x); .func b(.param .b32 x) { ret; }"
        ".entry k() { .reg .b64 p; call a, (1); mov.u64 p, a; ret; } .alias a, b;");
    const struct ptx_function *b = ptx_find_function(module, "b");
    const struct ptx_function *k = ptx_find_function(module, "k");

    cr_expect_eq(ptx_find_function(module, "a"), b);
    cr_expect_eq(k->instructions[0].operands[0].function, b);
    cr_expect_eq(k->instructions[1].operands[1].function, b);
    ptx_free(module);
}

Test(ptx_module, variables_have_size_and_place)
{
    struct ptx_module *module = gmt_ptx_module(
        ".extern .shared .align 16 .b8 dynamic[]; .visible .global .v4 .f32 v[10];"
        ".const .align 4 .b8 c[12]; .global .attribute(.managed) .align 4 .u32 m;"
        ".extern .global .u32 late; .global .u32 late = 3; .shared .b128 s[2][3];");
    const struct ptx_variable *dynamic = ptx_find_variable(module, "dynamic");

    cr_assert_eq(module->variable_count, 6);
    cr_expect(dynamic->is_external && dynamic->bytes == 0 && dynamic->align == 16);
    cr_expect_eq(dynamic->space, PTX_SHARED);
    cr_expect_eq(ptx_find_variable(module, "v")->bytes, 160);
    cr_expect_eq(ptx_find_variable(module, "v")->align, 16);
    cr_expect(ptx_find_variable(module, "v")->is_visible);
    cr_expect_eq(ptx_find_variable(module, "c")->space, PTX_CONST);
    cr_expect(ptx_find_variable(module, "m")->is_managed);
    cr_expect_not(ptx_find_variable(module, "late")->is_external);
    cr_expect_eq(ptx_find_variable(module, "s")->bytes, 96);
    ptx_free(module);
}
