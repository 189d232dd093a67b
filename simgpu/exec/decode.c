/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding: each PTX instruction becomes an operation, by the first family that knows its opcode. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/exec/decode.h"
#include "simgpu/exec/path.h"
#include "simgpu/exec/warp.h"

static const sim_family families[] = {
#define SIM_FAMILY(name) sim_decode_##name,
#include "simgpu/exec/families.def"
#undef SIM_FAMILY
};

/* ---- instructions --------------------------------------------------------------------------- */

static const struct sim_op *run_refused(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    return sim_warp_fault(warp, op, mask, SIM_ILLEGAL_INSTRUCTION,
                          "%s: not supported by the software device", (const char *)op->more);
}

static const struct sim_op *run_fresh(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    const struct sim_fresh_op *fresh = &warp->code->fresh[op->index];

    for (uint32_t i = 0; i < fresh->count; i++) {
        sim_special_fill(warp, &fresh->specials[i], warp->frame);
    }
    return fresh->run(warp, op, mask);
}

static void make_fresh(struct sim_decoder *decoder, struct sim_op *op)
{
    struct sim_code *code = decoder->code;
    const size_t bytes = decoder->fresh_count * sizeof(decoder->fresh[0]);

    if (code->fresh == NULL) {
        code->fresh = sim_decode_alloc(decoder,
                                       ((size_t)code->op_count + 1) * sizeof(*code->fresh));
    }
    struct sim_special_slot *specials = sim_decode_alloc(decoder, bytes);
    if (code->fresh == NULL || specials == NULL) {
        return;
    }
    memcpy(specials, decoder->fresh, bytes);
    code->fresh[op->index] = (struct sim_fresh_op){
        .run = op->run, .specials = specials, .count = decoder->fresh_count};
    op->run = run_fresh;
}

static void refuse(struct sim_decoder *decoder, struct sim_op *op)
{
    const size_t bytes = strlen(decoder->refusal) + 1;
    char *text = sim_decode_alloc(decoder, bytes);

    if (text != NULL) {
        memcpy(text, decoder->refusal, bytes);
        op->run = run_refused;
        op->more = text;
    }
}

static void place_guard(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                        struct sim_op *op)
{
    op->guard = SIM_ONES_AT;
    op->guard_flip = 0;
    if (!instruction->guarded) {
        return;
    }
    const struct ptx_register *reg = &decoder->code->ptx->registers[instruction->guard];
    if (ptx_types[reg->type].kind != PTX_KIND_PREDICATE) {
        sim_decode_refuse(decoder, "guard %s, which is no predicate", reg->name);
        return;
    }
    op->guard = decoder->register_at[instruction->guard];
    op->guard_flip = instruction->guard_negated ? SIM_FULL_MASK : 0;
}

static void decode_instruction(struct sim_decoder *decoder, uint32_t index)
{
    const struct ptx_instruction *instruction = &decoder->code->ptx->instructions[index];
    struct sim_op op = {.run = NULL};
    enum sim_decode_result result = SIM_NOT_MINE;

    decoder->instruction = index;
    decoder->failed = false;
    decoder->fresh_count = 0;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && result == SIM_NOT_MINE; i++) {
        op = (struct sim_op){.run = NULL};
        result = families[i](decoder, instruction, &op);
    }
    if (result == SIM_NOT_MINE) {
        sim_decode_refuse(decoder, "instruction %s", instruction->opcode);
    } else if (result == SIM_UNSUPPORTED || op.run == NULL) {
        sim_decode_refuse(decoder, "this form of %s", instruction->opcode);
    }
    op.index = index;
    place_guard(decoder, instruction, &op);
    if (decoder->failed) {
        refuse(decoder, &op);
    } else if (decoder->fresh_count != 0) {
        make_fresh(decoder, &op);
    }
    decoder->code->ops[index] = op;
}

/* ---- functions ------------------------------------------------------------------------------ */

static int take_lists(struct sim_decoder *decoder)
{
    struct sim_code *code = decoder->code;

    code->image = sim_decode_alloc(decoder, decoder->image_bytes);
    code->specials = sim_decode_alloc(decoder, decoder->special_count * sizeof(*code->specials));
    code->local_addresses = sim_decode_alloc(decoder, decoder->local_address_count *
                                                          sizeof(*code->local_addresses));
    if (decoder->no_memory) {
        return -ENOMEM;
    }
    memcpy(code->image, decoder->image, decoder->image_bytes);
    if (decoder->special_count != 0) {
        memcpy(code->specials, decoder->specials, decoder->special_count * sizeof(*code->specials));
    }
    if (decoder->local_address_count != 0) {
        memcpy(code->local_addresses, decoder->local_addresses,
               decoder->local_address_count * sizeof(*code->local_addresses));
    }
    code->special_count = (uint32_t)decoder->special_count;
    code->local_address_count = (uint32_t)decoder->local_address_count;
    code->frame_bytes = (uint32_t)decoder->image_bytes;
    return 0;
}

/* A frame that is too large refuses the function as a whole, at its first instruction. */
static void decode_body(struct sim_decoder *decoder)
{
    struct sim_code *code = decoder->code;

    if (sim_frame_lay_out(decoder) != 0) {
        return;
    }
    const bool too_large = decoder->failed;
    for (uint32_t i = 0; i < code->op_count && !decoder->no_memory; i++) {
        decode_instruction(decoder, i);
        if (i == 0 && too_large) {
            sim_decode_refuse(decoder, "a function with this many registers or parameters");
            code->ops[0] = (struct sim_op){.guard = SIM_ONES_AT};
            refuse(decoder, &code->ops[0]);
        }
    }
    code->ops[code->op_count] = (struct sim_op){
        .run = sim_run_return, .index = code->op_count, .guard = SIM_ONES_AT};
}

static int decode_function(struct sim_kernel *kernel, struct sim_code *code)
{
    struct sim_decoder decoder = {.code = code, .kernel = kernel, .module = kernel->module};
    const struct ptx_function *ptx = code->ptx;
    int rc = -ENOMEM;

    code->op_count = ptx->instruction_count;
    code->ops = sim_decode_alloc(&decoder, ((size_t)code->op_count + 1) * sizeof(*code->ops));
    decoder.register_at = calloc((size_t)ptx->register_count + 1, sizeof(*decoder.register_at));
    decoder.reconv_at = malloc(((size_t)ptx->instruction_count + 1) * sizeof(*decoder.reconv_at));
    if (code->ops == NULL || decoder.register_at == NULL || decoder.reconv_at == NULL ||
        ptx_reconvergence(ptx, decoder.reconv_at) != 0) {
        goto out;
    }
    decode_body(&decoder);
    rc = decoder.no_memory ? -ENOMEM : take_lists(&decoder);
out:
    free(decoder.register_at);
    free(decoder.reconv_at);
    free(decoder.image);
    free(decoder.constants);
    free(decoder.specials);
    free(decoder.local_addresses);
    return rc;
}

int sim_kernel_decode(struct sim_kernel *kernel)
{
    kernel->stack_bytes = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const int rc = decode_function(kernel, &kernel->codes[i]);

        if (rc != 0) {
            return rc;
        }
        /* No chain of calls without recursion needs more than all functions together. */
        kernel->stack_bytes += kernel->codes[i].local_bytes + SIM_CALL_BYTES;
    }
    return 0;
}
