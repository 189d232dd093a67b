/* SPDX-License-Identifier: Apache-2.0 */
/* Runs DWARF call frame instructions as far as a stack walk needs them: CFA, rbp, return address. */
#ifndef GMT_PRELOAD_UNWIND_PROGRAM_H
#define GMT_PRELOAD_UNWIND_PROGRAM_H

#include <stdint.h>

#include "preload/unwind/bytes.h"

/* Numbers of registers in DWARF. */
#if defined(__aarch64__)
enum { GMT_DWARF_BP = 29, GMT_DWARF_SP = 31, GMT_DWARF_RA = 30 };
#else
enum { GMT_DWARF_BP = 6, GMT_DWARF_SP = 7, GMT_DWARF_RA = 16 };
#endif

enum gmt_rule_kind {
    GMT_RULE_SAME,
    GMT_RULE_UNDEFINED,
    GMT_RULE_OFFSET,     /* saved at CFA + offset */
    GMT_RULE_EXPRESSION, /* saved where the expression says */
    GMT_RULE_OTHER,      /* in another register, or computed */
};

struct gmt_cfi_rule {
    enum gmt_rule_kind kind;
    int64_t offset;
    struct gmt_bytes expression;
};

struct gmt_frame_rules {
    uint64_t cfa_register; /* unless cfa_expression is set */
    int64_t cfa_offset;
    struct gmt_bytes cfa_expression; /* .at NULL: none */
    struct gmt_cfi_rule bp, ra;
};

struct gmt_frame_program {
    uint64_t code_alignment;
    int64_t data_alignment;
    uint8_t pointer_encoding;      /* of DW_CFA_set_loc */
    uint64_t from;                 /* address of the first instruction that the program is about */
    struct gmt_frame_rules before; /* what the CIE's own instructions leave */
};

/* Apply `code` to *rules up to the row for `pc`. False: damaged, or an instruction we do not know. */
bool gmt_frame_program_run(const struct gmt_frame_program *program, struct gmt_bytes code,
                           uint64_t pc, struct gmt_frame_rules *rules);

/* A pointer in one of the encodings of .eh_frame; `failed` where the encoding has no meaning here. */
uint64_t gmt_bytes_pointer(struct gmt_bytes *bytes, uint8_t encoding);

#endif
