/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a statement's present row, by their type: a value that is not of it becomes the reason of a
 * failure (guard.h), which names table and column. For whatever reads rows that somebody else may have
 * written.
 */
#ifndef GMT_STORE_DB_VALUES_H
#define GMT_STORE_DB_VALUES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/db/guard.h"

/*
 * False where the value of a column is no integer. NULL leaves *number as it is. This runs for each value of each
 * row. Without other threads at the connection, such a value serves as one of its own (sqlite3_value_dup is not
 * needed).
 */
static inline bool gmt_value_is_integer(sqlite3_value *value, int64_t *number)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) {
        *number = sqlite3_value_int64(value);
        return true;
    }
    return type == SQLITE_NULL;
}

/* The same of a row's column; noted, where it is none. */
static inline bool gmt_value_integer(sqlite3_stmt *row, int column, int64_t *number)
{
    bool is = gmt_value_is_integer(sqlite3_column_value(row, column), number);
    if (!is) {
        gmt_guard_note_value(row, column, "is no integer");
    }
    return is;
}

/*
 * The text until the next step of the statement, NULL for NULL. False, and noted, where it is a blob, or
 * longer than GMT_TEXT_MOST_BYTES; *text is NULL then. A number is taken as its digits.
 */
static inline bool gmt_value_text(sqlite3_stmt *row, int column, const char **text)
{
    *text = NULL;
    if (sqlite3_column_type(row, column) == SQLITE_BLOB) {
        gmt_guard_note_value(row, column, "is no text");
        return false;
    }
    const char *bytes = (const char *)sqlite3_column_text(row, column);
    if (sqlite3_column_bytes(row, column) > GMT_TEXT_MOST_BYTES) {
        gmt_guard_note_value(row, column, "is a text of more than " GMT_TEXT_MOST_WORDS);
        return false;
    }
    *text = bytes;
    return true;
}

#endif
