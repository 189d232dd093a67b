/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the functions that were inlined into the stacks whose frames they were inlined into. */
#include <errno.h>
#include <stdlib.h>

#include "libtrace/store/database.h"
#include "libtrace/store/symbol_store.h"

/* Frames of one stack, innermost first. */
struct stack {
    int64_t id;
    int64_t *frame;
    size_t count, room;
    bool is_longer; /* something was inlined into one of them */
};

struct writer {
    sqlite3_stmt *drop, *add, *depth;
};

static int by_frame(const void *a, const void *b)
{
    const struct gmt_expansion *left = a, *right = b;
    return (left->frame > right->frame) - (left->frame < right->frame);
}

static int push(struct stack *stack, int64_t frame)
{
    if (stack->count == stack->room) {
        size_t room = stack->room != 0 ? 2 * stack->room : 128;
        int64_t *grown = realloc(stack->frame, room * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        stack->frame = grown;
        stack->room = room;
    }
    stack->frame[stack->count++] = frame;
    return 0;
}

static int push_expanded(const struct gmt_symbol_store *store, struct stack *stack, int64_t frame)
{
    const struct gmt_expansion key = {.frame = frame};
    const struct gmt_expansion *found = bsearch(&key, store->expansions, store->expansion_count,
                                                sizeof(key), by_frame);
    int error = 0;
    for (size_t i = 0; error == 0 && found != NULL && i < found->inlined; i++) {
        error = push(stack, found->last - (int64_t)i);
        stack->is_longer = true;
    }
    return error == 0 ? push(stack, frame) : error;
}

static int step(sqlite3 *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int write_stack(sqlite3 *db, const struct writer *writer, const struct stack *stack)
{
    if (!stack->is_longer) {
        return 0;
    }
    sqlite3_bind_int64(writer->drop, 1, stack->id);
    sqlite3_bind_int64(writer->depth, 1, (int64_t)stack->count);
    sqlite3_bind_int64(writer->depth, 2, stack->id);
    sqlite3_bind_int64(writer->add, 1, stack->id);
    int error = step(db, writer->drop);
    if (error == 0) {
        error = step(db, writer->depth);
    }
    for (size_t i = 0; error == 0 && i < stack->count; i++) {
        sqlite3_bind_int64(writer->add, 2, (int64_t)i);
        sqlite3_bind_int64(writer->add, 3, stack->frame[i]);
        error = step(db, writer->add);
    }
    return error;
}

/* Rows are copied out first: those of a stack are replaced while the next are read. */
static int expand_all(struct gmt_symbol_store *store, sqlite3_stmt *rows,
                      const struct writer *writer)
{
    struct stack stack = {0};
    int error = 0, code = SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(rows, 0);
        if (id != stack.id) {
            error = write_stack(store->db, writer, &stack);
            stack.id = id;
            stack.count = 0;
            stack.is_longer = false;
        }
        if (error == 0) {
            error = push_expanded(store, &stack, sqlite3_column_int64(rows, 1));
        }
    }
    if (error == 0) {
        error = code == SQLITE_DONE ? write_stack(store->db, writer, &stack)
                                    : gmt_database_error(store->db);
    }
    free(stack.frame);
    return error;
}

int gmt_symbol_store_expand(struct gmt_symbol_store *store)
{
    sqlite3_stmt *rows = NULL;
    struct writer writer = {0};
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } statements[] = {
        {&rows, "SELECT stack_id, frame_id FROM temp.plain_stack ORDER BY rowid"},
        {&writer.drop, "DELETE FROM stack_frame WHERE stack_id = ?"},
        {&writer.add, "INSERT INTO stack_frame(stack_id, position, frame_id) VALUES(?,?,?)"},
        {&writer.depth, "UPDATE stack SET depth = ? WHERE id = ?"},
    };
    const size_t count = sizeof(statements) / sizeof(statements[0]);
    if (store->expansion_count == 0) {
        return 0;
    }
    qsort(store->expansions, store->expansion_count, sizeof(store->expansions[0]), by_frame);
    int error = gmt_database_exec(store->db,
                                  "CREATE TEMP TABLE plain_stack AS SELECT stack_id, position, "
                                  "frame_id FROM stack_frame ORDER BY stack_id, position");
    for (size_t i = 0; error == 0 && i < count; i++) {
        if (sqlite3_prepare_v2(store->db, statements[i].sql, -1, statements[i].statement, NULL) !=
            SQLITE_OK) {
            error = gmt_database_error(store->db);
        }
    }
    if (error == 0) {
        error = expand_all(store, rows, &writer);
    }
    for (size_t i = 0; i < count; i++) {
        sqlite3_finalize(*statements[i].statement);
    }
    (void)gmt_database_exec(store->db, "DROP TABLE IF EXISTS temp.plain_stack");
    return error;
}
