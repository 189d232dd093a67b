/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the row for an instruction in a table of forms, and filling an operation from it. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/form.h"

/* ---- the processor -------------------------------------------------------------------------- */

static _Atomic int chosen_level = -1;

static bool can_run(enum sim_level level)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return level == SIM_LEVEL_ANY ||
           (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2"));
#else
    return level == SIM_LEVEL_ANY;
#endif
}

enum sim_level sim_level(void)
{
    int level = atomic_load_explicit(&chosen_level, memory_order_relaxed);
    if (level < 0) {
        level = can_run(SIM_LEVEL_AVX2) ? SIM_LEVEL_AVX2 : SIM_LEVEL_ANY;
        atomic_store_explicit(&chosen_level, level, memory_order_relaxed);
    }
    return (enum sim_level)level;
}

/* ---- matching ------------------------------------------------------------------------------- */

bool sim_form_text(const struct ptx_instruction *instruction, char *text, size_t bytes)
{
    int length = snprintf(text, bytes, "%s", instruction->opcode);
    size_t used = length < 0 ? bytes : (size_t)length;
    for (uint32_t i = 0; i < instruction->modifier_count && used < bytes; i++) {
        length = snprintf(text + used, bytes - used, ".%s", instruction->modifiers[i]);
        used += length < 0 ? bytes : (size_t)length;
    }
    return used < bytes;
}

/* Alternatives nest no deeper than a pattern has groups, so the recursion is short. */
bool sim_form_matches(const char *pattern, const char *text)
{
    while (*pattern != '<') {
        if (*pattern != *text) {
            return false;
        }
        if (*pattern == '\0') {
            return true;
        }
        pattern++;
        text++;
    }
    const char *rest = strchr(pattern, '>') + 1;
    while (pattern + 1 < rest) {
        const char *word = pattern + 1;
        size_t length = strcspn(word, ",>");
        if (strncmp(word, text, length) == 0 && sim_form_matches(rest, text + length)) {
            return true;
        }
        pattern = word + length;
    }
    return false;
}

const struct sim_form *sim_form_find(const struct sim_form *forms, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (forms[i].pattern[0] == text[0] && sim_form_matches(forms[i].pattern, text)) {
            return &forms[i];
        }
    }
    return NULL;
}

static const struct {
    const char *word;
    uint32_t flags;
} modifier_flags[] = {
    {"rn", SIM_RN | SIM_ROUND_GIVEN},
    {"rz", SIM_RZ | SIM_ROUND_GIVEN},
    {"rm", SIM_RM | SIM_ROUND_GIVEN},
    {"rp", SIM_RP | SIM_ROUND_GIVEN},
    {"rni", SIM_RN | SIM_ROUND_GIVEN | SIM_TO_WHOLE},
    {"rzi", SIM_RZ | SIM_ROUND_GIVEN | SIM_TO_WHOLE},
    {"rmi", SIM_RM | SIM_ROUND_GIVEN | SIM_TO_WHOLE},
    {"rpi", SIM_RP | SIM_ROUND_GIVEN | SIM_TO_WHOLE},
    {"ftz", SIM_FTZ},
    {"sat", SIM_SAT},
    {"relu", SIM_RELU},
    {"NaN", SIM_NAN},
    {"xorsign", SIM_XORSIGN},
    {"cc", SIM_CC},
};

uint32_t sim_form_flags(const struct ptx_instruction *instruction)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        for (size_t j = 0; j < sizeof(modifier_flags) / sizeof(modifier_flags[0]); j++) {
            if (strcmp(instruction->modifiers[i], modifier_flags[j].word) == 0) {
                flags |= modifier_flags[j].flags;
            }
        }
    }
    return flags;
}

/* ---- operands ------------------------------------------------------------------------------- */

static unsigned lane_bytes(enum ptx_type type)
{
    return ptx_types[type].bytes == 1 ? 2 : ptx_types[type].bytes;
}

static bool register_fits(struct sim_decoder *decoder, const struct ptx_operand *operand,
                          enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_REGISTER ||
        sim_operand_bytes(decoder, operand) == lane_bytes(type)) {
        return true;
    }
    sim_decode_refuse(decoder, "a register of %u bits where .%s is needed",
                      8 * sim_operand_bytes(decoder, operand), ptx_types[type].spelling);
    return false;
}

uint32_t sim_exact_source(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                          uint32_t index, enum ptx_type type)
{
    if (index < instruction->operand_count &&
        !register_fits(decoder, &instruction->operands[index], type)) {
        return SIM_NOWHERE;
    }
    return sim_source(decoder, instruction, index, type);
}

uint32_t sim_exact_target(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                          uint32_t index, enum ptx_type type)
{
    if (index < instruction->operand_count &&
        !register_fits(decoder, &instruction->operands[index], type)) {
        return SIM_NOWHERE;
    }
    return sim_target(decoder, instruction, index);
}

enum sim_decode_result sim_form_fill(struct sim_decoder *decoder,
                                     const struct ptx_instruction *instruction,
                                     const struct sim_form *form, struct sim_op *op)
{
    uint32_t *sources[SIM_MAX_SOURCES] = {&op->a, &op->b, &op->c, &op->d};
    uint32_t count = 0;
    while (count < SIM_MAX_SOURCES && form->sources[count] != PTX_NO_TYPE) {
        count++;
    }
    if (instruction->operand_count != count + 1) {
        return sim_decode_refuse(decoder, "%u operands where it has %u", instruction->operand_count,
                                 count + 1);
    }
    op->run = form->run;
    op->flags = sim_form_flags(instruction);
    op->dst = sim_exact_target(decoder, instruction, 0, (enum ptx_type)form->target);
    for (uint32_t i = 0; i < count; i++) {
        *sources[i] = sim_exact_source(decoder, instruction, i + 1,
                                       (enum ptx_type)form->sources[i]);
    }
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}
