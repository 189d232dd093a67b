/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp.async: copies of 4, 8 or 16 bytes per lane from global to shared memory.
 *
 * A copy happens at once: PTX lets it complete at any time before the wait that names it, and it is not
 * ordered with anything before that. So groups and waits have nothing to do.
 */
#include <string.h>

#include "simgpu/exec/load_store.h"

struct async_copy {
    uint32_t to, from; /* frame offsets of address registers */
    bool to_is_32, from_is_32;
    int64_t to_offset, from_offset;
    uint32_t bytes;           /* per lane */
    uint32_t source_bytes_at; /* lane array of how many are read, the rest being zero; 0 = all */
    uint32_t ignored_at;      /* predicate: read nothing; 0 = none */
    bool ignored_negated;
    bool passes_l1; /* .cg */
};

/* ---- executing ------------------------------------------------------------------------------- */

/* How many bytes each lane reads. Returns the lanes that read any, `*partial` those that do not read
 * them all. */
static uint32_t plan(const struct sim_warp *warp, const struct async_copy *copy, uint32_t mask,
                     uint32_t *bytes, uint32_t *partial)
{
    uint32_t ignored = 0, reading = 0;

    *partial = 0;
    if (copy->ignored_at != 0) {
        ignored = *SIM_AT(warp->frame, copy->ignored_at, const uint32_t);
        ignored = copy->ignored_negated ? ~ignored : ignored;
    }
    const uint32_t *given = SIM_AT(warp->frame, copy->source_bytes_at, const uint32_t);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left);
        bytes[i] = copy->source_bytes_at != 0 ? given[i] : copy->bytes;
        if ((ignored >> i & 1) != 0) {
            bytes[i] = 0;
        }
        if (bytes[i] > copy->bytes) {
            bytes[i] = copy->bytes;
        }
        reading |= (uint32_t)(bytes[i] != 0) << i;
        *partial |= (uint32_t)(bytes[i] != 0 && bytes[i] != copy->bytes) << i;
    }
    return reading;
}

/* A lane that reads `bytes` bytes, no power of two perhaps: checked in pieces. */
static bool check_partial(struct sim_warp *warp, const struct sim_op *op,
                          const struct sim_access *access, unsigned lane, uint32_t bytes)
{
    struct sim_access piece = *access;

    piece.mask = 1u << lane;
    for (uint32_t left = bytes; left != 0; left -= piece.width) {
        piece.width = 1u << (31 - (unsigned)__builtin_clz(left));
        if (!sim_access_check(warp, op, &piece)) {
            return false;
        }
        piece.address[lane] += piece.width;
    }
    return true;
}

static bool check_source(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access,
                         uint32_t reading, uint32_t partial, const uint32_t *bytes)
{
    access->space = PTX_GLOBAL;
    access->mask = reading & ~partial;
    if (access->mask != 0 && !sim_access_check(warp, op, access)) {
        return false;
    }
    for (uint32_t left = partial; left != 0; left &= left - 1) {
        if (!check_partial(warp, op, access, sim_first_lane(left), bytes[sim_first_lane(left)])) {
            return false;
        }
    }
    if (partial != 0) { /* counted with the others: naturally aligned, they touch one sector too */
        access->mask = reading;
        access->shape = SIM_SHAPE_ANY;
        access->is_split = 1;
    }
    if (reading == 0) {
        return true;
    }
    const bool counted = sim_access_count(warp, op, access);
    access->is_later = 1;
    return counted;
}

static void copy_lanes(const struct sim_access *access, const uint64_t *from, uint32_t mask,
                       const uint32_t *bytes)
{
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const unsigned i = sim_first_lane(left);
        uint8_t *to = sim_access_at(access, i);
        if (bytes[i] != 0) {
            memcpy(to, (const void *)(uintptr_t)from[i], bytes[i]);
        }
        memset(to + bytes[i], 0, access->width - bytes[i]);
    }
}

static const struct sim_op *run_async_copy(struct sim_warp *warp, const struct sim_op *op,
                                           uint32_t mask)
{
    const struct async_copy *copy = op->more;
    struct sim_access access;
    uint64_t from[SIM_LANES];
    uint32_t bytes[SIM_LANES], partial;
    const uint32_t reading = plan(warp, copy, mask, bytes, &partial);

    sim_access_load_addresses(&access, warp->frame, copy->from, copy->from_is_32,
                              copy->from_offset);
    access.width = copy->bytes;
    access.uses = SIM_USE_READ;
    access.is_atomic = access.is_strong = access.is_later = 0;
    access.is_async = 1;
    access.is_bypass = copy->passes_l1;
    if (!check_source(warp, op, &access, reading, partial, bytes)) {
        return NULL;
    }
    memcpy(from, access.address, sizeof from);
    sim_access_load_addresses(&access, warp->frame, copy->to, copy->to_is_32, copy->to_offset);
    access.uses = SIM_USE_WRITE;
    access.rest = mask;
    if (!sim_access_next(warp, op, &access, PTX_SHARED)) {
        return NULL;
    }
    copy_lanes(&access, from, mask, bytes);
    return op + 1;
}

static const struct sim_op *run_nothing(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask)
{
    (void)warp;
    (void)mask;
    return op + 1;
}

/* ---- decoding -------------------------------------------------------------------------------- */

static bool decode_addresses(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                             struct async_copy *copy)
{
    struct sim_op to = {0}, from = {0};

    if (!sim_decode_address(decoder, &instruction->operands[0], &to) ||
        !sim_decode_address(decoder, &instruction->operands[1], &from)) {
        return false;
    }
    copy->to = to.a;
    copy->to_is_32 = (to.flags & SIM_ADDRESS_32) != 0;
    copy->to_offset = to.memory.offset;
    copy->from = from.a;
    copy->from_is_32 = (from.flags & SIM_ADDRESS_32) != 0;
    copy->from_offset = from.memory.offset;
    return true;
}

/* The operand after the size: how many bytes to read, whether to read, or a cache policy. */
static bool decode_source_limit(struct sim_decoder *decoder,
                                const struct ptx_instruction *instruction, struct async_copy *copy)
{
    const struct ptx_operand *limit = &instruction->operands[3];
    const bool is_register = limit->kind == PTX_OPERAND_REGISTER;
    const unsigned bytes = is_register ? sim_operand_bytes(decoder, limit) : 0;

    if (bytes == 8 && instruction->operand_count == 4 && sim_has(instruction, "L2::cache_hint")) {
        return true;
    }
    if (is_register && bytes == 0) {
        copy->ignored_at = sim_source(decoder, instruction, 3, PTX_PRED);
        copy->ignored_negated = limit->negated;
    } else {
        copy->source_bytes_at = sim_source(decoder, instruction, 3, PTX_U32);
    }
    return !sim_decode_failed(decoder);
}

static enum sim_decode_result decode_copy(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op)
{
    const struct ptx_operand *operands = instruction->operands;
    struct async_copy *copy = sim_decode_alloc(decoder, sizeof *copy);

    if (copy == NULL) {
        return sim_decode_refuse(decoder, "no memory");
    }
    if (instruction->operand_count < 3 || operands[2].kind != PTX_OPERAND_INTEGER ||
        (operands[2].integer != 4 && operands[2].integer != 8 && operands[2].integer != 16)) {
        return sim_decode_refuse(decoder, "a copy is of 4, 8 or 16 bytes");
    }
    copy->bytes = (uint32_t)operands[2].integer;
    if (!decode_addresses(decoder, instruction, copy)) {
        return SIM_UNSUPPORTED;
    }
    if (instruction->operand_count > 3 && !decode_source_limit(decoder, instruction, copy)) {
        return SIM_UNSUPPORTED;
    }
    copy->passes_l1 = sim_has(instruction, "cg");
    op->more = copy;
    op->run = run_async_copy;
    return SIM_DECODED;
}

enum sim_decode_result sim_decode_async_copy(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction,
                                             struct sim_op *op)
{
    if (!sim_has(instruction, "async") || sim_has(instruction, "bulk")) {
        return SIM_NOT_MINE; /* the tensor copy engine's */
    }
    if (sim_has(instruction, "mbarrier")) {
        return sim_decode_refuse(decoder, "asynchronous barriers are not supported");
    }
    if (sim_has(instruction, "ca") || sim_has(instruction, "cg")) {
        return decode_copy(decoder, instruction, op);
    }
    op->run = run_nothing; /* commit_group, wait_group, wait_all */
    return SIM_DECODED;
}
