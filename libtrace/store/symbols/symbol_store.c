/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of frames, of the texts they name, and of the stacks that they are in. */
#include "libtrace/store/symbols/symbol_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/symbols/symbolize.h"

struct statement {
    size_t at; /* in struct gmt_symbol_store */
    const char *sql;
};
#define STATEMENT(field) offsetof(struct gmt_symbol_store, field)

/* What is known already stays: a second look fills gaps, and a file without a line is a gap. */
static const struct statement statements[] = {
    {STATEMENT(add_string), "INSERT OR IGNORE INTO string(text) VALUES(?)"},
    {STATEMENT(find_string), "SELECT id FROM string WHERE text = ?"},
    {STATEMENT(is_kernel), "SELECT 1 FROM kernel WHERE mangled = ?"},
    {STATEMENT(update), "UPDATE frame SET function_id = coalesce(function_id, ?1), "
                        "file_id = coalesce(file_id, ?2), line = coalesce(line, ?3), "
                        "runtime = max(runtime, ?4) WHERE id = ?5"},
    {STATEMENT(add), "INSERT INTO frame(address, module_id, offset, function_id, file_id, line, "
                     "runtime, inlined_into) SELECT address, module_id, offset, ?1, ?2, ?3, ?4, id "
                     "FROM frame WHERE id = ?5"},
    {STATEMENT(loss), "INSERT INTO loss VALUES(?,?,?) ON CONFLICT(kind,detail) DO UPDATE "
                      "SET count = count + excluded.count"},
    {STATEMENT(module), "UPDATE module SET symbols = ? WHERE id = ?"},
};
#define STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static sqlite3_stmt **statement_at(struct gmt_symbol_store *store, size_t i)
{
    return (sqlite3_stmt **)(void *)((char *)store + statements[i].at);
}

int gmt_symbol_store_open(struct gmt_symbol_store *store, sqlite3 *db)
{
    *store = (struct gmt_symbol_store){.db = db};
    for (size_t i = 0; i < STATEMENTS; i++) {
        if (sqlite3_prepare_v2(db, statements[i].sql, -1, statement_at(store, i), NULL) !=
            SQLITE_OK) {
            return gmt_database_error(db);
        }
    }
    return 0;
}

void gmt_symbol_store_close(struct gmt_symbol_store *store)
{
    for (size_t i = 0; i < STATEMENTS; i++) {
        sqlite3_finalize(*statement_at(store, i));
    }
    gmt_intern_free(&store->texts);
    gmt_intern_free(&store->symbols);
    free(store->expansions);
}

static int step(struct gmt_symbol_store *store, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : gmt_database_error(store->db);
}

/* string.id of a text, 0 for NULL. */
static int string_id(struct gmt_symbol_store *store, const char *text, int64_t *id)
{
    uint64_t known;
    *id = 0;
    if (text == NULL) {
        return 0;
    }
    if (gmt_intern_find(&store->texts, text, strlen(text), &known)) {
        *id = (int64_t)known;
        return 0;
    }
    sqlite3_bind_text(store->add_string, 1, text, -1, SQLITE_STATIC);
    int error = step(store, store->add_string);
    if (error != 0) {
        return error;
    }
    sqlite3_bind_text(store->find_string, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(store->find_string) == SQLITE_ROW) {
        *id = sqlite3_column_int64(store->find_string, 0);
    }
    sqlite3_reset(store->find_string);
    if (*id == 0) {
        return gmt_database_error(store->db);
    }
    error = gmt_intern_id(&store->texts, text, strlen(text), (uint64_t)*id, &known);
    return error < 0 ? error : 0;
}

/* The host side of a kernel carries the kernel's name and does nothing but launch it. */
static bool is_kernel(struct gmt_symbol_store *store, const char *symbol)
{
    sqlite3_bind_text(store->is_kernel, 1, symbol, -1, SQLITE_STATIC);
    bool found = sqlite3_step(store->is_kernel) == SQLITE_ROW;
    sqlite3_reset(store->is_kernel);
    return found;
}

/* string.id of a symbol's readable form, and whether the symbol is a kernel's. */
static int symbol_id(struct gmt_symbol_store *store, const char *symbol, int64_t *id, bool *kernel)
{
    uint64_t known;
    *id = 0;
    *kernel = false;
    if (symbol == NULL) {
        return 0;
    }
    if (gmt_intern_find(&store->symbols, symbol, strlen(symbol), &known)) {
        *id = (int64_t)(known >> 1);
        *kernel = (known & 1) != 0;
        return 0;
    }
    char *name = gmt_name_demangle(symbol);
    int error = name != NULL ? string_id(store, name, id) : -ENOMEM;
    free(name);
    if (error == 0) {
        *kernel = is_kernel(store, symbol);
        error = gmt_intern_id(&store->symbols, symbol, strlen(symbol), (uint64_t)*id << 1 | *kernel,
                              &known);
    }
    return error < 0 ? error : 0;
}

static enum gmt_frame_owner owner_of(const char *path, const struct gmt_source_frame *frame,
                                     bool is_inlined)
{
    const char *symbol = frame->function;
    /* Of what was inlined often only the source's name is known, and a user's cudaCheck begins like
     * a function of the runtime: where it was written decides. */
    if (is_inlined && symbol != NULL && strncmp(symbol, "_Z", 2) != 0) {
        symbol = NULL;
    }
    if (frame->from_library || gmt_symbol_is_runtime(path, symbol)) {
        return GMT_FRAME_CUDA;
    }
    return gmt_symbol_is_interpreter(path) ? GMT_FRAME_INTERPRETER : GMT_FRAME_USER;
}

static void bind_id(sqlite3_stmt *statement, int column, int64_t id)
{
    if (id != 0) {
        sqlite3_bind_int64(statement, column, id);
    } else {
        sqlite3_bind_null(statement, column);
    }
}

/* `statement` is `update` (id: the frame's) or `add` (id: of the frame that this one is inlined into). */
static int write_frame(struct gmt_symbol_store *store, sqlite3_stmt *statement, int64_t id,
                       const char *path, const struct gmt_source_frame *frame)
{
    int64_t function, file;
    bool kernel;
    int error = symbol_id(store, frame->function, &function, &kernel);
    if (error != 0 || (error = string_id(store, frame->file, &file)) != 0) {
        return error;
    }
    bind_id(statement, 1, function);
    bind_id(statement, 2, file);
    bind_id(statement, 3, file != 0 ? frame->line : 0);
    sqlite3_bind_int(
        statement, 4,
        (int)(kernel ? GMT_FRAME_CUDA : owner_of(path, frame, statement == store->add)));
    sqlite3_bind_int64(statement, 5, id);
    return step(store, statement);
}

static int note_expansion(struct gmt_symbol_store *store, struct gmt_expansion expansion)
{
    if (store->expansion_count == store->expansion_room) {
        size_t room = store->expansion_room != 0 ? 2 * store->expansion_room : 256;
        struct gmt_expansion *grown = realloc(store->expansions, room * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        store->expansions = grown;
        store->expansion_room = room;
    }
    store->expansions[store->expansion_count++] = expansion;
    return 0;
}

int gmt_symbol_store_put(struct gmt_symbol_store *store, const struct gmt_unnamed_frame *frame,
                         const char *path, const struct gmt_source_frame *frames, size_t count)
{
    int64_t id = frame->id;
    int error = write_frame(store, store->update, id, path, &frames[count - 1]);
    /* One that had its line was looked at before, and what was inlined with it. */
    if (error != 0 || frame->has_line || count == 1) {
        return error;
    }
    for (size_t i = count - 1; error == 0 && i-- > 0;) {
        error = write_frame(store, store->add, id, path, &frames[i]);
        id = sqlite3_last_insert_rowid(store->db);
    }
    return error != 0 ? error
                      : note_expansion(store, (struct gmt_expansion){frame->id, id, count - 1});
}

int gmt_symbol_store_module(struct gmt_symbol_store *store, int64_t module, const char *state)
{
    sqlite3_bind_text(store->module, 1, state, -1, SQLITE_STATIC);
    sqlite3_bind_int64(store->module, 2, module);
    return step(store, store->module);
}

int gmt_symbol_store_loss(struct gmt_symbol_store *store, const char *kind, const char *detail,
                          uint64_t count)
{
    sqlite3_bind_text(store->loss, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(store->loss, 2, detail, -1, SQLITE_STATIC);
    sqlite3_bind_int64(store->loss, 3, (int64_t)count);
    return step(store, store->loss);
}
