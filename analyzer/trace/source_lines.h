/* SPDX-License-Identifier: Apache-2.0 */
/* What single instructions moved, by kernel and source line; and the text of the lines. */
#ifndef GMT_ANALYZER_TRACE_SOURCE_LINES_H
#define GMT_ANALYZER_TRACE_SOURCE_LINES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/report.h"

/* One row of v_line: the instructions of one kind on one source line. Counts are per launch, the mean of
 * those that were counted; NAN: means nothing for this kind. */
struct gmt_source_line {
    const char *file;           /* NULL: the program was built without line information */
    int64_t line, ptx_line;     /* ptx_line: only without a line                        */
    const char *kind, *opcodes; /* counted on the GPU, without a line: 'LDG.128 +0x1a0' */
    double instructions;        /* distinct ones of the program */
    double executed, lanes, requests, bytes;
    double sectors, ideal_sectors, wavefronts, ideal_wavefronts;
    double excess_bytes;
    struct gmt_inline_chain *chains; /* that it was inlined by, the first GMT_LINE_CHAINS of them */
    size_t chain_count, all_chains;
};
enum { GMT_LINE_CHAINS = 16 };

/* Those of a kernel, file by file, the one with the most excess first, in the order of line and kind. */
struct gmt_kernel_lines {
    int64_t kernel_id;
    const char *kernel;
    int64_t launches; /* that were counted */
    bool simulated;   /* counted by the software device */
    double excess_bytes;
    struct gmt_source_line *lines;
    size_t line_count;
};

/* A file's text as lines, without their newlines. */
struct gmt_source_text {
    const char *file;
    const char **lines;
    size_t line_count;
    bool from_disk;      /* not embedded: may have changed since the program was built */
    const char *missing; /* why there is no text, else NULL */
};

/* All kernels of a trace whose instructions were counted, largest excess first. 0 or -EIO, -ENOMEM. */
int gmt_kernel_lines_load(sqlite3 *db, struct gmt_arena *arena, struct gmt_kernel_lines **kernels,
                          size_t *count);

/* From the trace, else, only where the user asks for it, from this machine's disk: a trace from elsewhere
 * may name any file. */
struct gmt_source_text gmt_source_text_load(sqlite3 *db, struct gmt_arena *arena, const char *file,
                                            bool disk);

/* A line without the blanks and the comment around its code, as a quotation. */
const char *gmt_source_trimmed(struct gmt_arena *arena, const char *line);

/* Sectors or wavefronts per request and their ideal; false: this kind has none. */
bool gmt_source_line_ratio(const struct gmt_source_line *line, double *actual, double *ideal);

#endif
