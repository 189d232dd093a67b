/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam inside the interpreter: what an executable operation is, and how the families of
 * instructions (integer, float, memory, ...) plug into the core.
 *
 * A function is decoded once into an array of struct sim_op, one per PTX instruction and in the same
 * order. Each has a handler that does the work of one warp-level instruction for all its active
 * lanes. The core runs
 *
 *     while (op != path->stop) { count; op = mask ? op->run(warp, op, mask) : op + 1; }
 *
 * and never looks inside an operation. Handlers of straight-line instructions return op + 1.
 *
 * Registers live in a frame, one per call of a function and path of a warp: for each register an
 * array of 32 lanes. Operands are byte offsets into the frame, so a handler never asks whether an
 * operand is a register, an immediate or a special register: immediates and special registers are
 * arrays of 32 lanes in the frame too, filled when the frame is made.
 *
 *     size of register     storage                  pointer type of a lane array
 *     .pred                one word, a bit per lane uint32_t (not an array)
 *     8 and 16 bits        32 x 2 bytes             uint16_t
 *     32 bits              32 x 4 bytes             uint32_t, float
 *     64 bits              32 x 8 bytes             uint64_t, double
 *     128 bits             32 x 16 bytes            two uint64_t, low first
 *
 * All lane arrays are 64-byte aligned. A handler writes lanes of its mask only: the others belong to
 * paths that wait. Results may overlap sources (dst == a) lane by lane.
 */
#ifndef SIMGPU_EXEC_OP_H
#define SIMGPU_EXEC_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simgpu/counts.h"
#include "simgpu/exec/exec.h"
#include "simgpu/ptx/ptx.h"

#define SIM_LANES 32
#define SIM_FULL_MASK UINT32_MAX

struct sim_op;
struct sim_warp; /* exec/warp.h */
struct sim_code; /* exec/code.h: a decoded function */

/* Returns the next operation, or NULL after sim_warp_* has said why the warp cannot go on. */
typedef const struct sim_op *(*sim_handler)(struct sim_warp *warp, const struct sim_op *op,
                                            uint32_t mask);

#define SIM_MAX_VECTOR 8

struct sim_op {
    sim_handler run;
    uint32_t index;      /* of the instruction in its function: its counts */
    uint32_t guard;      /* frame offset of a predicate; of a word of ones when there is none */
    uint32_t guard_flip; /* ~0 for @!p: mask = active & (guard ^ guard_flip) */
    uint32_t dst, dst2;  /* frame offsets; SIM_NOWHERE for `_` and absent operands */
    uint32_t a, b, c, d;
    uint32_t flags; /* the family's own: rounding, comparison, ... */
    union {
        uint64_t integer;                      /* the family's own */
        struct {                               /* ld, st, atom, red, cp.async */
            int64_t offset;                    /* added to the address */
            uint32_t lanes_at[SIM_MAX_VECTOR]; /* frame offsets of the vector's registers */
            uint8_t vector;                    /* elements */
            uint8_t element_bytes;             /* in memory */
            uint8_t register_bytes;            /* of each register, may be wider */
            uint8_t space;                     /* enum ptx_space as written */
            uint8_t extend_sign;
            uint8_t extra; /* bytes or operation code */
        } memory;
        struct { /* bra, brx, call, ret, exit */
            const struct sim_op *target;
            const struct sim_op *reconv_at; /* where diverged paths reconverge; NULL: at return */
            const void *more;               /* struct of control.c */
        } control;
        const void *more; /* what does not fit: allocated with sim_decode_alloc */
    };
};

/* Absent operands and `_`: the first 512 bytes of every frame, which may be written and are never read
 * for their value. */
#define SIM_NOWHERE 0u

/* ---- decoding ------------------------------------------------------------------------------- */

struct sim_decoder; /* exec/decode.h: one per function being decoded */

/*
 * Each family tries an instruction: SIM_DECODED and `op` filled (run, operands, ...; index, guard and
 * guard_flip are the core's), SIM_NOT_MINE if the opcode is another family's, or SIM_UNSUPPORTED
 * after sim_decode_refuse() if the opcode is its own but this form cannot be executed: a launch that
 * reaches it then fails with that text. Families are rows of exec/families.def.
 */
enum sim_decode_result { SIM_NOT_MINE = 0, SIM_DECODED, SIM_UNSUPPORTED };
typedef enum sim_decode_result (*sim_family)(struct sim_decoder *decoder,
                                             const struct ptx_instruction *instruction,
                                             struct sim_op *op);

#define SIM_FAMILY(name) \
    enum sim_decode_result sim_decode_##name(struct sim_decoder *decoder, \
                                             const struct ptx_instruction *instruction, \
                                             struct sim_op *op);
#include "simgpu/exec/families.def"
#undef SIM_FAMILY

enum sim_decode_result sim_decode_refuse(struct sim_decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory that lives as long as the module; NULL when there is none. */
void *sim_decode_alloc(struct sim_decoder *decoder, size_t bytes);

/*
 * Frame offset of operand `index` read as `type`: a register (of the type's size or wider: a wider
 * one must be narrowed by the family, sim_operand_bytes says), an immediate converted to `type`, a
 * special register, or the address of a variable or function. SIM_NOWHERE and a refusal if it cannot
 * be had; families check with sim_decode_failed() once at their end.
 */
uint32_t sim_source(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                    uint32_t index, enum ptx_type type);
/* The same for any operand, for instance an item of a vector. */
uint32_t sim_source_operand(struct sim_decoder *decoder, const struct ptx_operand *operand,
                            enum ptx_type type);
/* Frame offset of the register operand `index` that is written; `_` gives SIM_NOWHERE. */
uint32_t sim_target(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                    uint32_t index);
uint32_t sim_target_operand(struct sim_decoder *decoder, const struct ptx_operand *operand);
/* Bytes of a lane of the register an operand names: 2, 4, 8, 16; 0 for predicates and others. */
unsigned sim_operand_bytes(const struct sim_decoder *decoder, const struct ptx_operand *operand);
/* A lane array in the frame that is filled with `value` in each lane of `bytes` bytes. */
uint32_t sim_constant(struct sim_decoder *decoder, uint64_t value, unsigned bytes);
bool sim_decode_failed(const struct sim_decoder *decoder);
/* Kernel parameter, variable or function-parameter storage: see exec/memory.h. */
const struct ptx_function *sim_decode_function(const struct sim_decoder *decoder);

/* Modifiers: true if `word` (no dot) is one; the n-th that is a type; PTX_NO_TYPE if there are fewer. */
bool sim_has(const struct ptx_instruction *instruction, const char *word);
enum ptx_type sim_type(const struct ptx_instruction *instruction, unsigned n);

/* ---- lanes ---------------------------------------------------------------------------------- */

#define SIM_AT(frame, offset, type) \
    ((type *)__builtin_assume_aligned((frame) + (offset), 64)) /* lane array at a frame offset */

/* Run `body` for each lane `i` of `mask`; the full warp is a loop that compilers vectorize. */
#define SIM_FOR_LANES(mask, i, body) \
    do { \
        if ((mask) == SIM_FULL_MASK) { \
            for (unsigned i = 0; i < SIM_LANES; i++) { \
                body; \
            } \
        } else { \
            for (uint32_t rest_ = (mask); rest_ != 0; rest_ &= rest_ - 1) { \
                const unsigned i = (unsigned)__builtin_ctz(rest_); \
                body; \
            } \
        } \
    } while (0)

#endif
