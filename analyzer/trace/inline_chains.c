/* SPDX-License-Identifier: Apache-2.0 */
/* Reads v_inline_level. */
#include "analyzer/trace/inline_chains.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/trace/query.h"

bool gmt_has_chains(sqlite3 *db)
{
    /* Not views: they are this version's, whatever trace they are of. */
    return sqlite3_table_column_metadata(db, "main", "inline_level", "chain_id", NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static int read_level(struct gmt_query *query, struct gmt_arena *arena,
                      struct gmt_chain_table *table)
{
    struct gmt_chain_row *row = table->count > 0 ? &table->rows[table->count - 1] : NULL;
    int64_t id = gmt_query_int(query, 0), level = gmt_query_int(query, 1);

    if (row == NULL || row->id != id) {
        row = GMT_PUSH(arena, table->rows, table->count);
        if (row == NULL) {
            return -ENOMEM;
        }
        row->id = id;
    }
    if (level == 0) {
        row->chain.function = gmt_query_text(query, 2, arena);
        return 0;
    }
    struct gmt_inline_call *call = GMT_PUSH(arena, row->chain.calls, row->chain.call_count);
    if (call == NULL) {
        return -ENOMEM;
    }
    *call = (struct gmt_inline_call){.function = gmt_query_text(query, 2, arena),
                                     .file = gmt_query_text(query, 3, arena),
                                     .line = gmt_query_count(query, 4),
                                     .level = level};
    return 0;
}

int gmt_chain_table_load(sqlite3 *db, struct gmt_arena *arena, struct gmt_chain_table *table)
{
    struct gmt_query query;
    int full = 0;

    *table = (struct gmt_chain_table){0};
    if (!gmt_has_chains(db)) {
        return 0;
    }
    int rc = gmt_query_open(&query, db,
                            "SELECT chain_id, level, function, file, line FROM v_inline_level "
                            "WHERE level >= 0 ORDER BY chain_id, level");
    while (rc == 0 && full == 0 && gmt_query_next(&query)) {
        full = read_level(&query, arena, table);
    }
    rc = gmt_query_close(&query, rc);
    return full != 0 ? full : rc;
}

static int by_id(const void *key, const void *row)
{
    const int64_t *id = key;
    const struct gmt_chain_row *other = row;

    return (*id > other->id) - (*id < other->id);
}

struct gmt_inline_chain gmt_chain_of(const struct gmt_chain_table *table, struct gmt_arena *arena,
                                     int64_t id, const char *file, int64_t line)
{
    const struct gmt_chain_row *row = table->count > 0 ? bsearch(&id, table->rows, table->count,
                                                                 sizeof(*table->rows), by_id)
                                                       : NULL;
    struct gmt_inline_chain chain = {0};

    if (row != NULL && (row->chain.call_count > 0 || file == NULL)) {
        return row->chain;
    }
    struct gmt_inline_call *call = file != NULL ? GMT_PUSH(arena, chain.calls, chain.call_count)
                                                : NULL;
    if (call != NULL) {
        *call = (struct gmt_inline_call){.file = file, .line = line, .level = 1};
    }
    return chain;
}
