/* SPDX-License-Identifier: Apache-2.0 */
/* The memory family: which opcode is whose, conversions of addresses, and what is only a hint. */
#include <string.h>

#include "simgpu/exec/load_store.h"
#include "simgpu/exec/memory_state.h"

/* ---- addresses -------------------------------------------------------------------------------- */

/* cvta: op->memory.offset is what the generic address has more. */
static const struct sim_op *run_shift_address(struct sim_warp *warp, const struct sim_op *op,
                                              uint32_t mask)
{
    uint64_t *out = SIM_AT(warp->frame, op->dst, uint64_t);
    const uint64_t *in = SIM_AT(warp->frame, op->a, const uint64_t);
    const uint64_t add = (uint64_t)op->memory.offset;

    SIM_FOR_LANES(mask, i, out[i] = in[i] + add);
    return op + 1;
}

static enum sim_decode_result decode_cvta(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const enum ptx_space space = sim_has(instruction, "shared::cluster")
                                     ? PTX_SHARED
                                     : sim_decode_space(instruction);

    if (space == PTX_GENERIC || sim_type(instruction, 0) != PTX_U64) {
        return sim_decode_refuse(decoder, "only 64-bit addresses of a named space are supported");
    }
    op->dst = sim_target(decoder, instruction, 0);
    op->a = sim_source(decoder, instruction, 1, PTX_U64);
    const uint64_t window = sim_window_of(space);
    op->memory.offset = (int64_t)(sim_has(instruction, "to") ? 0 - window : window);
    op->run = run_shift_address;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

static bool is_constant(const struct sim_memory *memory, uint64_t address)
{
    const uint32_t region = sim_memory_find(memory, address);
    return region != SIM_NO_REGION && (memory->map->regions[region].flags & SIM_REGION_CONST) != 0;
}

/* Constant memory lies among global memory here; the question distinguishes them by the map. */
static bool lies_in(const struct sim_memory *memory, uint64_t address, enum ptx_space space)
{
    const enum ptx_space found = sim_space_of(address);

    if (found != PTX_GLOBAL) {
        return found == space;
    }
    return space == (is_constant(memory, address) ? PTX_CONST : PTX_GLOBAL);
}

static const struct sim_op *run_isspacep(struct sim_warp *warp, const struct sim_op *op,
                                         uint32_t mask)
{
    uint32_t *out = SIM_AT(warp->frame, op->dst, uint32_t);
    const uint64_t *in = SIM_AT(warp->frame, op->a, const uint64_t);
    uint32_t inside = 0;

    SIM_FOR_LANES(
        mask, i,
        inside |= (uint32_t)lies_in(warp->worker->memory, in[i], (enum ptx_space)op->memory.space)
                  << i);
    *out = (*out & ~mask) | inside;
    return op + 1;
}

static enum sim_decode_result decode_isspacep(struct sim_decoder *decoder,
                                              const struct ptx_instruction *instruction,
                                              struct sim_op *op)
{
    const enum ptx_space space = sim_has(instruction, "shared::cluster")
                                     ? PTX_SHARED
                                     : sim_decode_space(instruction);

    if (space == PTX_GENERIC) {
        return sim_decode_refuse(decoder, "the space to ask for is missing");
    }
    op->dst = sim_target(decoder, instruction, 0);
    op->a = sim_source(decoder, instruction, 1, PTX_U64);
    op->memory.space = (uint8_t)space;
    op->run = run_isspacep;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

/* ---- hints ------------------------------------------------------------------------------------ */

static const struct sim_op *run_nothing(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    (void)warp;
    (void)mask;
    return op + 1;
}

/* Prefetches cannot fault, and what a cache would do with a line is not simulated. */
static enum sim_decode_result decode_hint(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    (void)decoder;
    (void)instruction;
    op->run = run_nothing;
    return SIM_DECODED;
}

static const struct sim_op *run_policy(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask)
{
    uint64_t *out = SIM_AT(warp->frame, op->dst, uint64_t);

    SIM_FOR_LANES(mask, i, out[i] = 0);
    return op + 1;
}

/* An opaque value that only cache hints take, which are ignored: any value is right. */
static enum sim_decode_result decode_policy(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            struct sim_op *op)
{
    op->dst = sim_target(decoder, instruction, 0);
    op->run = run_policy;
    return sim_decode_failed(decoder) ? SIM_UNSUPPORTED : SIM_DECODED;
}

/* ---- the family ------------------------------------------------------------------------------- */

static enum sim_decode_result decode_load(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    return sim_decode_load_store(decoder, instruction, false, op);
}

static enum sim_decode_result decode_store(struct sim_decoder *decoder,
                                           const struct ptx_instruction *instruction,
                                           struct sim_op *op)
{
    if (sim_has(instruction, "async")) {
        return sim_decode_refuse(decoder, "stores to other blocks of a cluster are not supported");
    }
    return sim_decode_load_store(decoder, instruction, true, op);
}

static const struct {
    const char *opcode;
    sim_family decode;
} opcodes[] = {
    {"ld", decode_load},
    {"st", decode_store},
    {"ldu", decode_load},
    {"cvta", decode_cvta},
    {"cp", sim_decode_async_copy},
    {"isspacep", decode_isspacep},
    {"prefetch", decode_hint},
    {"prefetchu", decode_hint},
    {"discard", decode_hint},
    {"applypriority", decode_hint},
    {"createpolicy", decode_policy},
};

enum sim_decode_result sim_decode_memory(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         struct sim_op *op)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        if (strcmp(instruction->opcode, opcodes[i].opcode) == 0) {
            return opcodes[i].decode(decoder, instruction, op);
        }
    }
    return SIM_NOT_MINE;
}
