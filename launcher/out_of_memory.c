/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the memory when the program asked for some and there was none left: the top five. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "launcher/launcher.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/values.h"

/* A table's calls with the place of the user's code that made each. */
#define GMT_PLACES \
    "LEFT JOIN frame f ON f.id = (SELECT s.frame_id FROM stack_frame s JOIN frame g " \
    "ON g.id = s.frame_id WHERE s.stack_id = c.stack_id AND g.runtime = 0 " \
    "ORDER BY s.position LIMIT 1) " \
    "LEFT JOIN module m ON m.id = coalesce(f.module_id, (SELECT id FROM module WHERE " \
    "f.id IS NULL AND c.caller >= start_address AND c.caller < end_address LIMIT 1)) " \
    "LEFT JOIN string fn ON fn.id = f.function_id LEFT JOIN string fi ON fi.id = f.file_id "
/* Function, file, line, module, offset in it. */
#define GMT_PLACE "fn.text, fi.text, f.line, m.path, coalesce(f.offset, c.caller - m.load_bias)"

/* The last call that failed so, on which device, and how many did. */
static const char failure_sql[] =
    "SELECT coalesce(a.runtime_name, a.name, '?'), c.bytes, c.begin_ns, x.device_id, "
    "a.name LIKE '%Host%', count(*) OVER (), " GMT_PLACE
    " FROM api a JOIN api_call c ON c.api_id = a.id LEFT JOIN context x ON x.id = "
    "c.context_id " GMT_PLACES
    "WHERE a.family = 'alloc' AND a.name NOT LIKE '%Free%' AND c.result = 2 "
    "ORDER BY c.begin_ns DESC LIMIT 1";

/* ?1: the moment; ?2: the device, NULL: any. */
#define GMT_HOLDERS(table) \
    "SELECT count(*), CAST(total(c.bytes) AS INTEGER), CAST(sum(total(c.bytes)) OVER () AS " \
    "INTEGER), " GMT_PLACE " FROM " table " c " GMT_PLACES \
    "LEFT JOIN context x ON x.id = c.context_id " \
    "WHERE c.end_ns <= ?1 AND (c.free_begin_ns IS NULL OR c.free_begin_ns > ?1) " \
    "AND (?2 IS NULL OR x.device_id IS NULL OR x.device_id = ?2) " \
    "GROUP BY coalesce(f.id, -c.caller) ORDER BY 2 DESC LIMIT 5"

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text;
    (void)gmt_value_text(row, column, &text);
    return text;
}

/* 0 for NULL, and for what is no integer. */
static int64_t integer_of(sqlite3_stmt *row, int column)
{
    int64_t number = 0;
    (void)gmt_value_integer(row, column, &number);
    return number;
}

/* "app.cu:42 in upload()", "app+0x1234 in upload()"; `first`: column of the function. */
static void place_of(sqlite3_stmt *row, int first, char *text, size_t bytes)
{
    const char *function = text_of(row, first), *file = text_of(row, first + 1);
    const char *module = text_of(row, first + 3);
    int64_t line = integer_of(row, first + 2);
    int used;
    if (file != NULL && line > 0) {
        used = snprintf(text, bytes, "%s:%" PRId64, gmt_base_name(file), line);
    } else if (module != NULL) {
        used = snprintf(text, bytes, "%s+0x%" PRIx64, gmt_base_name(module),
                        (uint64_t)integer_of(row, first + 4));
    } else {
        used = snprintf(text, bytes, "an unknown place");
    }
    if (function != NULL && used > 0 && (size_t)used < bytes) {
        (void)snprintf(text + used, bytes - (size_t)used, " in %.120s", function);
    }
    /* Names come from the program: nothing in them may steer the terminal. */
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            *at = '?';
        }
    }
}

static void print_holders(sqlite3 *db, sqlite3_stmt *failure, const char *asked)
{
    bool host = integer_of(failure, 4) != 0, first = true;
    sqlite3_stmt *row = NULL;
    char place[512];
    if (sqlite3_prepare_v2(db, host ? GMT_HOLDERS("host_allocation") : GMT_HOLDERS("allocation"),
                           -1, &row, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(row, 1, integer_of(failure, 2));
        if (!host && sqlite3_column_type(failure, 3) != SQLITE_NULL) {
            (void)sqlite3_bind_int64(row, 2, integer_of(failure, 3));
        }
        while (sqlite3_step(row) == SQLITE_ROW) {
            struct gmt_words bytes = gmt_words_of_bytes(integer_of(row, 1));
            struct gmt_words all = gmt_words_of_bytes(integer_of(row, 2));
            struct gmt_words count = gmt_words_of_count(integer_of(row, 0), "allocation",
                                                        "allocations");
            if (first) {
                gmt_say(stderr, "gmtrace: %s while the program held %s:\n", asked, all.text);
            }
            first = false;
            place_of(row, 3, place, sizeof(place));
            gmt_say(stderr, "gmtrace:   %10s in %s from %s\n", bytes.text, count.text, place);
        }
    }
    sqlite3_finalize(row);
    if (first) {
        gmt_say(stderr, "gmtrace: %s; the program itself held nothing\n", asked);
    }
}

void gmt_launcher_out_of_memory(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    char place[512], asked[768];
    if (sqlite3_prepare_v2(db, failure_sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        int64_t failures = integer_of(row, 5);
        bool known = sqlite3_column_type(row, 1) != SQLITE_NULL;
        struct gmt_words bytes = gmt_words_of_bytes(integer_of(row, 1));
        struct gmt_words times = gmt_words_of_count(failures, "time", "times");
        const char *call = text_of(row, 0);
        place_of(row, 6, place, sizeof(place));
        (void)snprintf(asked, sizeof(asked), "out of memory%s%s%s: %s at %s asked for %s",
                       failures > 1 ? " " : "", failures > 1 ? times.text : "",
                       failures > 1 ? ", at last" : "", call != NULL ? call : "a call", place,
                       known ? bytes.text : "memory");
        print_holders(db, row, asked);
    }
    sqlite3_finalize(row);
}
