/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc makes, at every option: tests/data/ptx. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/ptx_fixture.h"

static struct ptx_module *parse_sample(const char *name)
{
    struct ptx_error error;
    struct ptx_module *module;
    char path[64];
    size_t bytes;
    char *text;

    snprintf(path, sizeof(path), "ptx/%s.ptx", name);
    text = gmt_data_file(path, &bytes);
    module = ptx_parse(text, bytes, &error);
    free(text);
    cr_assert_not_null(module, "%s line %u: %s", name, error.line, error.text);
    return module;
}

Test(ptx_samples, all_have_the_same_declarations)
{
    static const char *const names[] = {"optimized", "unoptimized", "debug", "lineinfo",
                                        "relocatable"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct ptx_module *module = parse_sample(names[i]);
        const struct ptx_function *kernel = ptx_find_function(module, "_Z6samplePi4pairi");
        const struct ptx_variable *steps = ptx_find_variable(module, "steps");
        const struct ptx_variable *middle = ptx_find_variable(module, "middle");
        bool shared = false;

        cr_assert(kernel != NULL && steps != NULL && middle != NULL, "%s", names[i]);
        cr_expect_eq(kernel->param_count, 3);
        cr_expect_eq(kernel->params[1].bytes, 16);
        cr_expect_eq(kernel->max_threads[0], 128);
        cr_expect_eq(ptx_find_variable(module, "table")->bytes, 48);
        cr_expect_eq(ptx_find_variable(module, "table")->init[16], 3);
        cr_expect(ptx_find_variable(module, "total")->is_managed);
        cr_expect(ptx_find_variable(module, "dynamic")->is_external);
        cr_assert_eq(steps->relocation_count, 2);
        cr_expect_str_eq(steps->relocations[0].function->name, "_Z9fibonaccii");
        cr_expect_eq(middle->relocations[0].addend, 16);
        cr_expect(middle->relocations[0].generic);
        for (uint32_t j = 0; j < kernel->local_count; j++) {
            shared = shared || (kernel->locals[j]->space == PTX_SHARED &&
                                kernel->locals[j]->bytes == (size_t)32 * 33 * 4);
        }
        cr_expect(shared, "%s", names[i]);
        ptx_free(module);
    }
}

/* square() inlined in cube() inlined in the kernel: the chain is followed by name and line. */
Test(ptx_samples, inlining_is_followed)
{
    struct ptx_module *module = parse_sample("lineinfo");
    const struct ptx_function *kernel = ptx_find_function(module, "_Z6samplePi4pairi");
    const struct ptx_loc *loc = module->locs;

    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        const struct ptx_loc *here = &module->locs[kernel->instructions[i].loc];

        if (here->inlined_function != NULL && strcmp(here->inlined_function, "_Z6squarei") == 0) {
            loc = here;
        }
    }
    cr_assert_neq(loc, module->locs, "no instruction of square()");
    cr_expect_str_eq(ptx_file_path(module, loc->file), "/tmp/gmtrace/sample.cu");
    cr_expect_eq(loc->line, 16);
    loc = &module->locs[loc->inlined_at];
    cr_expect_str_eq(loc->inlined_function, "_Z4cubei");
    cr_expect_eq(loc->line, 21);
    loc = &module->locs[loc->inlined_at];
    cr_expect_null(loc->inlined_function);
    cr_expect_eq(loc->line, 42);
    cr_expect_eq(loc->inlined_at, 0);
    ptx_free(module);
}

Test(ptx_samples, lines_belong_to_instructions)
{
    struct ptx_module *module = parse_sample("debug");
    const struct ptx_function *kernel = ptx_find_function(module, "_Z6samplePi4pairi");
    const struct ptx_instruction *last = &kernel->instructions[kernel->instruction_count - 1];

    cr_expect_str_eq(last->opcode, "ret");
    cr_expect_eq(module->locs[last->loc].line, 51);
    cr_expect_eq(strncmp(module->text + last->text_offset, "ret;", 4), 0);
    cr_expect_null(ptx_file_path(module, 77));
    ptx_free(module);
}

/* Cut short anywhere, a text gives an error or a module, with every byte of it read in bounds. */
Test(ptx_samples, every_beginning_is_survived)
{
    size_t bytes, accepted = 0;
    char *text = gmt_data_file("ptx/lineinfo.ptx", &bytes);

    for (size_t length = 0; length <= bytes; length++) {
        struct ptx_error error;
        char *exact = malloc(length != 0 ? length : 1);
        struct ptx_module *module;

        memcpy(exact, text, length);
        module = ptx_parse(exact, length, &error);
        accepted += module != NULL;
        cr_assert(module != NULL || error.text[0] != '\0');
        ptx_free(module);
        free(exact);
    }
    cr_expect_gt(accepted, 0);
    cr_expect_lt(accepted, bytes / 4);
    free(text);
}
