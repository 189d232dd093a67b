/* SPDX-License-Identifier: Apache-2.0 */
/* Modules for tests; each that is made passes a check of everything that consumers rely on. */
#include "tests/unit/ptx_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0 .target sm_90 .address_size 64 "

static void check_operand(const struct ptx_function *function, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: cr_assert_lt(operand->reg, function->register_count); break;
    case PTX_OPERAND_LABEL:
        cr_assert_leq(operand->label, function->instruction_count);
        cr_assert_null(operand->special);
        break;
    case PTX_OPERAND_SPECIAL: cr_assert_not_null(operand->special); break;
    case PTX_OPERAND_VARIABLE: cr_assert_not_null(operand->variable); break;
    case PTX_OPERAND_FUNCTION: cr_assert_not_null(operand->function); break;
    case PTX_OPERAND_TABLE: cr_assert_not_null(operand->table); break;
    case PTX_OPERAND_PROTOTYPE: cr_assert_not_null(operand->prototype); break;
    default: cr_assert_neq(operand->kind, PTX_OPERAND_NONE);
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        check_operand(function, &operand->items[i]);
    }
}

static void check_function(const struct ptx_module *module, const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];

        cr_assert_lt(instruction->loc, module->loc_count);
        cr_assert_leq((size_t)instruction->text_offset + instruction->text_bytes,
                      module->text_bytes);
        cr_assert_eq(module->text[instruction->text_offset + instruction->text_bytes - 1], ';');
        cr_assert(!instruction->guarded || instruction->guard < function->register_count);
        for (uint32_t j = 0; j < instruction->operand_count; j++) {
            check_operand(function, &instruction->operands[j]);
        }
    }
    for (uint32_t i = 0; i < function->local_count; i++) {
        cr_assert_eq(function->locals[i]->index, i);
        cr_assert_eq(function->locals[i]->function, function);
    }
    for (uint32_t i = 0; i < function->param_count; i++) {
        cr_assert_eq(function->params[i].function, function);
    }
}

struct ptx_module *gmt_ptx_module(const char *declarations)
{
    struct ptx_error error;
    struct ptx_module *module;
    char *text = NULL;

    cr_assert_geq(asprintf(&text, HEAD "%s", declarations), 0);
    module = ptx_parse(text, strlen(text), &error);
    free(text);
    cr_assert_not_null(module, "line %u: %s", error.line, error.text);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        cr_assert_eq(module->variables[i]->index, i);
    }
    for (uint32_t i = 0; i < module->function_count; i++) {
        cr_assert_eq(module->functions[i]->index, i);
        check_function(module, module->functions[i]);
    }
    return module;
}

const struct ptx_function *gmt_ptx_kernel(const char *body, struct ptx_module **module)
{
    char *text = NULL;

    cr_assert_geq(asprintf(&text,
                           ".visible .entry k(.param .u64 out) { .reg .pred %%p<10>;"
                           ".reg .b32 %%r<100>; .reg .b64 %%rd<100>; .reg .f32 %%f<100>; %s }",
                           body),
                  0);
    *module = gmt_ptx_module(text);
    free(text);
    return ptx_find_function(*module, "k");
}

void gmt_ptx_refused(const char *declarations, uint32_t line, const char *part)
{
    struct ptx_error error;
    struct ptx_module *module;
    char *text = NULL;

    cr_assert_geq(asprintf(&text, HEAD "%s", declarations), 0);
    module = ptx_parse(text, strlen(text), &error);
    cr_assert_null(module, "accepted: %s", text);
    cr_assert_not_null(strstr(error.text, part), "\"%s\" does not say \"%s\" of %s", error.text,
                       part, text);
    cr_assert_eq(error.line, line, "line %u: %s", error.line, error.text);
    cr_assert_null(strchr(error.text, '\n'));
    free(text);
}

char *gmt_data_file(const char *name, size_t *bytes)
{
    char path[4096];
    FILE *file;
    char *text = calloc(1, 1 << 20);

    snprintf(path, sizeof(path), "%s/tests/data/%s", GMT_SOURCE_DIR, name);
    file = fopen(path, "re");
    cr_assert(file != NULL && text != NULL, "%s", path);
    *bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}
