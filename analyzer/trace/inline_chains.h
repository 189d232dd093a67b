/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls the lines of counted instructions were inlined at. */
#ifndef GMT_ANALYZER_TRACE_INLINE_CHAINS_H
#define GMT_ANALYZER_TRACE_INLINE_CHAINS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/report.h"

/* Chains by number. */
struct gmt_chain_table {
    struct gmt_chain_row {
        int64_t id;
        struct gmt_inline_chain chain;
    } * rows;
    size_t count;
};

/* Whether the trace has them: of earlier versions it knows the outermost call only. */
bool gmt_has_chains(sqlite3 *db);

/* All chains of a trace; none is no error. The text is the arena's. 0 or -EIO, -ENOMEM. */
int gmt_chain_table_load(sqlite3 *db, struct gmt_arena *arena, struct gmt_chain_table *table);

/* The chain of that number; where there is none the one call that is known, `file` NULL: not inlined. */
struct gmt_inline_chain gmt_chain_of(const struct gmt_chain_table *table, struct gmt_arena *arena,
                                     int64_t id, const char *file, int64_t line);

#endif
