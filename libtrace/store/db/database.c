/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and opens trace.db for writing. */
#include "libtrace/store/db/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/guard.h"
#include "libtrace/store/db/journal.h"
#include "libtrace/store/db/own_schema.h"
#include "libtrace/store/db/traits.h"

#define BUSY_TIMEOUT_MS 60000

static int open_file(const char *path, int flags, sqlite3 **db)
{
    *db = NULL;
    if (sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        int error = *db != NULL ? gmt_database_error(*db) : -ENOMEM;
        sqlite3_close(*db);
        *db = NULL;
        return error;
    }
    sqlite3_extended_result_codes(*db, 1);
    (void)sqlite3_busy_timeout(*db, BUSY_TIMEOUT_MS);
    return 0;
}

/* A link in the place of the file is refused, those on the way to it are the user's. */
static int open_no_link(const char *path, int flags, sqlite3 **db)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(path, '/');
    (void)snprintf(whole, sizeof(whole), "%.*s", slash != NULL ? (int)(slash - path) + 1 : 1,
                   slash != NULL ? path : ".");
    *db = NULL;
    if (strcmp(path, ":memory:") == 0) {
        return open_file(path, flags, db);
    }
    if (realpath(whole, folder) == NULL) {
        return -errno;
    }
    int length = snprintf(whole, sizeof(whole), "%s/%s", folder, slash != NULL ? slash + 1 : path);
    if (length < 0 || (size_t)length >= sizeof(whole)) {
        return -ENAMETOOLONG;
    }
    return open_file(whole, flags | SQLITE_OPEN_NOFOLLOW, db);
}

static int configure(sqlite3 *db)
{
    return gmt_database_exec(db,
                             "PRAGMA page_size = 8192;"
                             "PRAGMA journal_mode = TRUNCATE;"
                             "PRAGMA synchronous = OFF;"
                             "PRAGMA foreign_keys = OFF;"
                             /* Each CHECK (x IN (...)) would build a table per row, 1 us; names.h
                                  * only has names that pass, and integrity_check looks again. */
                             "PRAGMA ignore_check_constraints = ON;"
                             "PRAGMA cache_size = -65536;");
}

int gmt_database_shrink(sqlite3 *db)
{
    int64_t free_pages = 0, page_bytes = 0;
    int error = gmt_database_integer(db, "PRAGMA freelist_count", 0, &free_pages);
    if (error == 0) {
        error = gmt_database_integer(db, "PRAGMA page_size", 0, &page_bytes);
    }
    bool worth_it = error == 0 && page_bytes > 0 && free_pages > (1 << 20) / page_bytes;
    return worth_it ? gmt_database_exec(db, "PRAGMA incremental_vacuum") : error;
}

bool gmt_database_is_moved(sqlite3 *db)
{
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved != 0;
}

int gmt_database_create(const char *path, const char *first_rows, sqlite3 **db)
{
    char header[96];
    (void)snprintf(header, sizeof(header), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                   GMT_TRACE_APPLICATION_ID, GMT_TRACE_USER_VERSION);
    int error = open_no_link(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, db);
    if (error != 0) {
        return error;
    }
    /* What is needed for a while only (cubins) leaves no hole in the file: gmt_database_shrink. */
    if ((error = configure(*db)) != 0 ||
        (error = gmt_database_exec(*db, "BEGIN; PRAGMA auto_vacuum = INCREMENTAL")) != 0 ||
        (error = gmt_database_exec(*db, header)) != 0 ||
        (error = gmt_database_exec(*db, gmt_schema_sql)) != 0 ||
        (error = gmt_database_exec(*db, first_rows)) != 0 ||
        (error = gmt_database_exec(*db, "COMMIT")) != 0) {
        gmt_database_close(*db);
        *db = NULL;
    }
    return error;
}

/* The file may be anybody's, as one that `symbolize` is given: a trigger of it must not run either. */
static int check_schema(sqlite3 *db)
{
    char why[256];
    sqlite3 *model = NULL;
    int error = gmt_own_schema(&model);
    if (error == 0) {
        error = gmt_own_schema_check(db, model, why, sizeof(why));
    }
    sqlite3_close(model);
    return error;
}

static int open_to_write(const char *path, sqlite3 **db,
                         int (*open)(const char *path, int flags, sqlite3 **db))
{
    *db = NULL;
    int error = gmt_journal_check(path);
    if (error == 0) {
        error = open(path, SQLITE_OPEN_READWRITE, db);
    }
    if (error == 0 && ((error = gmt_guard_configure(*db)) != 0 ||
                       (error = check_schema(*db)) != 0 || (error = configure(*db)) != 0)) {
        gmt_database_close(*db);
        *db = NULL;
    }
    return error;
}

int gmt_database_open(const char *path, sqlite3 **db)
{
    return open_to_write(path, db, open_file);
}

int gmt_database_continue(const char *path, sqlite3 **db)
{
    return open_to_write(path, db, open_no_link);
}

/* Run the statements of all tables and views that `model` has and `db` has not. */
static int make_missing(sqlite3 *db, sqlite3 *model)
{
    sqlite3_stmt *rows;
    int error = 0;
    if (sqlite3_prepare_v2(model, "SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL", -1,
                           &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(model);
    }
    while (error == 0 && sqlite3_step(rows) == SQLITE_ROW) {
        char sql[160];
        int64_t found;
        (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_master WHERE name = '%s'",
                       (const char *)sqlite3_column_text(rows, 1));
        error = gmt_database_integer(db, sql, 0, &found);
        if (error == 0 && found == 0) {
            error = gmt_database_exec(db, (const char *)sqlite3_column_text(rows, 0));
        }
    }
    sqlite3_finalize(rows);
    return error;
}

/* Columns of a table that `model` has and `db` has not. NOT NULL cannot be had of rows that are there. */
static int add_columns(sqlite3 *db, sqlite3 *model, const char *table)
{
    char sql[200];
    sqlite3_stmt *columns;
    int error = 0;
    (void)snprintf(sql, sizeof(sql), "PRAGMA table_info(%s)", table);
    if (sqlite3_prepare_v2(model, sql, -1, &columns, NULL) != SQLITE_OK) {
        return gmt_database_error(model);
    }
    while (error == 0 && sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(columns, 1);
        if (sqlite3_table_column_metadata(db, NULL, table, name, NULL, NULL, NULL, NULL, NULL) ==
            SQLITE_OK) {
            continue;
        }
        (void)snprintf(sql, sizeof(sql), "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s", table, name,
                       (const char *)sqlite3_column_text(columns, 2));
        error = gmt_database_exec(db, sql);
    }
    sqlite3_finalize(columns);
    return error;
}

/* `of` holds names of tables or views in its first column. */
static int each_name(sqlite3 *of, const char *sql, sqlite3 *db, sqlite3 *model,
                     int (*change)(sqlite3 *db, sqlite3 *model, const char *name))
{
    sqlite3_stmt *names;
    int error = 0;
    if (sqlite3_prepare_v2(of, sql, -1, &names, NULL) != SQLITE_OK) {
        return gmt_database_error(of);
    }
    while (error == 0 && sqlite3_step(names) == SQLITE_ROW) {
        error = change(db, model, (const char *)sqlite3_column_text(names, 0));
    }
    sqlite3_finalize(names);
    return error;
}

static int drop_view(sqlite3 *db, sqlite3 *model, const char *name)
{
    char sql[160];
    (void)model;
    (void)snprintf(sql, sizeof(sql), "DROP VIEW IF EXISTS \"%s\"", name);
    return gmt_database_exec(db, sql);
}

static int bring_up(sqlite3 *db, sqlite3 *model)
{
    char sql[64];
    int error = gmt_database_exec(db, "BEGIN");
    /* Views name columns that may come only now; the names are taken from the model, whose list does
     * not change under the loop. */
    if (error != 0 ||
        (error = each_name(model, "SELECT name FROM sqlite_master WHERE type = 'view'", db, model,
                           drop_view)) != 0 ||
        (error = make_missing(db, model)) != 0 ||
        (error = each_name(model, "SELECT name FROM sqlite_master WHERE type = 'table'", db, model,
                           add_columns)) != 0 ||
        (error = gmt_traits_register(db)) != 0 ||
        (error = gmt_database_exec(db, "UPDATE api SET traits = gmt_traits(name) "
                                       "WHERE traits IS NULL; UPDATE coverage SET kind = "
                                       "'lookup_path' WHERE kind = 'door'")) != 0) {
        return error;
    }
    (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; COMMIT;", GMT_TRACE_USER_VERSION);
    return gmt_database_exec(db, sql);
}

int gmt_database_upgrade(sqlite3 *db)
{
    int64_t version;
    sqlite3 *model = NULL;
    int error = gmt_database_integer(db, "PRAGMA user_version", 0, &version);
    if (error != 0 || version >= GMT_TRACE_USER_VERSION) {
        return error;
    }
    error = gmt_own_schema(&model);
    if (error == 0) {
        error = bring_up(db, model);
    }
    (void)sqlite3_close(model);
    return error;
}

void gmt_database_close(sqlite3 *db)
{
    if (db == NULL) {
        return;
    }
    if (!sqlite3_get_autocommit(db)) {
        (void)gmt_database_exec(db, "ROLLBACK");
    }
    /* Leave no empty journal file behind. */
    (void)gmt_database_exec(db, "PRAGMA journal_mode = DELETE");
    (void)sqlite3_close(db);
}
