/* SPDX-License-Identifier: Apache-2.0 */
/* Finds device models in the XDG cache; SQLite's own JSON functions look into them. */
#include "libtrace/store/db/model_cache.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"

#define MAX_MODEL_BYTES (16u << 20)

static int cache_directory(char *path, size_t bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(path, bytes, "%s/gmtrace/models", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, bytes, "%s/.cache/gmtrace/models", home);
    }
    return length > 0 && (size_t)length < bytes ? 0 : -ENOENT;
}

/* The text of a file, malloc'ed; NULL if it cannot be read. */
static char *read_model(const char *directory, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return NULL;
    }
    char *text = NULL;
    long bytes = -1;
    if (fseek(file, 0, SEEK_END) == 0) {
        bytes = ftell(file);
    }
    if (bytes > 0 && bytes <= (long)MAX_MODEL_BYTES && fseek(file, 0, SEEK_SET) == 0) {
        text = calloc(1, (size_t)bytes + 1);
        if (text != NULL && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    (void)fclose(file);
    return text;
}

/* True when `json` is a model of a device called `name`. */
static bool is_model_of(sqlite3 *db, const char *json, const char *name)
{
    sqlite3_stmt *query;
    bool same = false;
    if (sqlite3_prepare_v2(db,
                           "SELECT CASE WHEN json_valid(?1) THEN json_extract(?1,'$.device.name') "
                           "= ?2 ELSE 0 END",
                           -1, &query, NULL) != SQLITE_OK) {
        return false; /* an SQLite without JSON: no model then */
    }
    sqlite3_bind_text(query, 1, json, -1, SQLITE_STATIC);
    sqlite3_bind_text(query, 2, name, -1, SQLITE_STATIC);
    if (sqlite3_step(query) == SQLITE_ROW) {
        same = sqlite3_column_int(query, 0) == 1;
    }
    sqlite3_finalize(query);
    return same;
}

static int store_model(sqlite3 *db, const char *uuid, const char *match, const char *json)
{
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO device_model(uuid,match,json) VALUES(?,?,?)",
                           -1, &insert, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    sqlite3_bind_text(insert, 1, uuid, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, match, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, json, -1, SQLITE_STATIC);
    int error = sqlite3_step(insert) == SQLITE_DONE ? 0 : gmt_database_error(db);
    sqlite3_finalize(insert);
    return error;
}

/* Any model in the cache of a device of that name; of several the first by file name, so that the
 * choice does not depend on the file system. */
static char *model_of_name(sqlite3 *db, const char *directory, const char *name)
{
    struct dirent **entries;
    char *found = NULL;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(entries[i]->d_name, '.');
        /* Beside a model lie the timings that it was made from, which name the device, too. */
        if (found == NULL && dot != NULL && strcmp(dot, ".json") == 0 &&
            strstr(entries[i]->d_name, ".raw.") == NULL) {
            char *text = read_model(directory, entries[i]->d_name);
            if (text != NULL && is_model_of(db, text, name)) {
                found = text;
            } else {
                free(text);
            }
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return found;
}

static int copy_for_device(sqlite3 *db, const char *directory, const char *uuid, const char *name,
                           const char *driver)
{
    char file[512];
    const char *match = "this board";
    int length = snprintf(file, sizeof(file), "%s-%s-%s.json", uuid, driver, GMT_VERSION);
    char *json = NULL;
    if (length > 0 && (size_t)length < sizeof(file) && strchr(file, '/') == NULL) {
        json = read_model(directory, file);
    }
    if (json != NULL && !is_model_of(db, json, name)) {
        free(json);
        json = NULL;
    }
    if (json == NULL) {
        match = "same name";
        json = model_of_name(db, directory, name);
    }
    int error = json != NULL ? store_model(db, uuid, match, json) : 0;
    free(json);
    return error;
}

int gmt_model_cache_copy(sqlite3 *db)
{
    char directory[PATH_MAX];
    sqlite3_stmt *devices;
    int error = 0, code = SQLITE_DONE;
    if (cache_directory(directory, sizeof(directory)) != 0) {
        return 0;
    }
    if (sqlite3_prepare_v2(db,
                           "SELECT DISTINCT uuid, name, coalesce(driver_version, '') FROM device "
                           "WHERE uuid IS NOT NULL",
                           -1, &devices, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    while (error == 0 && (code = sqlite3_step(devices)) == SQLITE_ROW) {
        error = copy_for_device(db, directory, (const char *)sqlite3_column_text(devices, 0),
                                (const char *)sqlite3_column_text(devices, 1),
                                (const char *)sqlite3_column_text(devices, 2));
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(devices);
    return error;
}
