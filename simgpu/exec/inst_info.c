/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction is, for those who read the counts. */
#include <errno.h>
#include <string.h>

#include "simgpu/exec/code.h"

static enum ptx_space space_of(const struct ptx_instruction *instruction)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {
        {"global", PTX_GLOBAL}, {"local", PTX_LOCAL},   {"const", PTX_CONST},
        {"param", PTX_PARAM},   {"shared", PTX_SHARED},
    };

    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        const char *word = instruction->modifiers[i];
        const size_t bytes = strcspn(word, ":"); /* shared::cta, param::entry */

        for (size_t k = 0; k < sizeof(spaces) / sizeof(spaces[0]); k++) {
            if (strlen(spaces[k].word) == bytes && memcmp(word, spaces[k].word, bytes) == 0) {
                return spaces[k].space;
            }
        }
    }
    return PTX_GENERIC;
}

/* By space: generic, const, global, local, param, shared. */
struct opcode_kinds {
    const char *opcode;
    uint8_t by_space[PTX_REG];
};

static const struct opcode_kinds memory_kinds[] = {
    {"ld",
     {SIM_INST_GENERIC, SIM_INST_CONST_LOAD, SIM_INST_GLOBAL_LOAD, SIM_INST_LOCAL_LOAD,
      SIM_INST_OTHER, SIM_INST_SHARED_LOAD}},
    {"ldu",
     {SIM_INST_GENERIC, SIM_INST_CONST_LOAD, SIM_INST_GLOBAL_LOAD, SIM_INST_LOCAL_LOAD,
      SIM_INST_OTHER, SIM_INST_SHARED_LOAD}},
    {"st",
     {SIM_INST_GENERIC, SIM_INST_OTHER, SIM_INST_GLOBAL_STORE, SIM_INST_LOCAL_STORE, SIM_INST_OTHER,
      SIM_INST_SHARED_STORE}},
    {"atom",
     {SIM_INST_GENERIC, SIM_INST_OTHER, SIM_INST_GLOBAL_ATOMIC, SIM_INST_OTHER, SIM_INST_OTHER,
      SIM_INST_SHARED_ATOMIC}},
    {"red",
     {SIM_INST_GENERIC, SIM_INST_OTHER, SIM_INST_GLOBAL_ATOMIC, SIM_INST_OTHER, SIM_INST_OTHER,
      SIM_INST_SHARED_ATOMIC}},
};

static bool has(const struct ptx_instruction *instruction, const char *word)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        if (strcmp(instruction->modifiers[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static const struct opcode_kinds *kinds_of(const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++) {
        if (strcmp(instruction->opcode, memory_kinds[i].opcode) == 0) {
            return &memory_kinds[i];
        }
    }
    return NULL;
}

static bool is_async_copy(const struct ptx_instruction *instruction)
{
    return strcmp(instruction->opcode, "cp") == 0 && has(instruction, "async") &&
           (has(instruction, "ca") || has(instruction, "cg"));
}

enum sim_inst_kind sim_inst_kind_of(const struct ptx_instruction *instruction)
{
    const struct opcode_kinds *kinds = kinds_of(instruction);
    const char *opcode = instruction->opcode;

    if (kinds != NULL) {
        return (enum sim_inst_kind)kinds->by_space[space_of(instruction)];
    }
    if (is_async_copy(instruction)) {
        return SIM_INST_ASYNC_COPY;
    }
    if ((strcmp(opcode, "bar") == 0 || strcmp(opcode, "barrier") == 0) &&
        !has(instruction, "warp")) {
        return SIM_INST_BARRIER;
    }
    return strcmp(opcode, "bra") == 0 || strcmp(opcode, "brx") == 0 ? SIM_INST_BRANCH
                                                                    : SIM_INST_OTHER;
}

static uint32_t width_of(const struct ptx_instruction *instruction)
{
    enum ptx_type type = PTX_NO_TYPE;
    uint32_t elements = 1;

    if (is_async_copy(instruction)) {
        return instruction->operand_count >= 3 &&
                       instruction->operands[2].kind == PTX_OPERAND_INTEGER
                   ? (uint32_t)instruction->operands[2].integer
                   : 0;
    }
    if (kinds_of(instruction) == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        const char *word = instruction->modifiers[i];
        const enum ptx_type found = ptx_type_of(word);

        type = found != PTX_NO_TYPE ? found : type;
        if (word[0] == 'v' && word[1] >= '2' && word[1] <= '8' && word[2] == '\0') {
            elements = (uint32_t)(word[1] - '0');
        }
    }
    return elements * ptx_types[type].bytes;
}

static size_t name_bytes(const struct ptx_instruction *instruction)
{
    size_t bytes = strlen(instruction->opcode) + 1;

    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        bytes += strlen(instruction->modifiers[i]) + 1;
    }
    return bytes;
}

static char *write_name(char *to, const struct ptx_instruction *instruction)
{
    to = stpcpy(to, instruction->opcode);
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        *to++ = '.';
        to = stpcpy(to, instruction->modifiers[i]);
    }
    return to + 1;
}

static struct sim_inst_info site_of(const struct sim_code *code,
                                    const struct ptx_instruction *instruction, const char *name)
{
    const struct ptx_place place = ptx_place_of(code->kernel->module->ptx, instruction);

    return (struct sim_inst_info){
        .function = code->ptx->name,
        .opcode = name,
        .file = place.file,
        .line = place.line,
        .column = place.column,
        .caller_file = place.caller_file,
        .caller_line = place.caller_line,
        .ptx_line = instruction->line,
        .width = width_of(instruction),
        .kind = (uint8_t)sim_inst_kind_of(instruction),
    };
}

/* The levels of `site`, where anything was inlined there. Neighbours often share a line. */
static int add_levels(struct gmt_arena *arena, const struct sim_code *code, uint32_t index,
                      struct sim_inst_info *site)
{
    const struct ptx_instruction *instruction = &code->ptx->instructions[index];
    struct ptx_level found[PTX_MOST_LEVELS];

    if (index > 0 && instruction[-1].loc == instruction->loc) {
        site->levels = site[-1].levels;
        site->level_count = site[-1].level_count;
        return 0;
    }
    const size_t count = ptx_levels_of(code->kernel->module->ptx, instruction, found);
    struct sim_source_level *levels = count > 1 ? gmt_arena_alloc(arena, count * sizeof(*levels))
                                                : NULL;
    if (levels == NULL) {
        return count > 1 ? -ENOMEM : 0;
    }
    for (size_t i = 0; i < count; i++) {
        levels[i] = (struct sim_source_level){.function = found[i].function,
                                              .file = found[i].file,
                                              .line = found[i].line,
                                              .level = found[i].level};
    }
    site->levels = levels;
    site->level_count = (uint32_t)count;
    return 0;
}

int sim_kernel_make_insts(struct sim_kernel *kernel)
{
    struct gmt_arena *arena = &kernel->module->arena;
    size_t bytes = 0, at = 0;

    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct ptx_function *ptx = kernel->codes[i].ptx;

        for (uint32_t k = 0; k < ptx->instruction_count; k++) {
            bytes += name_bytes(&ptx->instructions[k]);
        }
    }
    char *names = gmt_arena_alloc(arena, bytes + 1);
    struct sim_inst_info *sites = gmt_arena_alloc(arena, (kernel->site_count + 1) * sizeof(*sites));
    if (names == NULL || sites == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct sim_code *code = &kernel->codes[i];

        for (uint32_t k = 0; k < code->ptx->instruction_count; k++) {
            sites[at] = site_of(code, &code->ptx->instructions[k], names);
            const int error = add_levels(arena, code, k, &sites[at++]);
            if (error != 0) {
                return error;
            }
            names = write_name(names, &code->ptx->instructions[k]);
        }
    }
    kernel->sites = sites;
    return 0;
}
