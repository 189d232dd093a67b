/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of arithmetic instructions: tables whose rows name a form, its operands and its handler.
 *
 * A row's pattern is an opcode with its modifiers as PTX writes them, <a,b,c> standing for one of
 * several: "add<,.rn>.f32". Handlers exist twice, compiled for any x86-64 processor and for one with
 * AVX2, FMA and F16C; both give the same results and the rows of both tables are in the same order.
 */
#ifndef SIMGPU_EXEC_FORM_H
#define SIMGPU_EXEC_FORM_H

#include "simgpu/exec/op.h"

/* Bits of sim_op.flags that come from modifiers, for all families of arithmetic. */
enum sim_form_flags {
    SIM_ROUND_MODE = 3, /* enum sim_rounding */
    SIM_FTZ = 4,
    SIM_SAT = 8,
    SIM_RELU = 16,
    SIM_NAN = 32,
    SIM_XORSIGN = 64,
    SIM_CC = 128,       /* writes the carry */
    SIM_TO_WHOLE = 256, /* .rni, .rzi, .rmi, .rpi: to a whole number */
    SIM_ROUND_GIVEN = 512,
    SIM_FLAGS_END = 1024, /* a family's own begin here */
};
enum sim_rounding { SIM_RN, SIM_RZ, SIM_RM, SIM_RP };

#define SIM_MAX_SOURCES 4

struct sim_form {
    const char *pattern;
    sim_handler run;
    uint8_t target; /* enum ptx_type */
    uint8_t sources[SIM_MAX_SOURCES];
};

/* Which compiled copy is used. */
enum sim_level { SIM_LEVEL_ANY, SIM_LEVEL_AVX2, SIM_LEVELS };
enum sim_level sim_level(void);

/* "add.rn.f32"; false if it does not fit. */
bool sim_form_text(const struct ptx_instruction *instruction, char *text, size_t bytes);
bool sim_form_matches(const char *pattern, const char *text);
/* What the modifiers say: enum sim_form_flags. */
uint32_t sim_form_flags(const struct ptx_instruction *instruction);
/* The first row whose pattern matches, NULL if there is none. */
const struct sim_form *sim_form_find(const struct sim_form *forms, size_t count, const char *text);

/* A source of exactly this type: as sim_source_operand, and a wider register is refused. */
uint32_t sim_exact_source(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                          uint32_t index, enum ptx_type type);
uint32_t sim_exact_target(struct sim_decoder *decoder, const struct ptx_instruction *instruction,
                          uint32_t index, enum ptx_type type);
/* Fill `op` from a row: one destination, then the sources in a, b, c, d. */
enum sim_decode_result sim_form_fill(struct sim_decoder *decoder,
                                     const struct ptx_instruction *instruction,
                                     const struct sim_form *form, struct sim_op *op);

#endif
