/* SPDX-License-Identifier: Apache-2.0 */
/* The table function that reads a trace's rows. DuckDB has one thread here, so nothing is locked. */
#include "analyzer/parquet/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/guard.h"

/* A batch ends here although it could have more rows: source files and code may be large. */
#define BATCH_BYTES (UINT64_C(4) << 20)
#define REPLACEMENT "\xEF\xBF\xBD"
#define REPLACEMENT_BYTES 3

/* What the callbacks read: one process exports one trace, with one thread. */
static struct gmt_parquet_rows *current;

static int duckdb_type(enum gmt_parquet_kind kind)
{
    switch (kind) {
    case GMT_PARQUET_REAL: return GMT_DUCKDB_DOUBLE;
    case GMT_PARQUET_TEXT: return GMT_DUCKDB_VARCHAR;
    case GMT_PARQUET_RAW:
    case GMT_PARQUET_BLOB: return GMT_DUCKDB_BLOB;
    default: return GMT_DUCKDB_BIGINT;
    }
}

static void bind_columns(void *info)
{
    for (size_t i = 0; i < current->table->column_count; i++) {
        const struct gmt_parquet_column *column = &current->table->columns[i];
        void *type = current->duckdb->create_logical_type(duckdb_type(column->kind));

        current->duckdb->bind_add_result_column(info, column->name, type);
        current->duckdb->destroy_logical_type(&type);
    }
}

static void begin_rows(void *info)
{
    (void)info;
    current->count = 0;
    current->ended = false;
}

/* How many bytes the character at `text` has; 0: it is no UTF-8. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    unsigned char c = text[0];
    size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : 4;

    if ((n == 4 && (c < 0xF0 || c > 0xF4)) || n > left) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool is_long = (c == 0xE0 && text[1] < 0xA0) || (c == 0xF0 && text[1] < 0x90);
    bool is_beyond = (c == 0xED && text[1] > 0x9F) || (c == 0xF4 && text[1] > 0x8F);
    return n > 1 && (is_long || is_beyond) ? 0 : n;
}

static bool is_utf8(const unsigned char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t n = utf8_length(text + at, length - at);

        if (n == 0) {
            return false;
        }
        at += n;
    }
    return true;
}

static int fail(const char *what, const char *column)
{
    snprintf(current->why, sizeof(current->why), "is damaged: %s.%s %s", current->table->name,
             column, what);
    current->failed = true;
    return -EBADMSG;
}

/* Each byte that belongs to no character becomes U+FFFD. */
static int put_replaced(void *vector, uint64_t row, const unsigned char *text, size_t length)
{
    char *copy = malloc(length * REPLACEMENT_BYTES + 1);
    size_t used = 0;

    if (copy == NULL) {
        return -ENOMEM;
    }
    for (size_t at = 0; at < length;) {
        size_t n = utf8_length(text + at, length - at);

        memcpy(copy + used, n > 0 ? (const char *)text + at : REPLACEMENT,
               n > 0 ? n : REPLACEMENT_BYTES);
        used += n > 0 ? n : REPLACEMENT_BYTES;
        at += n > 0 ? n : 1;
    }
    current->duckdb->vector_assign_string_element_len(vector, row, copy, used);
    free(copy);
    return 0;
}

static void put_null(void *vector, uint64_t row)
{
    current->duckdb->vector_ensure_validity_writable(vector);
    current->duckdb->validity_set_row_invalid(current->duckdb->vector_get_validity(vector), row);
}

/* Text or blob; *bytes grows by what it takes. */
static int put_bytes(void *vector, uint64_t row, const struct gmt_parquet_column *column,
                     uint64_t *bytes)
{
    sqlite3_stmt *statement = current->statement;
    bool is_blob = column->kind == GMT_PARQUET_BLOB;
    int type = sqlite3_column_type(statement, column->source);

    if (type != (is_blob ? SQLITE_BLOB : SQLITE_TEXT)) {
        return fail(is_blob ? "is no blob" : "is no text", column->name);
    }
    const void *data = is_blob ? sqlite3_column_blob(statement, column->source)
                               : (const void *)sqlite3_column_text(statement, column->source);
    size_t length = (size_t)sqlite3_column_bytes(statement, column->source);
    if (data == NULL && length > 0) {
        return -ENOMEM;
    }
    data = data != NULL ? data : "";
    bool is_whole = is_blob || is_utf8(data, length);
    *bytes += length;
    if (column->kind == GMT_PARQUET_TEXT && !is_whole) {
        return put_replaced(vector, row, data, length);
    }
    if (column->kind == GMT_PARQUET_RAW && is_whole) {
        put_null(vector, row);
        return 0;
    }
    current->duckdb->vector_assign_string_element_len(vector, row, data, length);
    return 0;
}

static int put_number(void *vector, uint64_t row, const struct gmt_parquet_column *column)
{
    sqlite3_stmt *statement = current->statement;
    void *data = current->duckdb->vector_get_data(vector);
    bool is_real = column->kind == GMT_PARQUET_REAL;

    if (sqlite3_column_type(statement, column->source) !=
        (is_real ? SQLITE_FLOAT : SQLITE_INTEGER)) {
        return fail("is no number of its kind", column->name);
    }
    if (is_real) {
        ((double *)data)[row] = sqlite3_column_double(statement, column->source);
        return 0;
    }
    int64_t value = sqlite3_column_int64(statement, column->source);
    if (column->kind == GMT_PARQUET_TIME &&
        __builtin_add_overflow(value, current->clock_offset_ns, &value)) {
        return fail("is no time", column->name);
    }
    ((int64_t *)data)[row] = value;
    return 0;
}

static int put(void *vector, uint64_t row, const struct gmt_parquet_column *column, uint64_t *bytes)
{
    if (column->kind == GMT_PARQUET_TRACE_ID) {
        ((int64_t *)current->duckdb->vector_get_data(vector))[row] = current->trace_id;
        return 0;
    }
    if (sqlite3_column_type(current->statement, column->source) == SQLITE_NULL) {
        put_null(vector, row);
        return 0;
    }
    if (duckdb_type(column->kind) == GMT_DUCKDB_VARCHAR ||
        duckdb_type(column->kind) == GMT_DUCKDB_BLOB) {
        return put_bytes(vector, row, column, bytes);
    }
    return put_number(vector, row, column);
}

static int put_row(void *chunk, uint64_t row, uint64_t *bytes)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < current->table->column_count; i++) {
        rc = put(current->duckdb->data_chunk_get_vector(chunk, i), row, &current->table->columns[i],
                 bytes);
    }
    return rc;
}

static void fill(void *info, void *chunk)
{
    uint64_t most = current->duckdb->vector_size(), n = 0, bytes = 0;
    int step = SQLITE_ROW, rc = 0;

    /* A statement that is stepped beyond its end begins anew. */
    while (rc == 0 && !current->ended && n < most && bytes < BATCH_BYTES &&
           (step = sqlite3_step(current->statement)) == SQLITE_ROW) {
        rc = put_row(chunk, n, &bytes);
        n++;
    }
    current->ended |= step != SQLITE_ROW;
    if (rc == -ENOMEM || (step != SQLITE_ROW && step != SQLITE_DONE)) {
        snprintf(current->why, sizeof(current->why), "%s",
                 rc == -ENOMEM ? strerror(ENOMEM)
                               : gmt_guard_reason(sqlite3_db_handle(current->statement)));
        current->failed = true;
    }
    current->count += (int64_t)n;
    current->duckdb->data_chunk_set_size(chunk, n);
    if (current->failed) {
        current->duckdb->data_chunk_set_size(chunk, 0);
        current->duckdb->function_set_error(info, current->why);
    }
}

int gmt_parquet_rows_register(struct gmt_parquet_rows *rows, void *connection)
{
    const struct gmt_duckdb *duckdb = rows->duckdb;
    void *function = duckdb->create_table_function();

    current = rows;
    duckdb->table_function_set_name(function, "gmt_rows");
    duckdb->table_function_set_bind(function, bind_columns);
    duckdb->table_function_set_init(function, begin_rows);
    duckdb->table_function_set_function(function, fill);
    int rc = duckdb->register_table_function(connection, function) == 0 ? 0 : -EIO;
    duckdb->destroy_table_function(&function);
    return rc;
}
