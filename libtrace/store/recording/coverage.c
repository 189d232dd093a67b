/* SPDX-License-Identifier: Apache-2.0 */
/* Turns what the process asked of the driver into rows. */
#include "libtrace/store/recording/coverage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/checked.h"
#include "libtrace/record/entry_points.h"
#include "libtrace/record/layout_coverage.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/spool/spool_files.h"

static const char *const lookup_path_names[] = {
#define GMT_LOOKUP_PATH(id, name) name,
    GMT_LOOKUP_PATH_TABLE
#undef GMT_LOOKUP_PATH
};

/* The file as it is, which anybody may have written; -ENOENT: the recording had none. */
static int read_file(int folder, struct gmt_coverage_file *coverage)
{
    int fd = gmt_spool_file_open(folder, GMT_COVERAGE_FILE, O_RDONLY);
    if (fd < 0) {
        return fd;
    }
    size_t got = 0;
    ssize_t bytes;
    while (got < sizeof(*coverage) &&
           ((bytes = read(fd, (char *)coverage + got, sizeof(*coverage) - got)) > 0 ||
            (bytes < 0 && errno == EINTR))) {
        got += bytes > 0 ? (size_t)bytes : 0;
    }
    close(fd);
    if (got < sizeof(*coverage) || coverage->head.magic != GMT_COVERAGE_MAGIC ||
        coverage->head.version != GMT_COVERAGE_VERSION ||
        coverage->head.count > GMT_COVERAGE_ENTRIES) {
        return -EBADMSG;
    }
    for (uint32_t i = 0; i < coverage->head.count; i++) {
        char *name = coverage->entry[i].name;
        name[sizeof(coverage->entry[i].name) - 1] = '\0';
    }
    return 0;
}

static sqlite3_int64 number(uint64_t value)
{
    return value < INT64_MAX ? (sqlite3_int64)value : INT64_MAX;
}

static int step(sqlite3 *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int store_lookup_paths(sqlite3 *db, const struct gmt_coverage_head *head)
{
    static const char sql[] = "INSERT INTO coverage(kind, what, requests, detail) "
                              "VALUES('lookup_path', ?, ?, ?)";
    sqlite3_stmt *insert;
    char version[64];
    int error = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &insert, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    (void)snprintf(version, sizeof(version), "for versions up to %u.%u",
                   head->highest_version / 1000, head->highest_version % 1000 / 10);
    for (unsigned via = 0; via < GMT_LOOKUP_PATHS && error == 0; via++) {
        bool has_version = head->highest_version != 0 &&
                           (via == GMT_LOOKUP_PROC || via == GMT_LOOKUP_PROC_V2);
        if (head->requests[via] != 0) {
            sqlite3_bind_text(insert, 1, lookup_path_names[via], -1, SQLITE_STATIC);
            sqlite3_bind_int64(insert, 2, number(head->requests[via]));
            sqlite3_bind_text(insert, 3, has_version ? version : NULL, -1, SQLITE_STATIC);
            error = step(db, insert);
        }
    }
    sqlite3_finalize(insert);
    return error;
}

/* Through which lookup paths, as text; returns the number of requests. */
static uint64_t describe(const struct gmt_coverage_entry *entry, char *text, size_t bytes)
{
    uint64_t requests = 0;
    size_t used = 0;
    text[0] = '\0';
    for (unsigned via = 0; via < GMT_LOOKUP_PATHS; via++) {
        if (entry->requests[via] != 0 && used < bytes) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used != 0 ? ", " : "",
                                     lookup_path_names[via]);
        }
        requests = gmt_add_clamped_u64(requests, entry->requests[via]);
    }
    return requests;
}

/* What was answered with the driver's own function. The same name can also have got a hook, when it was
 * asked for in another version. */
static int store_entries(sqlite3 *db, struct gmt_ingest *ingest,
                         const struct gmt_coverage_file *coverage)
{
    static const char sql[] =
        "INSERT OR IGNORE INTO coverage(kind, what, class, requests, expected, seen, detail) "
        "VALUES('entry point', ?, ?, ?, ?, 0, ?)";
    sqlite3_stmt *insert;
    int error = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &insert, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    for (uint32_t i = 0; i < coverage->head.count && error == 0; i++) {
        const struct gmt_coverage_entry *entry = &coverage->entry[i];
        char paths[96];
        if ((entry->flags & (GMT_COVERAGE_REAL | GMT_COVERAGE_COUNTED)) == 0) {
            continue;
        }
        uint64_t requests = describe(entry, paths, sizeof(paths));
        sqlite3_bind_text(insert, 1, entry->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, gmt_entry_class_name(gmt_entry_class(entry->name)), -1,
                          SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, number(requests));
        if ((entry->flags & GMT_COVERAGE_REAL) == 0) {
            sqlite3_bind_int64(insert, 4, number(entry->calls));
        }
        sqlite3_bind_text(insert, 5, paths, -1, SQLITE_STATIC);
        error = step(db, insert);
        if (error == 0 && entry->calls != 0) {
            error = gmt_ingest_loss(ingest, "entry point not covered", entry->name, entry->calls);
        }
    }
    sqlite3_finalize(insert);
    return error;
}

static int store_faults(struct gmt_ingest *ingest, const struct gmt_coverage_head *head)
{
#define GMT_REGION_FAULT_DETAIL(id, detail) detail,
    static const char *const details[] = {GMT_REGION_FAULTS(GMT_REGION_FAULT_DETAIL)};
#undef GMT_REGION_FAULT_DETAIL
    int error = 0;
    for (unsigned i = 0; i < GMT_REGION_FAULT_COUNT && error == 0; i++) {
        if (head->region_faults[i] != 0) {
            error = gmt_ingest_loss(ingest, GMT_REGION_FAULT_LOSS, details[i],
                                    head->region_faults[i]);
        }
    }
    return error;
}

int gmt_coverage_store(sqlite3 *db, struct gmt_ingest *ingest, int spool_folder)
{
    static const char damaged[] =
        "INSERT OR REPLACE INTO capability(name, state, detail, remedy) VALUES('coverage', "
        "'missing', 'what the program asked of the driver cannot be read: a damaged file', '')";
    struct gmt_coverage_file *coverage = calloc(1, sizeof(*coverage));
    int error = coverage != NULL ? read_file(spool_folder, coverage) : -ENOMEM;
    if (error == 0) {
        error = store_lookup_paths(db, &coverage->head);
    } else if (error == -ENOENT || error == -EBADMSG) {
        free(coverage);
        return error == -ENOENT ? 0 : gmt_database_exec(db, damaged);
    }
    if (error == 0) {
        error = store_entries(db, ingest, coverage);
    }
    if (error == 0 && coverage->head.not_kept != 0) {
        error = gmt_ingest_loss(ingest, "request not kept", "more names than there is room for",
                                coverage->head.not_kept);
    }
    if (error == 0) {
        error = store_faults(ingest, &coverage->head);
    }
    free(coverage);
    return error;
}
