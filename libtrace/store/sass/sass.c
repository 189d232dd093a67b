/* SPDX-License-Identifier: Apache-2.0 */
/* Looks instructions up in their cubins (sass.h). */
#include "libtrace/store/sass/sass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/inlining.h"
#include "libtrace/record/layout.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/ingest/inlining.h"
#include "libtrace/store/sass/cubin_code.h"
#include "libtrace/store/sass/cubin_images.h"
#include "libtrace/store/sass/cubin_lines.h"

enum { MOST_LEVELS = 64 };

/* Images stay in the trace only where all instructions were counted (--collect deep), to be disassembled:
 * those of a framework are larger than all the rest of a trace. */
static const char images_sql[] =
    "DELETE FROM cubin WHERE NOT EXISTS (SELECT 1 FROM capability WHERE name = 'instructions' "
    "AND state = 'ok') AND NOT EXISTS (SELECT 1 FROM instruction WHERE source = 'sass' "
    "AND lines IS NOT NULL)"; /* which only deep counts: a program may end without a last word */

/* The fewest sectors and passes that the bytes asked for could take, where CUPTI did not count them. Its
 * definition: lanes that take part x width, at least one for an execution, never more than it took. This is
 * computed over all executions of an instruction together, so it can be too low by less than a sector for
 * an execution. */
static const char ideals_sql[] =
    "UPDATE instruction SET ideal_sectors = min(sectors, max(executed, (bytes + 31) / 32)) "
    "WHERE source = 'sass' AND ideal_sectors IS NULL AND sectors IS NOT NULL AND bytes IS NOT NULL;"
    "UPDATE instruction SET ideal_wavefronts = min(wavefronts, max(executed, (bytes + 127) / 128)) "
    "WHERE source = 'sass' AND ideal_wavefronts IS NULL AND wavefronts IS NOT NULL "
    "AND bytes IS NOT NULL;";

/* What is known of one instruction, for all rows of it. */
struct sass_line {
    struct gmt_cubin_op op;
    char opcode[32];
    struct gmt_cubin_frame levels[MOST_LEVELS];
    size_t depth, inner; /* levels[inner]: the innermost outside of the toolkit's headers */
    int64_t chain;       /* inline_level.chain_id; 0: nothing was inlined */
};

struct settling {
    sqlite3 *db;
    sqlite3_stmt *set, *string, *new_string, *image, *level;
    struct gmt_cubin *lines;     /* of the cubin at hand; NULL: none, or it has no line table */
    struct gmt_cubin_code *code; /* likewise */
    int64_t crc;
    bool any;
};

/* ---- places ------------------------------------------------------------------------------------- */

static int note(struct settling *settling, const char *kind)
{
    return gmt_cubin_note_loss(settling->db, kind, settling->crc, "its instructions have no lines");
}

static void close_cubin(struct settling *settling)
{
    gmt_cubin_close(settling->lines);
    gmt_cubin_code_close(settling->code);
    sqlite3_reset(settling->image);
    settling->lines = NULL;
    settling->code = NULL;
}

static int open_cubin(struct settling *settling, int64_t crc)
{
    close_cubin(settling);
    settling->crc = crc;
    settling->any = true;
    sqlite3_bind_int64(settling->image, 1, crc);
    if (sqlite3_step(settling->image) != SQLITE_ROW) {
        return note(settling, "cubin not kept");
    }
    /* The row stays current, and the image with it, until the next cubin. */
    const void *image = sqlite3_column_blob(settling->image, 0);
    size_t bytes = (size_t)sqlite3_column_bytes(settling->image, 0);
    int error = gmt_cubin_code_open(image, bytes, &settling->code);
    if (error == 0) {
        error = gmt_cubin_open(image, bytes, &settling->lines);
    }
    return error == -ENOMEM ? error : error == -EBADMSG ? note(settling, "cubin not readable") : 0;
}

/* Headers of CUDA and of the C++ library: what they do is done by the line that called them. */
static bool is_toolkit(const char *file)
{
    static const char *const marks[] = {"/targets/x86_64-linux/include/",
                                        "/targets/sbsa-linux/include/",
                                        "/usr/include/",
                                        "/usr/lib/",
                                        "/usr/local/cuda",
                                        "/opt/cuda/",
                                        "/nvidia/cu",
                                        "/include/crt/",
                                        "/cuda_runtime.h"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(file, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void look_up(const struct settling *settling, const char *function, uint64_t offset,
                    struct sass_line *place)
{
    *place = (struct sass_line){.depth = 0};
    if (settling->code != NULL && gmt_cubin_code_at(settling->code, function, offset, &place->op) &&
        place->op.name != NULL) {
        (void)snprintf(place->opcode, sizeof(place->opcode), "%s%s", place->op.name,
                       place->op.suffix);
    }
    if (settling->lines == NULL) {
        return;
    }
    place->depth = gmt_cubin_frame(settling->lines, function, offset, place->levels, MOST_LEVELS);
    place->depth = place->depth < MOST_LEVELS ? place->depth : MOST_LEVELS;
    while (place->inner + 1 < place->depth && is_toolkit(place->levels[place->inner].file)) {
        place->inner++;
    }
}

static int bind_string(struct settling *settling, sqlite3_stmt *to, int column, const char *text)
{
    sqlite3_stmt *string = settling->string;
    if (text == NULL || text[0] == '\0') {
        return sqlite3_bind_null(to, column);
    }
    sqlite3_bind_text(string, 1, text, -1, SQLITE_STATIC);
    int code = sqlite3_step(string);
    int64_t id = code == SQLITE_ROW ? sqlite3_column_int64(string, 0) : 0;
    sqlite3_reset(string);
    if (code == SQLITE_DONE) {
        sqlite3_bind_text(settling->new_string, 1, text, -1, SQLITE_STATIC);
        code = sqlite3_step(settling->new_string);
        sqlite3_reset(settling->new_string);
        id = sqlite3_last_insert_rowid(settling->db);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE ? sqlite3_bind_int64(to, column, id) : code;
}

static int store_level(struct settling *settling, int64_t chain, int32_t number,
                       const struct gmt_cubin_frame *place)
{
    sqlite3_stmt *level = settling->level;
    char *name = place->function != NULL ? gmt_name_demangle(place->function) : NULL;
    if (place->function != NULL && name == NULL) {
        return -ENOMEM;
    }
    sqlite3_bind_int64(level, 1, chain);
    sqlite3_bind_int64(level, 2, number);
    int code = bind_string(settling, level, 3, name);
    if (code == SQLITE_OK) {
        code = bind_string(settling, level, 4, place->file);
    }
    sqlite3_bind_int64(level, 5, place->line);
    if (code == SQLITE_OK) {
        code = sqlite3_step(level);
    }
    sqlite3_reset(level);
    free(name);
    return code == SQLITE_DONE ? 0 : gmt_database_error(settling->db);
}

static struct gmt_inline_level_key key_of(const struct sass_line *place, size_t at)
{
    const struct gmt_cubin_frame *level = &place->levels[at];
    return (struct gmt_inline_level_key){
        .function = level->function,
        .function_bytes = level->function != NULL ? strlen(level->function) : 0,
        .file = level->file,
        .file_bytes = strlen(level->file),
        .line = level->line,
        .level = (int32_t)at - (int32_t)place->inner};
}

/* Where anything was inlined: all lines that the instruction stands for. */
static int store_chain(struct settling *settling, struct sass_line *place)
{
    size_t kept[GMT_INLINE_LEVELS], count = gmt_inline_pick(place->depth, place->inner, kept);
    uint64_t chain = 0;
    int error = 0;
    if (place->depth < 2) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct gmt_inline_level_key key = key_of(place, kept[i]);
        chain = gmt_chain_add(chain, &key);
    }
    place->chain = gmt_chain_id(chain);
    for (size_t i = 0; error == 0 && i < count; i++) {
        error = store_level(settling, place->chain, key_of(place, kept[i]).level,
                            &place->levels[kept[i]]);
        if (i == 0 && sqlite3_changes(settling->db) == 0) {
            break; /* all of it is there */
        }
    }
    return error;
}

/* Of instructions whose address decides the space, and of those whose cubin is not at hand. */
static unsigned kind_by_touch(const struct gmt_cubin_op *op, sqlite3_stmt *row)
{
    bool sectors = sqlite3_column_type(row, 4) != SQLITE_NULL;
    bool wavefronts = sqlite3_column_type(row, 5) != SQLITE_NULL;
    const char *touched = (const char *)sqlite3_column_text(row, 6);
    if (op->kind == GMT_INST_GENERIC && touched != NULL && strcmp(touched, "local_load") == 0) {
        return op->load ? GMT_INST_LOCAL_LOAD : GMT_INST_LOCAL_STORE;
    }
    if (op->kind != GMT_INST_GENERIC || sectors == wavefronts) {
        return op->kind;
    }
    if (sectors) {
        return op->load ? GMT_INST_GLOBAL_LOAD : GMT_INST_GLOBAL_STORE;
    }
    return op->load ? GMT_INST_SHARED_LOAD : GMT_INST_SHARED_STORE;
}

static int set_row(struct settling *settling, sqlite3_stmt *row, const struct sass_line *place)
{
    sqlite3_stmt *set = settling->set;
    const struct gmt_cubin_frame *inner = &place->levels[place->inner];
    const struct gmt_cubin_frame *outer = &place->levels[place->depth > 0 ? place->depth - 1 : 0];
    bool inlined = place->inner + 1 < place->depth, placed = place->depth > 0;
    sqlite3_clear_bindings(set);
    if (settling->code != NULL) {
        sqlite3_bind_text(set, 1, gmt_name_inst_kind(kind_by_touch(&place->op, row)), -1,
                          SQLITE_STATIC);
    }
    if (place->op.width != 0) {
        sqlite3_bind_int64(set, 2, place->op.width);
    }
    int code = bind_string(settling, set, 3, place->opcode);
    if (code == SQLITE_OK) {
        code = bind_string(settling, set, 4, placed ? inner->file : NULL);
    }
    if (code == SQLITE_OK) {
        code = bind_string(settling, set, 5, inlined ? outer->file : NULL);
    }
    if (placed) {
        sqlite3_bind_int64(set, 6, inner->line);
        sqlite3_bind_int64(set, 7, inner->column);
    }
    if (inlined) {
        sqlite3_bind_int64(set, 8, outer->line);
    }
    if (place->chain != 0) {
        sqlite3_bind_int64(set, 10, place->chain);
    }
    sqlite3_bind_int64(set, 9, sqlite3_column_int64(row, 0));
    if (code == SQLITE_OK) {
        code = sqlite3_step(set);
    }
    sqlite3_reset(set);
    return code == SQLITE_DONE ? 0 : gmt_database_error(settling->db);
}

static int settle_rows(struct settling *settling, sqlite3_stmt *rows)
{
    static struct sass_line place;
    char *function = NULL;
    int64_t offset = -1;
    int error = 0, code = SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 2);
        bool other = !settling->any || settling->crc != sqlite3_column_int64(rows, 1);
        if (other) {
            error = open_cubin(settling, sqlite3_column_int64(rows, 1));
        }
        if (other || offset != sqlite3_column_int64(rows, 3) || function == NULL ||
            strcmp(function, name) != 0) {
            free(function);
            function = strdup(name);
            offset = sqlite3_column_int64(rows, 3);
            look_up(settling, name, (uint64_t)offset, &place);
            error = error == 0 ? store_chain(settling, &place) : error;
        }
        if (error == 0) {
            error = function != NULL ? set_row(settling, rows, &place) : -ENOMEM;
        }
    }
    free(function);
    return error == 0 && code != SQLITE_DONE ? gmt_database_error(settling->db) : error;
}

int gmt_sass_settle(sqlite3 *db, int folder)
{
    static const char *const statements[] = {
        "UPDATE instruction SET kind = coalesce(?1, kind), width = coalesce(width, ?2), "
        "requests = coalesce(requests, CASE WHEN ?2 IS NULL THEN NULL ELSE executed END), "
        "bytes = coalesce(bytes, nullif(lanes * ?2, 0)), "
        "opcode_id = ?3, file_id = ?4, caller_file_id = ?5, line = ?6, column = nullif(?7, 0), "
        "caller_line = ?8, chain_id = ?10 WHERE id = ?9",
        "SELECT id FROM string WHERE text = ?",
        "INSERT INTO string(text) VALUES (?)",
        "SELECT image FROM cubin WHERE crc = ?",
        "INSERT OR IGNORE INTO inline_level(chain_id, level, function_id, file_id, line) "
        "VALUES (?, ?, ?, ?, ?)",
        "SELECT i.id, i.cubin_crc, s.text, i.pc_offset, i.sectors, i.wavefronts, i.kind FROM "
        "instruction i "
        "JOIN string s ON s.id = i.function_id WHERE i.source = 'sass' AND s.text IS NOT NULL "
        "ORDER BY i.cubin_crc, i.function_id, i.pc_offset"};
    struct settling settling = {.db = db};
    sqlite3_stmt *rows = NULL;
    sqlite3_stmt **const prepared[] = {&settling.set,   &settling.string, &settling.new_string,
                                       &settling.image, &settling.level,  &rows};
    int error = gmt_cubin_images_make(db, folder);
    for (size_t i = 0; error == 0 && i < sizeof(statements) / sizeof(statements[0]); i++) {
        if (sqlite3_prepare_v2(db, statements[i], -1, prepared[i], NULL) != SQLITE_OK) {
            error = gmt_database_error(db);
        }
    }
    if (error == 0) {
        error = settle_rows(&settling, rows);
    }
    if (error == 0) {
        error = gmt_database_exec(db, ideals_sql);
    }
    close_cubin(&settling);
    for (size_t i = 0; i < sizeof(prepared) / sizeof(prepared[0]); i++) {
        sqlite3_finalize(*prepared[i]);
    }
    return error == 0 ? gmt_database_exec(db, images_sql) : error;
}
