/* SPDX-License-Identifier: Apache-2.0 */
/* ld, ldu and st: through checked addresses, or of parameters by name. */
#include "simgpu/exec/load_store.h"

#include <string.h>

#include "simgpu/exec/transfer.h"

static const struct sim_transfer_pair *transfer_of(const struct sim_op *op, unsigned k)
{
    return &sim_transfers[op->d >> (SIM_TRANSFER_BITS * k) & ((1u << SIM_TRANSFER_BITS) - 1)];
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void load_lanes(struct sim_warp *warp, const struct sim_op *op,
                       const struct sim_access *access)
{
    for (unsigned k = 0; k < op->memory.vector; k++) {
        const struct sim_transfer_pair *pair = transfer_of(op, k);
        (op->memory.extend_sign ? pair->load_signed : pair->load)(
            access, warp->frame + op->memory.lanes_at[k], k * op->memory.element_bytes);
    }
}

static void store_lanes(struct sim_warp *warp, const struct sim_op *op,
                        const struct sim_access *access)
{
    for (unsigned k = 0; k < op->memory.vector; k++) {
        transfer_of(op, k)->store(access, warp->frame + op->memory.lanes_at[k],
                                  k * op->memory.element_bytes);
    }
}

static const struct sim_op *run_load(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    struct sim_access access;

    sim_access_begin(&access, warp, op, mask, SIM_USE_READ);
    do {
        if (!sim_access_next(warp, op, &access, (enum ptx_space)op->memory.space)) {
            return NULL;
        }
        load_lanes(warp, op, &access);
    } while (access.rest != 0);
    return op + 1;
}

static const struct sim_op *run_store(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    struct sim_access access;

    sim_access_begin(&access, warp, op, mask, SIM_USE_WRITE);
    do {
        if (!sim_access_next(warp, op, &access, (enum ptx_space)op->memory.space)) {
            return NULL;
        }
        store_lanes(warp, op, &access);
    } while (access.rest != 0);
    return op + 1;
}

/* ---- parameters by name ----------------------------------------------------------------------- */

/* Of a kernel: the same for every lane; op->memory.offset lies in the parameter block. */
static const struct sim_op *run_kernel_parameter(struct sim_warp *warp, const struct sim_op *op,
                                                 uint32_t mask)
{
    const uint8_t *params = (const uint8_t *)warp->worker->launch->params + op->memory.offset;

    for (unsigned k = 0; k < op->memory.vector; k++) {
        sim_transfer_spread(transfer_of(op, k), op->memory.extend_sign,
                            params + k * op->memory.element_bytes, mask,
                            warp->frame + op->memory.lanes_at[k]);
    }
    return op + 1;
}

/* Of a function: op->a is the slot in the frame, op->b its bytes per lane. */
static void reach_slot(struct sim_access *access, const struct sim_warp *warp,
                       const struct sim_op *op, uint32_t mask)
{
    memset(access->address, 0, sizeof access->address);
    access->origin = (uintptr_t)(warp->frame + op->a) + (uint64_t)op->memory.offset;
    access->lane_stride = op->b;
    access->mask = mask;
    access->shape = SIM_SHAPE_ANY;
    access->width = (uint32_t)op->memory.vector * op->memory.element_bytes;
}

static const struct sim_op *run_load_slot(struct sim_warp *warp, const struct sim_op *op,
                                          uint32_t mask)
{
    struct sim_access access;

    reach_slot(&access, warp, op, mask);
    load_lanes(warp, op, &access);
    return op + 1;
}

static const struct sim_op *run_store_slot(struct sim_warp *warp, const struct sim_op *op,
                                           uint32_t mask)
{
    struct sim_access access;

    reach_slot(&access, warp, op, mask);
    store_lanes(warp, op, &access);
    return op + 1;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static bool in_bounds(const struct ptx_variable *variable, int64_t offset, unsigned width)
{
    return offset >= 0 && width <= variable->bytes && (uint64_t)offset <= variable->bytes - width;
}

/* [name + offset] of a .param variable. */
static enum sim_decode_result decode_parameter(struct sim_decoder *decoder,
                                               const struct ptx_variable *variable, int64_t offset,
                                               bool stores, struct sim_op *op)
{
    const unsigned width = (unsigned)op->memory.vector * op->memory.element_bytes;
    const struct sim_param_slot *slot = sim_decode_param(decoder, variable);

    if (!in_bounds(variable, offset, width)) {
        return sim_decode_refuse(decoder, "%u bytes at offset %lld of the %zu bytes of %s", width,
                                 (long long)offset, variable->bytes, variable->name);
    }
    if (slot != NULL) {
        op->a = slot->frame_offset;
        op->b = slot->bytes;
        op->memory.offset = offset;
        op->run = stores ? run_store_slot : run_load_slot;
        return SIM_DECODED;
    }
    if (stores) {
        return sim_decode_refuse(decoder, "a kernel cannot write its parameter %s", variable->name);
    }
    op->memory.offset = offset + (int64_t)sim_decode_offset(decoder, variable);
    op->run = run_kernel_parameter;
    return SIM_DECODED;
}

/* The .param variable that an address names, NULL if it names none. */
static const struct ptx_variable *named_parameter(const struct ptx_operand *address)
{
    const struct ptx_operand *base = address->kind == PTX_OPERAND_ADDRESS && address->items != NULL
                                         ? address->items
                                         : address;

    return base->kind == PTX_OPERAND_VARIABLE && base->variable->space == PTX_PARAM ? base->variable
                                                                                    : NULL;
}

static int64_t total_offset(const struct ptx_operand *address)
{
    return address->kind == PTX_OPERAND_ADDRESS && address->items != NULL
               ? (int64_t)((uint64_t)address->offset + (uint64_t)address->items->offset)
               : address->offset;
}

static bool is_strong(const struct ptx_instruction *instruction)
{
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "mmio"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sim_has(instruction, words[i])) {
            return true;
        }
    }
    return false;
}

enum sim_decode_result sim_decode_load_store(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction, bool stores,
                                             struct sim_op *op)
{
    const struct ptx_operand *operands = instruction->operands;
    const enum ptx_type type = sim_type(instruction, 0);
    enum ptx_space space = sim_decode_space(instruction);

    if (instruction->operand_count < 2) {
        return sim_decode_refuse(decoder, "operands are missing");
    }
    if (sim_has(instruction, "shared::cluster")) {
        return sim_decode_refuse(decoder, "memory of other blocks of a cluster is not supported");
    }
    const struct ptx_operand *address = &operands[stores ? 0 : 1];
    if (!sim_decode_elements(decoder, instruction, &operands[stores ? 1 : 0], type, !stores, op)) {
        return SIM_UNSUPPORTED;
    }
    if (space == PTX_PARAM && named_parameter(address) != NULL) {
        return decode_parameter(decoder, named_parameter(address), total_offset(address), stores,
                                op);
    }
    /* A device function's parameter whose address is taken has been put in local memory. */
    if (space == PTX_PARAM && !sim_decode_function(decoder)->is_entry) {
        space = PTX_LOCAL;
    }
    if (!sim_decode_address(decoder, address, op)) {
        return SIM_UNSUPPORTED;
    }
    op->memory.space = (uint8_t)space;
    if (is_strong(instruction)) {
        op->flags |= SIM_ACCESS_STRONG;
    }
    op->run = stores ? run_store : run_load;
    return SIM_DECODED;
}
