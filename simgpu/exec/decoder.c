/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of instructions ask of the decoder: to refuse, for memory, where variables lie. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simgpu/exec/decode.h"

enum sim_decode_result sim_decode_refuse(struct sim_decoder *decoder, const char *format, ...)
{
    if (!decoder->failed) {
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(decoder->refusal, sizeof(decoder->refusal), format, arguments);
        va_end(arguments);
        decoder->failed = true;
    }
    return SIM_UNSUPPORTED;
}

bool sim_decode_failed(const struct sim_decoder *decoder)
{
    return decoder->failed;
}

void *sim_decode_alloc(struct sim_decoder *decoder, size_t bytes)
{
    void *memory = gmt_arena_alloc_aligned(&decoder->module->arena, bytes != 0 ? bytes : 1,
                                           SIM_LANES_ALIGNMENT);

    if (memory == NULL) {
        decoder->no_memory = decoder->failed = true;
    }
    return memory;
}

const struct ptx_function *sim_decode_function(const struct sim_decoder *decoder)
{
    return decoder->code->ptx;
}

bool sim_has(const struct ptx_instruction *instruction, const char *word)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        if (strcmp(instruction->modifiers[i], word) == 0) {
            return true;
        }
    }
    return false;
}

enum ptx_type sim_type(const struct ptx_instruction *instruction, unsigned n)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        const enum ptx_type type = ptx_type_of(instruction->modifiers[i]);

        if (type != PTX_NO_TYPE && n-- == 0) {
            return type;
        }
    }
    return PTX_NO_TYPE;
}

/* ---- variables ------------------------------------------------------------------------------ */

static bool index_in(const struct ptx_variable *variable, const struct ptx_variable *list,
                     uint32_t count, uint32_t *index)
{
    if (list == NULL || variable < list || variable >= list + count) {
        return false;
    }
    *index = (uint32_t)(variable - list);
    return true;
}

static bool local_index(const struct sim_code *code, const struct ptx_variable *variable,
                        uint32_t *index)
{
    *index = variable->index;
    return variable->index < code->ptx->local_count &&
           code->ptx->locals[variable->index] == variable;
}

const struct sim_param_slot *sim_decode_param(struct sim_decoder *decoder,
                                              const struct ptx_variable *variable)
{
    const struct sim_code *code = decoder->code;
    uint32_t i;

    if (index_in(variable, code->ptx->params, code->ptx->param_count, &i)) {
        return code->ptx->is_entry ? NULL : &code->param_slots[i];
    }
    if (index_in(variable, code->ptx->returns, code->ptx->return_count, &i)) {
        return &code->return_slots[i];
    }
    return local_index(code, variable, &i) ? &code->local_params[i] : NULL;
}

uint64_t sim_decode_offset(struct sim_decoder *decoder, const struct ptx_variable *variable)
{
    const struct sim_code *code = decoder->code;
    const struct sim_kernel *kernel = decoder->kernel;
    uint32_t i;

    variable = sim_variable_definition(decoder->module, variable);
    if (variable == NULL) {
        return 0;
    }
    if (variable->space == PTX_SHARED && variable->is_external) {
        return kernel->dynamic_at;
    }
    if (index_in(variable, code->ptx->params, code->ptx->param_count, &i)) {
        return code->ptx->is_entry ? kernel->info.params[i].offset : 0;
    }
    if (variable->function != NULL) {
        return local_index(code, variable, &i) ? code->local_offsets[i] : 0;
    }
    if (variable->space == PTX_SHARED) {
        const uint64_t offset = kernel->shared_offsets[variable->index];

        return offset != SIM_NOT_LAID_OUT ? offset : 0;
    }
    i = decoder->module->global_of[variable->index];
    return i != UINT32_MAX ? (uint64_t)(uintptr_t)decoder->module->globals[i].data : 0;
}

uint64_t sim_local_reserve(struct sim_decoder *decoder, uint64_t bytes, uint64_t align)
{
    const uint64_t at = (decoder->code->local_bytes + align - 1) & ~(align - 1);

    decoder->code->local_bytes = (at + bytes + SIM_CALL_BYTES - 1) &
                                 ~(uint64_t)(SIM_CALL_BYTES - 1);
    return at;
}
