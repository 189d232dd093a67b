/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and names of Parquet files. */
#include "analyzer/parquet/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ".unfinished-"
/* As Hive and its readers name what has no value. */
#define NO_VALUE "__HIVE_DEFAULT_PARTITION__"
/* Of a file's name there may be 255 bytes. */
#define VALUE_MOST 200

/* "key=value" with what could mean something else as %XX. NULL or "": none. */
static int encode(char *text, size_t bytes, const char *key, const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t used = (size_t)snprintf(text, bytes, "%s=", key);

    value = value != NULL && value[0] != '\0' ? value : NO_VALUE;
    for (; *value != '\0'; value++) {
        if (used + 4 > bytes) {
            return -ENAMETOOLONG;
        }
        used += (size_t)snprintf(text + used, bytes - used,
                                 strchr(plain, *value) != NULL ? "%c" : "%%%02X",
                                 (unsigned char)*value);
    }
    return 0;
}

/* FNV-1a over bytes. */
static uint64_t mixed(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static uint64_t mixed_text(uint64_t hash, const char *text)
{
    return mixed(hash, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static int folder_name(const char *trace, char *name, size_t bytes)
{
    char *whole = realpath(trace, NULL);
    if (whole == NULL) {
        return -errno;
    }
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    slash = strrchr(whole, '/');
    snprintf(name, bytes, "%s", slash != NULL ? slash + 1 : "");
    free(whole);
    return 0;
}

static int identify(struct gmt_parquet_place *place, sqlite3_stmt *row, const char *run)
{
    const char *host = (const char *)sqlite3_column_text(row, 0);
    const char *rank = (const char *)sqlite3_column_text(row, 1);
    int64_t numbers[] = {sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
                         sqlite3_column_int64(row, 4)};
    char parts[3][VALUE_MOST + 16];
    uint64_t hash = mixed_text(mixed_text(UINT64_C(0xCBF29CE484222325), host), rank);

    place->trace_id = (int64_t)(mixed(hash, numbers, sizeof(numbers)) >> 1);
    place->has_wall_clock = sqlite3_column_type(row, 3) == SQLITE_INTEGER;
    if (place->has_wall_clock &&
        __builtin_sub_overflow(numbers[1], numbers[2], &place->clock_offset_ns)) {
        return -ERANGE;
    }
    if (encode(parts[0], sizeof(parts[0]), "run", run) != 0 ||
        encode(parts[1], sizeof(parts[1]), "host", host) != 0 ||
        encode(parts[2], sizeof(parts[2]), "rank", rank) != 0) {
        return -ENAMETOOLONG;
    }
    snprintf(place->partition, sizeof(place->partition), "%s/%s/%s", parts[0], parts[1], parts[2]);
    return 0;
}

int gmt_parquet_place_find(struct gmt_parquet_place *place, sqlite3 *db, const char *trace,
                           const char *run, char *why, size_t bytes)
{
    static const char sql[] =
        "SELECT hostname, rank, pid, realtime_ns, start_ns FROM process ORDER BY id LIMIT 1";
    char own_run[PATH_MAX] = "";
    sqlite3_stmt *row = NULL;
    int rc = run != NULL ? 0 : folder_name(trace, own_run, sizeof(own_run));

    *place = (struct gmt_parquet_place){.lock = -1};
    if (rc != 0) {
        snprintf(why, bytes, "%s", strerror(-rc));
        return rc;
    }
    rc = sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW
             ? identify(place, row, run != NULL ? run : own_run)
             : -EBADMSG;
    if (rc != 0) {
        snprintf(why, bytes, "%s",
                 rc == -ENAMETOOLONG ? "the name of its run, host or rank is too long"
                 : rc == -ERANGE     ? "is damaged: process.realtime_ns is no time"
                                     : "is damaged: it has no process");
    }
    sqlite3_finalize(row);
    return rc;
}

/* Whoever makes or removes unfinished folders holds this, so that none is removed between its making and its locking. */
static int lock_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int gmt_parquet_place_begin(struct gmt_parquet_place *place, const char *folder)
{
    int folder_lock = lock_folder(folder), rc = 0;

    if (folder_lock < 0) {
        return -errno;
    }
    if ((size_t)snprintf(place->folder, sizeof(place->folder), "%s", folder) >=
            sizeof(place->folder) ||
        (size_t)snprintf(
            place->unfinished, sizeof(place->unfinished), "%s/" UNFINISHED "%016llx-%ld", folder,
            (unsigned long long)place->trace_id, (long)getpid()) >= sizeof(place->unfinished)) {
        rc = -ENAMETOOLONG;
    }
    if (rc == 0 && mkdir(place->unfinished, 0777) != 0) {
        rc = -errno;
    }
    if (rc == 0) {
        place->lock = lock_folder(place->unfinished);
        rc = place->lock >= 0 ? 0 : -errno;
    }
    close(folder_lock);
    return rc;
}

int gmt_parquet_place_file(const struct gmt_parquet_place *place, const char *table, char *path)
{
    return snprintf(path, PATH_MAX, "%s/%s.parquet", place->unfinished, table) < PATH_MAX
               ? 0
               : -ENAMETOOLONG;
}

static int final_file(const struct gmt_parquet_place *place, const char *table, char *path)
{
    return snprintf(path, PATH_MAX, "%s/%s/%s/%016llx.parquet", place->folder, table,
                    place->partition, (unsigned long long)place->trace_id) < PATH_MAX
               ? 0
               : -ENAMETOOLONG;
}

/* Every folder above `path` that lies in the user's. */
static int make_parents(const struct gmt_parquet_place *place, char *path)
{
    for (char *at = path + strlen(place->folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        int rc = mkdir(path, 0777) != 0 && errno != EEXIST ? -errno : 0;
        *at = '/';
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int gmt_parquet_place_take(const struct gmt_parquet_place *place, const char *table)
{
    char from[PATH_MAX], to[PATH_MAX];
    int rc = gmt_parquet_place_file(place, table, from);

    if (rc == 0) {
        rc = final_file(place, table, to);
    }
    if (rc == 0 && access(from, F_OK) != 0) {
        return unlink(to) == 0 || errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    }
    if (rc == 0) {
        rc = make_parents(place, to);
    }
    return rc != 0 ? rc : rename(from, to) == 0 ? 0 : -errno;
}

void gmt_parquet_place_withdraw(const struct gmt_parquet_place *place, const char *table)
{
    char path[PATH_MAX];

    if (final_file(place, table, path) == 0) {
        (void)unlink(path);
    }
}

static void remove_files(const char *path)
{
    DIR *files = opendir(path);

    for (struct dirent *entry; files != NULL && (entry = readdir(files)) != NULL;) {
        (void)unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files != NULL) {
        closedir(files);
    }
    (void)rmdir(path);
}

void gmt_parquet_place_clean(const char *folder)
{
    int folder_lock = lock_folder(folder);
    DIR *entries = folder_lock >= 0 ? opendir(folder) : NULL;
    char path[PATH_MAX], spill[PATH_MAX];

    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strncmp(entry->d_name, UNFINISHED, strlen(UNFINISHED)) != 0 ||
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= PATH_MAX ||
            snprintf(spill, sizeof(spill), "%s/spill", path) >= PATH_MAX) {
            continue;
        }
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            remove_files(spill);
            remove_files(path);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    if (folder_lock >= 0) {
        close(folder_lock);
    }
}
