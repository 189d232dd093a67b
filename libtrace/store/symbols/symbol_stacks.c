/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the functions that were inlined into the stacks whose frames they were inlined into. */
#include <errno.h>
#include <stdlib.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/symbols/symbol_store.h"

/* All rows of stack_frame, by stack and position. The table is written anew: rows in order go to its
 * end, which costs a third of what rows put in between would. */
struct stack_row {
    int64_t stack, frame;
};

struct rows {
    struct stack_row *row;
    size_t count, room;
};

static int by_frame(const void *a, const void *b)
{
    const struct gmt_expansion *left = a, *right = b;
    return (left->frame > right->frame) - (left->frame < right->frame);
}

static int push(struct rows *rows, int64_t stack, int64_t frame)
{
    if (rows->count == rows->room) {
        size_t room = rows->room != 0 ? 2 * rows->room : 1024;
        struct stack_row *grown = realloc(rows->row, room * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        rows->row = grown;
        rows->room = room;
    }
    rows->row[rows->count++] = (struct stack_row){stack, frame};
    return 0;
}

static int push_expanded(const struct gmt_symbol_store *store, struct rows *rows, int64_t stack,
                         int64_t frame)
{
    const struct gmt_expansion key = {.frame = frame};
    const struct gmt_expansion *found = bsearch(&key, store->expansions, store->expansion_count,
                                                sizeof(key), by_frame);
    int error = 0;
    for (size_t i = 0; error == 0 && found != NULL && i < found->inlined; i++) {
        error = push(rows, stack, found->last - (int64_t)i);
    }
    return error == 0 ? push(rows, stack, frame) : error;
}

static int read_rows(const struct gmt_symbol_store *store, struct rows *rows)
{
    sqlite3_stmt *statement;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT stack_id, frame_id FROM stack_frame ORDER BY stack_id, position",
                           -1, &statement, NULL) != SQLITE_OK) {
        return gmt_database_error(store->db);
    }
    while (error == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t stack = 0, frame = 0;
        error = gmt_value_integer(statement, 0, &stack) && gmt_value_integer(statement, 1, &frame)
                    ? push_expanded(store, rows, stack, frame)
                    : -EBADMSG;
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(store->db);
    }
    sqlite3_finalize(statement);
    return error;
}

static int step(sqlite3 *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int write_rows(sqlite3 *db, sqlite3_stmt *add, sqlite3_stmt *depth, const struct rows *rows)
{
    int error = 0;
    for (size_t i = 0, first = 0; error == 0 && i < rows->count; i++) {
        const struct stack_row *row = &rows->row[i];
        sqlite3_bind_int64(add, 1, row->stack);
        sqlite3_bind_int64(add, 2, (int64_t)(i - first));
        sqlite3_bind_int64(add, 3, row->frame);
        error = step(db, add);
        if (error == 0 && (i + 1 == rows->count || rows->row[i + 1].stack != row->stack)) {
            sqlite3_bind_int64(depth, 1, (int64_t)(i + 1 - first));
            sqlite3_bind_int64(depth, 2, row->stack);
            error = step(db, depth);
            first = i + 1;
        }
    }
    return error;
}

static int rewrite(sqlite3 *db, const struct rows *rows)
{
    sqlite3_stmt *add = NULL, *depth = NULL;
    int error = gmt_database_exec(db, "DELETE FROM stack_frame");
    if (error == 0 &&
        (sqlite3_prepare_v2(db,
                            "INSERT INTO stack_frame(stack_id, position, frame_id) VALUES(?,?,?)",
                            -1, &add, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(db, "UPDATE stack SET depth = ? WHERE id = ?", -1, &depth, NULL) !=
             SQLITE_OK)) {
        error = gmt_database_error(db);
    }
    if (error == 0) {
        error = write_rows(db, add, depth, rows);
    }
    sqlite3_finalize(add);
    sqlite3_finalize(depth);
    return error;
}

int gmt_symbol_store_expand(struct gmt_symbol_store *store)
{
    struct rows rows = {0};
    if (store->expansion_count == 0) {
        return 0;
    }
    qsort(store->expansions, store->expansion_count, sizeof(store->expansions[0]), by_frame);
    int error = read_rows(store, &rows);
    if (error == 0) {
        error = rewrite(store->db, &rows);
    }
    free(rows.row);
    return error;
}
