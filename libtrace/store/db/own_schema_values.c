/* SPDX-License-Identifier: Apache-2.0 */
/* Whether values that only SQL looks at are of their types. */
#include "libtrace/store/db/own_schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"

static const char *column_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

/* A table of which SQL looks at columns that nobody reads as values: as an operand it takes a text
 * for 0, and in a condition for what is not meant. */
struct asked_table {
    const char *name;
    bool calls; /* many rows, whose values are read but for those that decide which of them count */
};
static const struct asked_table asked_tables[] = {
    {"allocation", false},
    {"api", false},
    {"api_call", true},
    {"capability", false},
    {"coverage", false},
    {"device_gap", false},
    {"device_op", true},
    {"fingerprint", false},
    {"graph", false},
    {"graph_node", false},
    {"graph_switch", false},
    {"heap", false},
    {"host_allocation", false},
    {"instruction", false},
    {"kernel_counters", false},
    {"kernel_footprint", false},
    {"launch", true},
    {"launch_argument", false},
    {"launch_tensor_map", false},
    {"loss", false},
    {"managed_op", false},
    {"memory_handle", false},
    {"memset", true},
    {"overhead", false},
    {"own_time", false},
    {"race", false},
    {"range", false},
    {"region", false},
    {"step", false},
    {"step_call", false},
    {"step_collective", false},
    {"step_kernel", false},
    {"step_memory", false},
    {"step_slowest", false},
    {"step_time", false},
    {"step_work", false},
    {"sync", true},
    {"tensor_map", false},
    {"tensor_map_encoding", false},
    {"transfer", true},
};
enum { ASKED_TABLES = sizeof(asked_tables) / sizeof(asked_tables[0]) };

/* Columns of a call that decide whether it counts, and as what: SQL alone looks at them. */
#define DECIDES "IN ('result', 'capturing', 'kind', 'direction')"

/* A column in a condition. Those of calls are never NULL, which would be neither true nor false. */
static char *operand_of(const struct asked_table *table, const char *column)
{
    return sqlite3_mprintf(table->calls ? "ifnull(\"%w\", '')" : "\"%w\"", column);
}

/* " WHEN a >= '' THEN 'a is no number'": texts and blobs sort behind all numbers. */
static void add_number(sqlite3_str *cases, const struct asked_table *table, const char *column)
{
    char *operand = operand_of(table, column);
    sqlite3_str_appendf(cases, " WHEN %s >= '' THEN '%q is no number'", operand, column);
    sqlite3_free(operand);
}

/*
 * " WHEN kind <> 'kernel' AND kind NOT IN ('kernel', ...) AND ... THEN 'kind is ...'" of the words that our
 * schema allows: the first is the usual one, and found sooner so. A word that the table's own text declares
 * is one that a later recorder may have added.
 */
static void add_word(sqlite3_str *cases, const struct asked_table *table, const char *column,
                     const char *words, int length)
{
    char *operand = operand_of(table, column);
    sqlite3_str_appendf(
        cases,
        " WHEN %s <> %.*s AND %s NOT IN %.*s AND NOT instr((SELECT sql FROM main.sqlite_master "
        "WHERE type = 'table' AND name = %Q COLLATE NOCASE), quote(%s)) THEN '%q is ' || CASE "
        "typeof(\"%w\") WHEN 'blob' THEN 'no text' ELSE 'no word of the format' END",
        operand, (int)strcspn(words + 1, ",)"), words + 1, operand, length, words, table->name,
        operand, column, column);
    sqlite3_free(operand);
}

/* Of the model, with ?1: a table, ?2: whether it has calls. */
struct asked_columns {
    sqlite3_stmt *numbers; /* names */
    sqlite3_stmt *words;   /* names, and the text of the table */
};

static void close_columns(struct asked_columns *columns)
{
    sqlite3_finalize(columns->numbers);
    sqlite3_finalize(columns->words);
}

static int open_columns(struct asked_columns *columns, sqlite3 *model)
{
    static const char numbers[] = "SELECT name FROM pragma_table_info(?1) WHERE type IN "
                                  "('INTEGER', 'REAL') AND (NOT ?2 OR name " DECIDES ")";
    static const char words[] =
        "SELECT c.name, m.sql FROM sqlite_master m, pragma_table_info(m.name) c "
        "WHERE m.name = ?1 AND c.type = 'TEXT' AND (NOT ?2 OR c.name " DECIDES ")";
    *columns = (struct asked_columns){0};
    return sqlite3_prepare_v2(model, numbers, -1, &columns->numbers, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(model, words, -1, &columns->words, NULL) == SQLITE_OK
               ? 0
               : gmt_database_error(model);
}

static void ask(sqlite3_stmt *columns, const struct asked_table *table)
{
    (void)sqlite3_reset(columns);
    (void)sqlite3_bind_text(columns, 1, table->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(columns, 2, table->calls);
}

static void add_numbers(sqlite3_str *cases, sqlite3 *db, sqlite3_stmt *columns,
                        const struct asked_table *table)
{
    ask(columns, table);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        if (gmt_trace_has_column(db, table->name, column_text(columns, 0))) {
            add_number(cases, table, column_text(columns, 0));
        }
    }
}

/* Of each "(column IN (words))" of our text. */
static void add_words(sqlite3_str *cases, sqlite3 *db, sqlite3_stmt *column,
                      const struct asked_table *table)
{
    ask(column, table);
    while (sqlite3_step(column) == SQLITE_ROW) {
        const char *name = column_text(column, 0), *text = column_text(column, 1), *open;
        size_t name_length = strlen(name);
        int length;
        while ((open = gmt_own_schema_constraint(&text, &length)) != NULL) {
            const char *words = strchr(open + 1, '(');
            if (words != NULL && strncmp(open + 1, name, name_length) == 0 &&
                open[1 + name_length] == ' ' && gmt_trace_has_column(db, table->name, name)) {
                add_word(cases, table, name, words, (int)(open + length - 1 - words));
            }
        }
    }
}

/* A query for what is wrong with the first such row: "a is no number". NULL: there is no such table. */
static char *find_odd_sql(sqlite3 *db, const struct asked_columns *columns,
                          const struct asked_table *table)
{
    sqlite3_str *cases = sqlite3_str_new(db);
    add_numbers(cases, db, columns->numbers, table);
    add_words(cases, db, columns->words, table);
    bool any = sqlite3_str_length(cases) > 0;
    char *list = sqlite3_str_finish(cases);
    char *sql = any && list != NULL
                    ? sqlite3_mprintf("SELECT odd FROM (SELECT CASE%s END AS odd FROM main.\"%w\") "
                                      "WHERE odd IS NOT NULL LIMIT 1",
                                      list, table->name)
                    : NULL;
    sqlite3_free(list);
    return sql;
}

/* "column is ..." */
static void note_odd(sqlite3 *db, const char *table, const char *odd)
{
    char column[64];
    size_t length = strcspn(odd, " ");
    (void)snprintf(column, sizeof(column), "%.*s", (int)length, odd);
    gmt_guard_note_column(db, table, column, odd + length + (odd[length] == ' '));
}

static int check_values(sqlite3 *db, const struct asked_columns *columns,
                        const struct asked_table *table)
{
    char *sql = find_odd_sql(db, columns, table);
    sqlite3_stmt *row = NULL;
    int error = 0;
    /* Without columns there is no such table: a trace of an earlier version. */
    int code = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_DONE;
    sqlite3_free(sql);
    if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        note_odd(db, table->name, column_text(row, 0));
        error = -EBADMSG;
    } else if (code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(row);
    return error;
}

int gmt_own_schema_values(sqlite3 *db, sqlite3 *model, enum gmt_schema_part part)
{
    struct asked_columns columns;
    int error = open_columns(&columns, model);
    for (size_t i = 0; error == 0 && i < ASKED_TABLES; i++) {
        if (gmt_own_schema_reads(part, asked_tables[i].name)) {
            error = check_values(db, &columns, &asked_tables[i]);
        }
    }
    close_columns(&columns);
    return error;
}
