/* SPDX-License-Identifier: Apache-2.0 */
/* How gmanalyze lines prints. */
#ifndef GMT_ANALYZER_COMMANDS_LINES_WRITE_H
#define GMT_ANALYZER_COMMANDS_LINES_WRITE_H

#include "analyzer/trace/source_lines.h"

struct gmt_lines_view {
    sqlite3 *db;
    struct gmt_arena *arena;
    const char *trace;
    struct gmt_kernel_lines *kernels;
    size_t kernel_count, shown; /* the first `shown` are printed */
    bool local_sources;         /* also those of this machine's files that the trace names */
    long context;               /* lines of source around those that were counted */
    bool color;
};

void gmt_lines_text(const struct gmt_lines_view *view);
void gmt_lines_json(const struct gmt_lines_view *view);

#endif
