/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL functions that redact_columns.def uses. */
#include "analyzer/redact/redact_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/redact/public_names.h"
#include "analyzer/redact/redact_text.h"
#include "analyzer/trace/query.h"

static char *shown_package(const struct gmt_private_words *words, const char *text)
{
    (void)words;
    return strdup(gmt_package_mark(text));
}

/* One of both. */
static const struct redact_function {
    const char *name;
    char *(*public)(const char *text);
    char *(*shown)(const struct gmt_private_words *words, const char *text);
} functions[] = {
    {"gmt_word", gmt_public_word, NULL},         {"gmt_sentence", gmt_public_sentence, NULL},
    {"gmt_function", gmt_public_function, NULL}, {"gmt_file", gmt_public_file, NULL},
    {"gmt_module", gmt_public_module, NULL},     {"gmt_opcode", gmt_public_opcode, NULL},
    {"gmt_device", gmt_public_device, NULL},     {"gmt_number", gmt_public_number, NULL},
    {"gmt_hash", gmt_public_hash, NULL},         {"gmt_attributes", gmt_public_attributes, NULL},
    {"gmt_text", NULL, gmt_shown_text},          {"gmt_path", NULL, gmt_shown_path},
    {"gmt_base", NULL, gmt_shown_base},          {"gmt_settings", NULL, gmt_shown_settings},
    {"gmt_package", NULL, shown_package},
};

/* What a function needs when it is called. */
struct call {
    const struct redact_function *function;
    struct gmt_private_words words;
};

static void call(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct call *data = sqlite3_user_data(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);

    (void)n;
    if (text == NULL) {
        sqlite3_result_null(context);
        return;
    }
    char *result = data->function->public != NULL ? data->function->public(text)
                                                  : data->function->shown(&data->words, text);
    sqlite3_result_text(context, result, -1, result != NULL ? free : SQLITE_STATIC);
}

static void free_call(void *data)
{
    struct call *call = data;

    gmt_private_free(&call->words);
    free(call);
}

static void add_words(sqlite3 *db, const char *sql, struct gmt_private_words *words,
                      void (*add)(struct gmt_private_words *words, const char *text))
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        /* Of whatever type and length: each word that is found hides more. */
        const char *text = (const char *)sqlite3_column_text(query.statement, 0);

        if (text != NULL) {
            add(words, text);
        }
    }
    (void)gmt_query_close(&query, rc); /* an older trace lacks a column */
}

/* Of the trace as it is: no view covers it yet. */
static void find_words(sqlite3 *db, struct gmt_private_words *words)
{
    static const char *const paths[] = {
        "SELECT exe FROM process UNION ALL SELECT command FROM process UNION ALL "
        "SELECT cwd FROM process UNION ALL SELECT options FROM process",
        "SELECT path FROM module", "SELECT text FROM string WHERE text LIKE '%/%'"};

    add_words(db, "SELECT hostname FROM process", words, gmt_private_host);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        add_words(db, paths[i], words, gmt_private_users);
    }
}

int gmt_redact_functions_add(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        struct call *data = calloc(1, sizeof(*data));

        if (data == NULL) {
            return -ENOMEM;
        }
        data->function = &functions[i];
        if (functions[i].shown != NULL) {
            find_words(db, &data->words);
        }
        if (data->words.error != 0) {
            int error = data->words.error;
            free_call(data);
            return error;
        }
        /* It frees the data on failure, too. */
        if (sqlite3_create_function_v2(db, functions[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                       data, call, NULL, NULL, free_call) != SQLITE_OK) {
            return -EIO;
        }
    }
    return 0;
}
