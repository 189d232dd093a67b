/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One warp-level memory access under way: the address of each lane, checked, counted and turned into
 * a host pointer. Loads, stores, atomics and async copies go through it, whatever their space.
 *
 *     sim_access_begin     addresses of the lanes, as the registers say
 *     sim_access_next      the lanes that touch one space (all of them, except for generic addresses),
 *                          checked and counted; the caller then moves the data and asks again
 */
#ifndef SIMGPU_EXEC_ACCESS_H
#define SIMGPU_EXEC_ACCESS_H

#include "simgpu/exec/memory.h"

/* How the addresses of the lanes lie, where it is cheap to find out. */
enum sim_shape {
    SIM_SHAPE_ANY = 0,
    SIM_SHAPE_SAME, /* all lanes the same address */
    SIM_SHAPE_UNIT, /* active lanes are neighbours, and so are their words, in the same order */
};

enum sim_use { SIM_USE_READ = 1, SIM_USE_WRITE = 2 };

struct sim_access {
    uint64_t address[SIM_LANES] __attribute__((aligned(64))); /* in `space`; any for idle lanes */
    uint64_t origin;      /* host address of address 0 of lane 0 */
    uint64_t lane_stride; /* local memory: bytes between the memories of two lanes */
    uint32_t mask;        /* lanes that take part */
    uint32_t rest;        /* lanes still to come (generic addresses) */
    uint32_t width;       /* bytes per lane, a power of two */
    uint8_t shape;        /* enum sim_shape */
    uint8_t space;        /* enum ptx_space that was found */
    uint8_t uses;         /* bit set of enum sim_use */
    uint8_t is_atomic;
    uint8_t is_strong; /* volatile or stronger: how threads wait for each other */
    uint8_t is_async;  /* half of an async copy */
    uint8_t is_bypass; /* ... of 16 bytes past L1 */
    uint8_t is_split;  /* lanes touch several regions of the map */
    uint8_t is_later;  /* lanes of the same instruction have been counted before */
};

/* Flags of struct sim_op for instructions with an address; the family's own bits are below. */
#define SIM_ADDRESS_32 (1u << 31)    /* the address register has 32 bits */
#define SIM_ACCESS_STRONG (1u << 30) /* volatile, relaxed, acquire, release, mmio */

static inline unsigned sim_first_lane(uint32_t mask)
{
    return (unsigned)__builtin_ctz(mask);
}

static inline uint8_t *sim_access_at(const struct sim_access *access, unsigned lane)
{
    return (uint8_t *)(uintptr_t)(access->origin + access->lane_stride * lane +
                                  access->address[lane]);
}

/* Addresses of all lanes: `base` is the frame offset of the address register. */
static inline void sim_access_load_addresses(struct sim_access *access, const uint8_t *frame,
                                             uint32_t base, bool is_32, int64_t offset)
{
    if (is_32) {
        const uint32_t *from = SIM_AT(frame, base, const uint32_t);
        for (unsigned i = 0; i < SIM_LANES; i++) {
            access->address[i] = (uint32_t)(from[i] + (uint32_t)offset);
        }
    } else {
        const uint64_t *from = SIM_AT(frame, base, const uint64_t);
        for (unsigned i = 0; i < SIM_LANES; i++) {
            access->address[i] = from[i] + (uint64_t)offset;
        }
    }
}

static inline void sim_access_begin(struct sim_access *access, const struct sim_warp *warp,
                                    const struct sim_op *op, uint32_t mask, unsigned uses)
{
    sim_access_load_addresses(access, warp->frame, op->a, (op->flags & SIM_ADDRESS_32) != 0,
                              op->memory.offset);
    access->rest = mask;
    access->width = (uint32_t)op->memory.vector * op->memory.element_bytes;
    access->uses = (uint8_t)uses;
    access->is_atomic = uses == (SIM_USE_READ | SIM_USE_WRITE);
    access->is_async = access->is_bypass = 0;
    access->is_strong = (op->flags & SIM_ACCESS_STRONG) != 0;
    access->is_later = 0;
}

/*
 * Takes the lanes of access->rest that touch the same space as the first of them, as `mask`: checks
 * them, counts them, and fills origin, lane_stride and shape. `space` is the space as written.
 * False after a fault.
 */
bool sim_access_next(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access,
                     enum ptx_space space);

/* The two halves of it, for lanes of one space: mask, width, uses and space are the caller's. */
bool sim_access_check(struct sim_warp *warp, const struct sim_op *op, struct sim_access *access);
/* Adds the access to the counts; false after a fault (out of host memory). */
bool sim_access_count(struct sim_warp *warp, const struct sim_op *op,
                      const struct sim_access *access);
/* The space of a generic address: PTX_GLOBAL (constants too), PTX_SHARED, PTX_LOCAL, PTX_PARAM; and where
 * a space begins in generic addresses. */
enum ptx_space sim_space_of(uint64_t address);
uint64_t sim_window_of(enum ptx_space space);

/*
 * Operands of an instruction: `operand` is an address [base + offset]. Fills op->a, the offset and
 * SIM_ADDRESS_32 of op->flags. False after a refusal.
 */
bool sim_decode_address(struct sim_decoder *decoder, const struct ptx_operand *operand,
                        struct sim_op *op);
/*
 * The rest of a load or store, or the values of an atomic: the registers of `operand` (one, or a
 * vector) as op->memory.lanes_at, vector and element_bytes from `type`, and in op->d which transfer
 * each of them takes (SIM_TRANSFER_BITS each). False after a refusal.
 */
bool sim_decode_elements(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                         const struct ptx_operand *operand, enum ptx_type type, bool are_written,
                         struct sim_op *op);
/* The space among the modifiers of a load, store, atomic; PTX_GENERIC when none is given. */
enum ptx_space sim_decode_space(const struct ptx_instruction *instruction);

#endif
