/* SPDX-License-Identifier: Apache-2.0 */
/* Which one pattern the global accesses of a kernel have: so that one rule speaks about each. */
#ifndef GMT_ANALYZER_PRICE_PATTERN_H
#define GMT_ANALYZER_PRICE_PATTERN_H

#include "analyzer/price/price.h"

/* From the most general to the most specific of each kind of waste. */
enum gmt_pattern_kind {
    GMT_PATTERN_ORDERED,    /* nothing wasted, or not measured                                */
    GMT_PATTERN_MISALIGNED, /* GM303: up to one sector per request too many                   */
    GMT_PATTERN_ROWS,       /* GM203: the same, from rows that start inside sectors           */
    GMT_PATTERN_NARROW,     /* GM305: no sector wasted, but words of 1 or 2 bytes             */
    GMT_PATTERN_STRIDED,    /* GM301: loads, or loads and stores, of words far apart          */
    GMT_PATTERN_SCATTERED,  /* GM310: stores only                                             */
    GMT_PATTERN_TRANSPOSED, /* GM302: threadIdx.x runs along the far-apart index of a matrix  */
    GMT_PATTERN_FIELD,      /* GM304: a part of each struct, and the rest of it unused        */
    GMT_PATTERN_FIELDS,     /* GM304: whole structs, word by word                             */
    GMT_PATTERN_PIECES,     /* GM305: whole structs that one aligned access each could move   */
};

struct gmt_pattern {
    enum gmt_pattern_kind kind;
    bool loads, stores;     /* which of them waste                                         */
    bool counted;           /* by distinct sectors (software device), not by sizes of arrays */
    double width_bytes;     /* of a word; NAN where widths are mixed or warps are half empty */
    double struct_bytes;    /* FIELD (NAN: 32 or more), FIELDS, PIECES                       */
    double fields;          /* FIELD: that are accessed of each struct, one per request */
    double row_bytes, rows; /* ROWS */
};

/*
 * Distinguished by sums over a launch:
 * - sectors per ideal sector, of loads and of stores, at least GMT_STRIDED_RATIO: something is far
 *   apart; and then, in this order:
 * - FIELD: no sector is fetched twice (but by as many requests as a thread makes, which want other
 *   fields of it), yet most of each stays unused. On the software device the distinct bytes equal the
 *   sectors; else the sectors equal the size of an array that the kernel got;
 * - FIELDS, PIECES: each thread makes as many requests as a struct has words, and what passes L1 is no
 *   more than what is asked for;
 * - TRANSPOSED: a block of two dimensions, whose warps touch a sector per lane along threadIdx.x;
 * - else STRIDED or SCATTERED.
 * Less than that ratio, with a fraction of a sector per request too many: ROWS where the rows of a
 * two-dimensional launch explain it, else MISALIGNED. None too many: NARROW, where full warps ask for
 * 32 or 64 bytes.
 */
struct gmt_pattern gmt_pattern_of_class(const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class);

/* Up to one sector per request too many, and less than GMT_STRIDED_RATIO times the ideal. */
bool gmt_access_is_misaligned(const struct gmt_access *access);

/* Bytes per lane, from full warps that access words of one width; NAN. */
double gmt_access_width(const struct gmt_tl_class *class, const struct gmt_access *access);

/*
 * Words between neighbouring lanes; NAN: not one stride, or not known. at_least: each lane has a
 * sector of its own, and the stride may be larger than the returned one.
 */
double gmt_access_stride(const struct gmt_tl_class *class, const struct gmt_access *access,
                         double lines, bool *at_least);

/* Loads or stores of each thread that takes part, on average. */
double gmt_access_per_thread(const struct gmt_tl_class *class, const struct gmt_access *access);

/*
 * Share of the excess of all loads (or stores) that instructions with about so many sectors per
 * request have, 0..1; NAN: the trace has no counts of instructions.
 */
double gmt_pattern_lone_share(const struct gmt_timeline *timeline, const struct gmt_tl_class *class,
                              bool loads, double sectors);
/*
 * False where instructions were counted and none of that kind has words below 4 bytes: sums of bytes are
 * as small where lanes share words. True where nothing is known of them.
 */
bool gmt_pattern_has_narrow_words(const struct gmt_timeline *timeline,
                                  const struct gmt_tl_class *class, bool loads);

/*
 * The rows of the arrays that a two-dimensional launch goes over, as far as its shape and the bytes
 * asked for show: fills row_bytes and rows. False: it has none, or they start at sectors.
 */
bool gmt_pattern_rows(const struct gmt_tl_class *class, const struct gmt_access *access,
                      struct gmt_pattern *pattern);

#endif
