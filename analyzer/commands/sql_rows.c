/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a query as text. */
#include "analyzer/commands/sql_rows.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/export/export.h"
#include "libtrace/base/format.h"
#include "libtrace/base/memory_short.h"
#include "reports/json/json_values.h"

/* Rows that decide how wide the columns of a table are; later ones may be wider and then stand out. */
enum { ROWS_AHEAD = 1000, WIDEST = 80 };

static int finish(int rc, FILE *out)
{
    return rc == SQLITE_DONE && !ferror(out) ? 0 : -EIO;
}

int gmt_rows_csv(sqlite3_stmt *statement, FILE *out)
{
    long rows;

    return gmt_csv_rows(statement, out, &rows);
}

/* Tabs and ends of lines within a text become blanks. */
int gmt_rows_tsv(sqlite3_stmt *statement, FILE *out)
{
    int columns = sqlite3_column_count(statement), rc;

    for (int i = 0; i < columns; i++) {
        fputs(i > 0 ? "\t" : "", out);
        gmt_print_clean(out, sqlite3_column_name(statement, i), 0);
    }
    fputc('\n', out);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);

            fputs(i > 0 ? "\t" : "", out);
            gmt_print_clean(out, text != NULL ? text : "", 0);
        }
        fputc('\n', out);
    }
    return finish(rc, out);
}

struct sql_table {
    size_t columns, rows;
    size_t *widths;
    bool *numbers;
    char **cells; /* of the rows ahead */
};

static const char *cell_text(sqlite3_stmt *statement, size_t column)
{
    const char *text = (const char *)sqlite3_column_text(statement, (int)column);

    return text != NULL ? text : "–";
}

static void put_cell(FILE *out, const struct sql_table *table, size_t column, const char *text)
{
    size_t length = gmt_clean_length(text);
    size_t blanks = table->widths[column] > length ? table->widths[column] - length : 0;

    fputs(column > 0 ? "  " : "", out);
    if (table->numbers[column]) {
        fprintf(out, "%*s", (int)blanks, "");
    }
    gmt_print_clean(out, text, 0);
    /* Nothing behind the last column. */
    if (!table->numbers[column] && column + 1 < table->columns) {
        fprintf(out, "%*s", (int)blanks, "");
    }
}

static void widen(struct sql_table *table, size_t column, const char *text)
{
    size_t length = gmt_clean_length(text);

    length = length < WIDEST ? length : WIDEST;
    if (table->widths[column] < length) {
        table->widths[column] = length;
    }
}

/* Reads up to ROWS_AHEAD rows; the result of the last step. */
static int read_ahead(struct sql_table *table, sqlite3_stmt *statement)
{
    int rc = SQLITE_DONE;

    for (size_t i = 0; i < table->columns; i++) {
        widen(table, i, sqlite3_column_name(statement, (int)i));
        table->numbers[i] = true;
    }
    while (table->rows < ROWS_AHEAD && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < table->columns; i++) {
            int type = sqlite3_column_type(statement, (int)i);
            char *copy = strdup(cell_text(statement, i));

            if (copy == NULL) {
                gmt_memory_note_short();
                return SQLITE_NOMEM;
            }
            table->cells[table->rows * table->columns + i] = copy;
            widen(table, i, copy);
            table->numbers[i] = table->numbers[i] && type != SQLITE_TEXT && type != SQLITE_BLOB;
        }
        table->rows++;
    }
    return rc;
}

static void put_table(struct sql_table *table, sqlite3_stmt *statement, FILE *out)
{
    for (size_t i = 0; i < table->columns; i++) {
        put_cell(out, table, i, sqlite3_column_name(statement, (int)i));
    }
    fputc('\n', out);
    for (size_t i = 0; i < table->columns; i++) {
        fputs(i > 0 ? "  " : "", out);
        for (size_t n = 0; n < table->widths[i]; n++) {
            fputs("─", out);
        }
    }
    fputc('\n', out);
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->columns; i++) {
            put_cell(out, table, i, table->cells[row * table->columns + i]);
        }
        fputc('\n', out);
    }
}

int gmt_rows_table(sqlite3_stmt *statement, FILE *out)
{
    size_t columns = (size_t)sqlite3_column_count(statement);
    struct sql_table table = {.columns = columns,
                              .widths = calloc(columns + 1, sizeof(*table.widths)),
                              .numbers = calloc(columns + 1, sizeof(*table.numbers)),
                              .cells = calloc(ROWS_AHEAD * columns + 1, sizeof(*table.cells))};
    int rc = SQLITE_NOMEM;

    if (table.widths == NULL || table.numbers == NULL || table.cells == NULL) {
        goto out;
    }
    rc = read_ahead(&table, statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        goto out;
    }
    put_table(&table, statement, out);
    while (rc == SQLITE_ROW && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < columns; i++) {
            put_cell(out, &table, i, cell_text(statement, i));
        }
        fputc('\n', out);
    }
out:
    for (size_t i = 0; table.cells != NULL && i < ROWS_AHEAD * columns; i++) {
        free(table.cells[i]);
    }
    free(table.cells);
    free(table.numbers);
    free(table.widths);
    return finish(rc, out);
}

static json_t *json_value(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return json_null();
    case SQLITE_INTEGER: return json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: {
        double value = sqlite3_column_double(statement, column);

        return isfinite(value) ? json_real(value) : json_null();
    }
    default: return gmt_json_text((const char *)sqlite3_column_text(statement, column));
    }
}

/* A second column of one name gets a number behind it: an object has each name once. */
static void add_value(json_t *object, const char *name, json_t *value)
{
    char *clean = gmt_clean_copy(name);
    size_t bytes = clean != NULL ? strlen(clean) + 24 : 0;
    char *unique = clean != NULL ? malloc(bytes) : NULL;

    if (unique != NULL) {
        strcpy(unique, clean);
        for (int n = 2; json_object_get(object, unique) != NULL; n++) {
            snprintf(unique, bytes, "%s_%d", clean, n);
        }
        json_object_set(object, unique, value);
    }
    json_decref(value);
    free(unique);
    free(clean);
}

int gmt_rows_json(sqlite3_stmt *statement, FILE *out)
{
    int columns = sqlite3_column_count(statement), rc;
    bool first = true;

    fputc('[', out);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *object = json_object();

        for (int i = 0; i < columns; i++) {
            add_value(object, sqlite3_column_name(statement, i), json_value(statement, i));
        }
        fputs(first ? "\n" : ",\n", out);
        json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(object);
        first = false;
    }
    fputs(first ? "]\n" : "\n]\n", out);
    return finish(rc, out);
}
