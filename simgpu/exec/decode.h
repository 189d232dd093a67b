/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder of one function: where operands lie in its frame.
 *
 * Frame: 512 bytes for `_`, a word of ones for "no guard", the registers in use, then constants,
 * special registers, parameters and scratch in the order they are asked for.
 */
#ifndef SIMGPU_EXEC_DECODE_H
#define SIMGPU_EXEC_DECODE_H

#include "simgpu/exec/code.h"

#define SIM_ONES_AT 512u     /* the word of ones */
#define SIM_FRAME_START 576u /* registers */
#define SIM_MAX_FRAME (16u << 20)

struct sim_constant_key {
    uint64_t low, high;
    uint32_t bytes; /* 0: a predicate */
    uint32_t offset;
};

struct sim_decoder {
    struct sim_code *code;
    struct sim_kernel *kernel;
    struct sim_module *module;
    uint32_t *register_at; /* by register index, 0 = not in use */
    uint8_t *image;        /* grows */
    size_t image_bytes, image_capacity;
    struct sim_constant_key *constants; /* open addressing */
    size_t constant_count, constant_capacity;
    struct sim_special_slot *specials;
    size_t special_count, special_capacity;
    struct sim_local_slot *local_addresses;
    size_t local_address_count, local_address_capacity;
    uint64_t local_bytes; /* own local memory so far */
    uint32_t carry;       /* 0 = none yet */
    uint32_t instruction; /* being decoded */
    uint32_t *reconv_at; /* by instruction: where diverged threads reconverge (ptx_reconvergence) */
    bool failed;         /* this instruction is refused */
    bool no_memory;
    char refusal[200];
    struct sim_special_slot fresh[8]; /* specials of this instruction that must be read anew */
    uint32_t fresh_count;
};

/* The carry flag CC of the function: one word in the frame, a bit per lane. */
uint32_t sim_decode_carry(struct sim_decoder *decoder);
/* Bytes of frame, 64-byte aligned; 0 after a refusal. */
uint32_t sim_frame_reserve(struct sim_decoder *decoder, size_t bytes);
/* A lane array (`bytes` is 2, 4, 8 or 16) or predicate (0) with this value; SIM_NOWHERE if refused. */
uint32_t sim_frame_constant(struct sim_decoder *decoder, uint64_t low, uint64_t high,
                            unsigned bytes);
/* Lanes are stored in 2, 4, 8 or 16 bytes. */
unsigned sim_storage_bytes(unsigned bytes);
uint64_t sim_narrowed(uint64_t value, unsigned bytes); /* the low `bytes` bytes */
/* frame.c: registers and parameters of the function; 0 or -ENOMEM. */
int sim_frame_lay_out(struct sim_decoder *decoder);
/* Own local memory of the function, `align` a power of two: offset from its local_base. */
uint64_t sim_local_reserve(struct sim_decoder *decoder, uint64_t bytes, uint64_t align);
/* A double as f16 or bf16, rounded to nearest even. */
uint16_t sim_half_bits(double value);
uint16_t sim_bfloat_bits(double value);

/* special.c: row of the table, -1 if there is no such register. */
int sim_special_find(const char *name);
unsigned sim_special_bytes(uint32_t special); /* 0: a predicate */
bool sim_special_is_fresh(uint32_t special);  /* must be read each time */
struct sim_warp;
void sim_special_fill(const struct sim_warp *warp, const struct sim_special_slot *slot,
                      uint8_t *frame);

#endif
