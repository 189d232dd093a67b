/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a stack walk, in a word: how the frame around an address finds its caller. */
#ifndef GMT_PRELOAD_UNWIND_ROW_H
#define GMT_PRELOAD_UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What is known of a frame. The CFA is the stack pointer of the caller after the call returned; its
 * return address lies 8 bytes below.
 */
enum gmt_row_kind {
    GMT_ROW_NONE,     /* no row: the address has not been looked at */
    GMT_ROW_CFA,      /* the CFA follows from registers */
    GMT_ROW_FRAME,    /* nothing is known: the frame pointer, where it looks like one, is a guess */
    GMT_ROW_SIGNAL,   /* the kernel's frame of a signal handler: the registers lie on the stack */
    GMT_ROW_END,      /* the thread's first frame */
    GMT_ROW_NOT_CODE, /* nothing that could have called */
};

enum gmt_row_base { GMT_BASE_SP, GMT_BASE_BP, GMT_BASE_AT_BP /* the word at rbp + offset */ };
/* Where the caller's rbp is: still there, saved at one of two bases + offset, or unknown. */
enum gmt_row_bp { GMT_BP_SAME, GMT_BP_AT_CFA, GMT_BP_AT_BP, GMT_BP_UNKNOWN };

/* Bits of a row, from the lowest: kind 4, base 2, rule of rbp 2, flags 8, place of rbp in words 16,
 * offset of the CFA in bytes 32. A row is never 0. */
#define GMT_ROW_SOUND (UINT64_C(1) << 8)     /* a call instruction ends at the address */
#define GMT_ROW_GENERATED (UINT64_C(1) << 9) /* code of no loaded object: it may change */

static inline uint64_t gmt_row_make(enum gmt_row_base base, int32_t cfa, enum gmt_row_bp rule,
                                    int16_t bp_words)
{
    return (uint64_t)GMT_ROW_CFA | ((uint64_t)base << 4) | ((uint64_t)rule << 6) |
           ((uint64_t)(uint16_t)bp_words << 16) | ((uint64_t)(uint32_t)cfa << 32);
}

static inline enum gmt_row_kind gmt_row_kind(uint64_t row)
{
    return (enum gmt_row_kind)(row & 15);
}

static inline enum gmt_row_base gmt_row_base(uint64_t row)
{
    return (enum gmt_row_base)(row >> 4 & 3);
}

static inline enum gmt_row_bp gmt_row_bp(uint64_t row)
{
    return (enum gmt_row_bp)(row >> 6 & 3);
}

static inline int64_t gmt_row_bp_bytes(uint64_t row)
{
    return (int64_t)(int16_t)(uint16_t)(row >> 16) * 8;
}

static inline int64_t gmt_row_cfa_bytes(uint64_t row)
{
    return (int32_t)(uint32_t)(row >> 32);
}

#endif
