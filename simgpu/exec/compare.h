/* SPDX-License-Identifier: Apache-2.0 */
/* setp and set: comparing gives a word with a bit per lane, which one of these stores. */
#ifndef SIMGPU_EXEC_COMPARE_H
#define SIMGPU_EXEC_COMPARE_H

#include "simgpu/exec/form.h"

/* How the result is joined with predicate c; bits of sim_op.flags. */
enum sim_combine { SIM_COMBINE_NONE, SIM_COMBINE_AND, SIM_COMBINE_OR, SIM_COMBINE_XOR };
#define SIM_COMBINE_SHIFT 12
#define SIM_NEGATED_C (1u << 14)
#define SIM_NEGATED_A (1u << 15)
#define SIM_NEGATED_B (1u << 16)

/* All lanes' results of comparing a with b; inactive lanes give anything. */
typedef uint32_t (*sim_comparison)(const uint8_t *frame, const struct sim_op *op);

struct sim_compare {
    const char *pattern;
    sim_handler setp;
    sim_comparison compare;
    uint8_t type; /* of a and b */
};

/* What set writes where the comparison holds; else 0. */
struct sim_set {
    sim_comparison compare;
    uint32_t value;
};

struct sim_words { /* p and q of a comparison */
    uint32_t p, q;
};
/* Combine `result` and its complement with predicate c as op->flags say. */
struct sim_words sim_compare_combine(const uint8_t *frame, const struct sim_op *op,
                                     uint32_t result);
/* setp's end: write p and q. */
const struct sim_op *sim_compare_finish(struct sim_warp *warp, const struct sim_op *op,
                                        uint32_t mask, uint32_t result);

/* The parts of setp and set that do not depend on the type: destinations, a, b and c. */
enum sim_decode_result sim_compare_operands(struct sim_decoder *decoder,
                                            const struct ptx_instruction *instruction,
                                            enum ptx_type type, bool predicates, struct sim_op *op);
/* The value that set.dtype stands for "true"; 0 if dtype is none of its types. */
uint32_t sim_set_value(enum ptx_type dtype);

#endif
