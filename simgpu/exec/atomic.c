/* SPDX-License-Identifier: Apache-2.0 */
/* The atomic family: atom and red, on one word or a vector of words per lane. */
#include "simgpu/exec/atomic_apply.h"

#include <string.h>

/* What does not fit an operation: one per instruction. */
struct atomic {
    uint32_t address_at; /* frame offset */
    int64_t offset;
    bool address_is_32;
    uint8_t space;  /* enum ptx_space as written */
    uint8_t vector; /* words per lane */
    uint8_t bytes;  /* of a word */
    sim_atomic apply;
    uint32_t old[SIM_MAX_VECTOR], value[SIM_MAX_VECTOR], other; /* frame offsets */
};

static const struct sim_op *run_atomic(struct sim_warp *warp, const struct sim_op *op,
                                       uint32_t mask)
{
    const struct atomic *atomic = op->more;
    struct sim_access access;

    sim_access_load_addresses(&access, warp->frame, atomic->address_at, atomic->address_is_32,
                              atomic->offset);
    access.rest = mask;
    access.width = (uint32_t)atomic->vector * atomic->bytes;
    access.uses = SIM_USE_READ | SIM_USE_WRITE;
    access.is_atomic = 1;
    access.is_async = access.is_bypass = access.is_strong = access.is_later = 0;
    do {
        if (!sim_access_next(warp, op, &access, (enum ptx_space)atomic->space)) {
            return NULL;
        }
        for (unsigned k = 0; k < atomic->vector; k++) {
            atomic->apply(&access, k * atomic->bytes, warp->frame + atomic->value[k],
                          warp->frame + atomic->other, warp->frame + atomic->old[k]);
        }
    } while (access.rest != 0);
    return op + 1;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static const char *const names[] = {"add", "min", "max", "inc",  "dec",
                                    "and", "or",  "xor", "exch", "cas"};

static const char *name_of(const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (sim_has(instruction, names[i])) {
            return names[i];
        }
    }
    return NULL;
}

/* Registers of an operand that is one word or a vector of them, all as wide as the word. */
static bool decode_words(struct sim_decoder *decoder, const struct ptx_operand *operand,
                         enum ptx_type type, const struct atomic *atomic, bool are_written,
                         uint32_t *at)
{
    const bool braces = operand->kind == PTX_OPERAND_VECTOR;

    if ((braces ? operand->count : 1) != atomic->vector) {
        sim_decode_refuse(decoder, "%u words are expected", atomic->vector);
        return false;
    }
    for (unsigned k = 0; k < atomic->vector; k++) {
        const struct ptx_operand *item = braces ? &operand->items[k] : operand;
        if (item->kind == PTX_OPERAND_REGISTER &&
            sim_operand_bytes(decoder, item) != atomic->bytes) {
            sim_decode_refuse(decoder, "a register of %u bytes is expected", atomic->bytes);
            return false;
        }
        at[k] = are_written ? sim_target_operand(decoder, item)
                            : sim_source_operand(decoder, item, type);
    }
    return !sim_decode_failed(decoder);
}

static bool decode_place(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                         const struct ptx_operand *address, struct atomic *atomic)
{
    struct sim_op op = {0};
    const enum ptx_space space = sim_decode_space(instruction);

    if (sim_has(instruction, "shared::cluster") ||
        (space != PTX_GENERIC && space != PTX_GLOBAL && space != PTX_SHARED)) {
        sim_decode_refuse(decoder, "atomics work on global and shared memory of the block");
        return false;
    }
    if (!sim_decode_address(decoder, address, &op)) {
        return false;
    }
    atomic->space = (uint8_t)space;
    atomic->address_at = op.a;
    atomic->offset = op.memory.offset;
    atomic->address_is_32 = (op.flags & SIM_ADDRESS_32) != 0;
    return true;
}

static bool decode_operation(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                             enum ptx_type type, struct atomic *atomic)
{
    const char *name = name_of(instruction);

    atomic->apply = name != NULL ? sim_atomic_find(name, type) : NULL;
    if (atomic->apply == NULL) {
        sim_decode_refuse(decoder, "no operation %s on type %s is supported",
                          name != NULL ? name : "(none given)",
                          type < PTX_TYPES && type != PTX_NO_TYPE ? ptx_types[type].spelling
                                                                  : "(none given)");
        return false;
    }
    atomic->bytes = (uint8_t)ptx_types[type].bytes;
    atomic->vector = sim_has(instruction, "v8")   ? 8
                     : sim_has(instruction, "v4") ? 4
                     : sim_has(instruction, "v2") ? 2
                                                  : 1;
    if (atomic->vector * atomic->bytes > 16) {
        sim_decode_refuse(decoder, "no vector of %u words of %u bytes", atomic->vector,
                          atomic->bytes);
        return false;
    }
    return true;
}

enum sim_decode_result sim_decode_atomic(struct sim_decoder *decoder,
                                         const struct ptx_instruction *instruction,
                                         struct sim_op *op)
{
    const bool returns = strcmp(instruction->opcode, "atom") == 0;
    const unsigned first = returns ? 1 : 0; /* operand: the address */
    const enum ptx_type type = sim_type(instruction, 0);
    const struct ptx_operand *operands = instruction->operands;

    if (!returns && strcmp(instruction->opcode, "red") != 0) {
        return SIM_NOT_MINE;
    }
    if (sim_has(instruction, "async")) {
        return sim_decode_refuse(decoder, "asynchronous reductions are not supported");
    }
    const bool has_other = sim_has(instruction, "cas");
    if (instruction->operand_count < first + 2 + has_other) {
        return sim_decode_refuse(decoder, "operands are missing");
    }
    struct atomic *atomic = sim_decode_alloc(decoder, sizeof *atomic);
    if (atomic == NULL) {
        return sim_decode_refuse(decoder, "no memory");
    }
    if (!decode_operation(decoder, instruction, type, atomic) ||
        !decode_place(decoder, instruction, &operands[first], atomic) ||
        !decode_words(decoder, &operands[first + 1], type, atomic, false, atomic->value)) {
        return SIM_UNSUPPORTED;
    }
    if (returns && !decode_words(decoder, &operands[0], type, atomic, true, atomic->old)) {
        return SIM_UNSUPPORTED;
    }
    if (has_other &&
        !decode_words(decoder, &operands[first + 2], type, atomic, false, &atomic->other)) {
        return SIM_UNSUPPORTED;
    }
    op->more = atomic;
    op->run = run_atomic;
    return SIM_DECODED;
}
