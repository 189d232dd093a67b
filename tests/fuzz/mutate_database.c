/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of a trace that knows what an SQLite database is: it walks the tables and columns that are there
 * and edits values, rows, tables and the stored schema, as somebody would who wants to harm its reader.
 */
#include <sqlite3.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

struct edit {
    sqlite3 *db;
    uint64_t *state;
    char *table, *column;             /* what is edited; sqlite3_free */
    char *other_table, *other_column; /* where a value may come from */
};

static size_t below(const struct edit *edit, size_t limit)
{
    return gmt_fuzz_below(edit->state, limit);
}

/* Runs SQL that may fail: a table may lack what an edit asks for. The format is SQLite's. */
static void run(const struct edit *edit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (sql != NULL) {
        (void)sqlite3_exec(edit->db, sql, NULL, NULL, NULL);
    }
    sqlite3_free(sql);
}

/* The first column of a random row of the query, sqlite3_free; NULL: no row. */
static char *pick(const struct edit *edit, const char *sql, const char *argument)
{
    sqlite3_stmt *rows = NULL;
    char *text = NULL;
    size_t count = 0, at;

    if (sqlite3_prepare_v2(edit->db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return NULL;
    }
    if (argument != NULL) {
        (void)sqlite3_bind_text(rows, 1, argument, -1, SQLITE_STATIC);
    }
    while (sqlite3_step(rows) == SQLITE_ROW) {
        count++;
    }
    sqlite3_reset(rows);
    at = below(edit, count);
    for (size_t i = 0; i < count && sqlite3_step(rows) == SQLITE_ROW; i++) {
        if (i == at) {
            text = sqlite3_mprintf("%s", sqlite3_column_text(rows, 0));
            break;
        }
    }
    sqlite3_finalize(rows);
    return text;
}

static char *pick_table(const struct edit *edit)
{
    char *name = NULL;

    /* One with rows, if one is found soon. */
    for (int i = 0; i < 4; i++) {
        char *sql, *any;

        sqlite3_free(name);
        name = pick(edit, "SELECT name FROM sqlite_master WHERE type = 'table'", NULL);
        sql = sqlite3_mprintf("SELECT 1 FROM \"%w\" LIMIT 1", name);
        any = sql != NULL ? pick(edit, sql, NULL) : NULL;
        sqlite3_free(sql);
        sqlite3_free(any);
        if (any != NULL) {
            break;
        }
    }
    return name;
}

static char *pick_column(const struct edit *edit, const char *table)
{
    return pick(edit, "SELECT name FROM pragma_table_info(?)", table);
}

/* An SQL expression whose value no recorder would write; sqlite3_free. */
static char *hostile_value(const struct edit *edit)
{
    static const char *const values[] = {
#include "tests/fuzz/hostile_values.def"
    };
    switch (below(edit, 8)) {
    case 0: return sqlite3_mprintf("%lld", (sqlite3_int64)gmt_fuzz_random(edit->state));
    case 1: return sqlite3_mprintf("\"%w\" + %d", edit->column, (int)below(edit, 10) - 4);
    case 2:
        return sqlite3_mprintf("(SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %d)", edit->other_column,
                               edit->other_table, (int)below(edit, 20));
    case 3:
        return sqlite3_mprintf("CAST(\"%w\" AS %s)", edit->column,
                               below(edit, 2) == 0 ? "TEXT" : "BLOB");
    default: return sqlite3_mprintf("%s", values[below(edit, sizeof(values) / sizeof(values[0]))]);
    }
}

/* Which rows: one, some, all */
static char *some_rows(const struct edit *edit)
{
    switch (below(edit, 8)) {
    case 0: return sqlite3_mprintf("1");
    case 1: return sqlite3_mprintf("(rowid * 2654435761 + %d) %% 5 = 0", (int)below(edit, 5));
    default:
        return sqlite3_mprintf("rowid = (SELECT rowid FROM \"%w\" LIMIT 1 OFFSET %d)", edit->table,
                               (int)below(edit, 1u << below(edit, 10)));
    }
}

static void set_value(struct edit *edit)
{
    char *value = hostile_value(edit), *rows = some_rows(edit);

    run(edit, "UPDATE OR REPLACE \"%w\" SET \"%w\" = %s WHERE %s", edit->table, edit->column, value,
        rows);
    sqlite3_free(value);
    sqlite3_free(rows);
}

static void delete_rows(struct edit *edit)
{
    char *rows = some_rows(edit);

    run(edit, "DELETE FROM \"%w\" WHERE %s", edit->table, rows);
    sqlite3_free(rows);
}

/* Once again under other numbers, and at times many times */
static void repeat_rows(struct edit *edit)
{
    char *rows = some_rows(edit);
    int times = below(edit, 8) == 0 ? 2000 : 1;

    run(edit,
        "CREATE TEMP TABLE copies AS SELECT * FROM \"%w\" WHERE %s LIMIT 20;"
        "UPDATE copies SET id = %lld;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT OR IGNORE INTO \"%w\" SELECT copies.* FROM copies, n;",
        edit->table, rows, (sqlite3_int64)gmt_fuzz_random(edit->state), times, edit->table);
    run(edit,
        "UPDATE copies SET id = NULL;"
        "INSERT OR IGNORE INTO \"%w\" SELECT * FROM copies;",
        edit->table);
    run(edit, "DROP TABLE copies");
    sqlite3_free(rows);
}

/* Two columns, or the values of a column in reverse */
static void swap_values(struct edit *edit)
{
    char *second = pick_column(edit, edit->table);

    if (below(edit, 2) == 0) {
        run(edit, "UPDATE OR REPLACE \"%w\" SET \"%w\" = \"%w\", \"%w\" = \"%w\"", edit->table,
            edit->column, second, second, edit->column);
    } else {
        run(edit, "UPDATE OR REPLACE \"%w\" SET \"%w\" = -\"%w\"", edit->table, edit->column,
            edit->column);
    }
    sqlite3_free(second);
}

/* ---- the schema ------------------------------------------------------------------------------ */

static void change_columns(struct edit *edit)
{
    switch (below(edit, 4)) {
    case 0: run(edit, "ALTER TABLE \"%w\" DROP COLUMN \"%w\"", edit->table, edit->column); break;
    case 1:
        run(edit, "ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"\x1b[31m%w\"", edit->table,
            edit->column, edit->column);
        break;
    case 2: run(edit, "ALTER TABLE \"%w\" ADD COLUMN more DEFAULT 1", edit->table); break;
    default:
        run(edit, "ALTER TABLE \"%w\" ADD COLUMN made AS (hex(zeroblob(100000)))", edit->table);
        break;
    }
}

/* The table is a view now, which its reader must not run: endless, huge, random, or as it was. */
static void replace_by_view(struct edit *edit)
{
    static const char *const bodies[] = {
        "SELECT * FROM saved",
        "SELECT * FROM saved, (SELECT 1 UNION SELECT 2)",
        "SELECT * FROM saved WHERE abs(random()) % 2",
        "SELECT * FROM saved UNION ALL SELECT * FROM saved",
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT 1 FROM n) SELECT saved.* FROM saved, n",
        "SELECT saved.* FROM saved WHERE length(printf('%.*c', 900000000, 'a')) > 0",
        "SELECT saved.* FROM saved WHERE load_extension('x')",
        "SELECT saved.* FROM saved WHERE fts3_tokenizer('simple') IS NOT NULL"};
    const char *body = bodies[below(edit, sizeof(bodies) / sizeof(bodies[0]))];

    run(edit, "PRAGMA legacy_alter_table = 1; ALTER TABLE \"%w\" RENAME TO saved;", edit->table);
    run(edit, "CREATE VIEW \"%w\" AS %s", edit->table, body);
    if (below(edit, 4) == 0) {
        run(edit, "UPDATE sqlite_master SET sql = sql || '; SELECT 1' WHERE name = '%q'",
            edit->table);
    }
}

static void spoil_schema(struct edit *edit)
{
    static const char *const changes[] = {
        "type = 'view'",
        "type = 'table', rootpage = 1",
        "rootpage = 1000000",
        "rootpage = (SELECT max(rootpage) FROM sqlite_master)",
        "sql = NULL",
        "sql = sql || '; ATTACH ''x'' AS y'",
        "sql = substr(sql, 1, length(sql) / 2)",
        "sql = 'CREATE VIRTUAL TABLE ' || name || ' USING fts3(id, name)', rootpage = 0",
        "sql = 'CREATE VIRTUAL TABLE ' || name || ' USING dbstat', rootpage = 0",
        "sql = 'CREATE TABLE ' || name || '(id INTEGER PRIMARY KEY, a, b, c)'",
        "sql = 'CREATE TABLE ' || name || '(' || replace(hex(zeroblob(500)), '0', '(') || ')'",
        "name = char(27) || '[2J', tbl_name = char(27) || '[2J'",
        "sql = replace(sql, 'INTEGER', 'TEXT')",
        "sql = replace(sql, 'PRIMARY KEY', '')"};

    run(edit, "UPDATE sqlite_master SET %s WHERE rowid = %d",
        changes[below(edit, sizeof(changes) / sizeof(changes[0]))], 1 + (int)below(edit, 100));
}

static void change_tables(struct edit *edit)
{
    char *value;

    switch (below(edit, 8)) {
    case 0: run(edit, "DROP TABLE \"%w\"", edit->table); break;
    case 1: run(edit, "ALTER TABLE \"%w\" RENAME TO renamed", edit->table); break;
    case 2: run(edit, "DELETE FROM \"%w\"", edit->table); break;
    case 3:
        run(edit, "CREATE TRIGGER t INSERT ON \"%w\" BEGIN SELECT load_extension('x'); END",
            edit->table);
        break;
    case 4:
        run(edit, "UPDATE sqlite_master SET sql = NULL WHERE type = 'index' AND rowid %% 3 = %d",
            (int)below(edit, 3));
        break;
    case 5: run(edit, "PRAGMA user_version = %d", (int)below(edit, 9)); break;
    case 6:
        value = hostile_value(edit);
        run(edit, "UPDATE meta SET value = %s", value);
        sqlite3_free(value);
        break;
    default: spoil_schema(edit); break;
    }
}

/* ---- an input -------------------------------------------------------------------------------- */

static void make_edit(sqlite3 *db, uint64_t *state)
{
    struct edit edit = {.db = db, .state = state};

    edit.table = pick_table(&edit);
    edit.column = edit.table != NULL ? pick_column(&edit, edit.table) : NULL;
    edit.other_table = pick_table(&edit);
    edit.other_column = edit.table != NULL ? pick_column(&edit, edit.other_table) : NULL;
    if (edit.column != NULL) {
        switch (below(&edit, 32)) {
        case 0: change_columns(&edit); break;
        case 1: replace_by_view(&edit); break;
        case 2: change_tables(&edit); break;
        case 3:
        case 4: delete_rows(&edit); break;
        case 5:
        case 6:
        case 7: repeat_rows(&edit); break;
        case 8: swap_values(&edit); break;
        default: set_value(&edit); break;
        }
    }
    sqlite3_free(edit.table);
    sqlite3_free(edit.column);
    sqlite3_free(edit.other_table);
    sqlite3_free(edit.other_column);
}

/* An edit of a table that is hostile already must end. */
static int give_up(void *context)
{
    size_t *left = context;

    return *left == 0 || --*left == 0;
}

static sqlite3 *open_copy(const uint8_t *data, size_t bytes)
{
    static const char settings[] =
        "PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF;"
        "PRAGMA ignore_check_constraints = 1; PRAGMA writable_schema = 1;"
        "PRAGMA temp_store = MEMORY; BEGIN";
    unsigned char *copy = sqlite3_malloc64(bytes);
    sqlite3 *db = NULL;

    if (copy == NULL || sqlite3_open(":memory:", &db) != SQLITE_OK) {
        abort();
    }
    memcpy(copy, data, bytes);
    if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)bytes, (sqlite3_int64)bytes,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) !=
            SQLITE_OK ||
        sqlite3_exec(db, settings, NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

size_t gmt_fuzz_mutate_database(uint64_t *state, uint8_t *data, size_t bytes, size_t limit)
{
    size_t edits = (size_t)1 << gmt_fuzz_below(state, 1 + gmt_fuzz_below(state, 6)), left = 200;
    sqlite3 *db = bytes > 0 ? open_copy(data, bytes) : NULL;
    sqlite3_int64 size = 0;
    unsigned char *changed;

    if (db == NULL) {
        return 0;
    }
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 4 << 20);
    sqlite3_progress_handler(db, 10000, give_up, &left);
    for (size_t i = 0; i < edits; i++) {
        make_edit(db, state);
    }
    (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    changed = sqlite3_serialize(db, "main", &size, 0);
    if (changed != NULL && (size_t)size <= limit) {
        memcpy(data, changed, (size_t)size);
        bytes = (size_t)size;
    }
    sqlite3_free(changed);
    sqlite3_close(db);
    return bytes;
}
