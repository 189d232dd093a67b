/* SPDX-License-Identifier: Apache-2.0 */
/* Takes cubins from a spool into the trace (cubin_images.h). */
#include "libtrace/store/sass/cubin_images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/layout.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/spool/spool_files.h"

#define COPY_BYTES ((int64_t)1 << 20)

static const char pieces_sql[] =
    "INSERT OR IGNORE INTO loss SELECT 'cubin not kept', "
    "'not all of it was written: ' || count(*) || ' pieces of crc ' || crc, 1 FROM ingest_cubin "
    "WHERE length(piece) > 0 GROUP BY crc HAVING sum(length(piece)) <> max(total);"
    "INSERT OR IGNORE INTO cubin SELECT crc, max(total), zeroblob(max(total)) FROM ingest_cubin "
    "WHERE length(piece) > 0 GROUP BY crc HAVING sum(length(piece)) = max(total) "
    "AND max(total) < 1 << 30;";

/* A row without bytes says where the image is. By place, so that one look shows that two are in the same. */
static const char places_sql[] =
    "SELECT DISTINCT crc, position, total FROM ingest_cubin WHERE length(piece) = 0 AND crc IN "
    "(SELECT cubin_crc FROM instruction WHERE source = 'sass') ORDER BY position, crc";

/* The file of cubins while it is read. */
struct cubin_file {
    sqlite3 *db;
    int fd;             /* -1: it cannot be had, and `unavailable` says why */
    int64_t bytes, end; /* of the file; where what has been taken ends */
    const char *unavailable;
    char *buffer;
};

/* `sql` is sqlite3_mprintf's, and freed here. */
static int run(sqlite3 *db, char *sql)
{
    int error = sql != NULL ? gmt_database_exec(db, sql) : -ENOMEM;
    sqlite3_free(sql);
    return error;
}

int gmt_cubin_note_loss(sqlite3 *db, const char *kind, int64_t crc, const char *why)
{
    /* ';' follows ':': what begins with its number and a colon, by the table's key. */
    return run(db,
               sqlite3_mprintf("INSERT INTO loss SELECT %Q, 'crc %lld: %q', 1 WHERE NOT EXISTS "
                               "(SELECT 1 FROM loss WHERE kind = %Q AND "
                               "detail >= 'crc %lld:' AND detail < 'crc %lld;')",
                               kind, (long long)crc, why, kind, (long long)crc, (long long)crc));
}

/* ---- pieces in records ------------------------------------------------------------------------- */

static int fill_image(sqlite3 *db, int64_t crc, sqlite3_stmt *pieces)
{
    sqlite3_blob *blob = NULL;
    int code = sqlite3_blob_open(db, "main", "cubin", "image", crc, 1, &blob);
    sqlite3_bind_int64(pieces, 1, crc);
    while (code == SQLITE_OK && (code = sqlite3_step(pieces)) == SQLITE_ROW) {
        code = sqlite3_blob_write(blob, sqlite3_column_blob(pieces, 1),
                                  sqlite3_column_bytes(pieces, 1), sqlite3_column_int(pieces, 0));
    }
    sqlite3_reset(pieces);
    (void)sqlite3_blob_close(blob);
    return code == SQLITE_DONE ? 0 : gmt_database_error(db);
}

static int make_of_pieces(sqlite3 *db)
{
    sqlite3_stmt *crcs = NULL, *pieces = NULL;
    int error = gmt_database_exec(db, pieces_sql), code = SQLITE_DONE;
    if (error == 0 &&
        (sqlite3_prepare_v2(db, "SELECT crc FROM cubin", -1, &crcs, NULL) != SQLITE_OK ||
         sqlite3_prepare_v2(db,
                            "SELECT position, piece FROM ingest_cubin WHERE crc = ? "
                            "AND length(piece) > 0",
                            -1, &pieces, NULL) != SQLITE_OK)) {
        error = gmt_database_error(db);
    }
    while (error == 0 && (code = sqlite3_step(crcs)) == SQLITE_ROW) {
        error = fill_image(db, sqlite3_column_int64(crcs, 0), pieces);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(crcs);
    sqlite3_finalize(pieces);
    return error;
}

/* ---- places in the file ------------------------------------------------------------------------ */

static void open_file(struct cubin_file *file, int folder)
{
    struct stat own, info;
    int fd = folder >= 0 ? gmt_spool_file_open(folder, GMT_CUBIN_FILE, O_RDONLY) : -ENOENT;
    *file = (struct cubin_file){.db = file->db, .fd = -1};
    if (fd < 0) {
        file->unavailable = fd == -ENOENT ? "the spool has no file of cubins"
                                          : "the spool's file of cubins cannot be opened";
        return;
    }
    /* Somebody could have given a file of the reader's this name, too. */
    if (fstat(folder, &own) != 0 || fstat(fd, &info) != 0 || info.st_uid != own.st_uid) {
        file->unavailable = "the spool's file of cubins belongs to another user";
        close(fd);
        return;
    }
    const int64_t most = (int64_t)GMT_CUBIN_FILE_MOST_BYTES;
    file->fd = fd;
    file->bytes = info.st_size < most ? info.st_size : most;
}

/* NULL: it can be there. Anybody may have written these numbers. */
static const char *what_is_wrong(const struct cubin_file *file, int64_t offset, int64_t bytes)
{
    if (file->fd < 0) {
        return file->unavailable;
    }
    if (bytes <= 0 || bytes > (int64_t)GMT_CUBIN_MOST_BYTES) {
        return "it has more bytes than a cubin may have";
    }
    if (offset < 0 || offset > file->bytes || bytes > file->bytes - offset) {
        return "the spool's file of cubins ends before it does";
    }
    return offset < file->end ? "another one is in its place" : NULL;
}

/* False: the file could not be read. *code: what SQLite says of the writing. */
static bool copy_image(const struct cubin_file *file, int64_t offset, int64_t bytes,
                       sqlite3_blob *blob, int *code)
{
    for (int64_t done = 0; *code == SQLITE_OK && done < bytes;) {
        int64_t wanted = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;
        ssize_t got = pread(file->fd, file->buffer, (size_t)wanted, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        *code = sqlite3_blob_write(blob, file->buffer, (int)got, (int)done);
        done += got;
    }
    return true;
}

/* Of two places of one cubin the first holds. *wrong: why there is none, NULL: there is. */
static int take_image(struct cubin_file *file, int64_t crc, int64_t offset, int64_t bytes,
                      const char **wrong)
{
    sqlite3_blob *blob = NULL;
    int error = run(
        file->db, sqlite3_mprintf("INSERT OR IGNORE INTO cubin VALUES (%lld, %lld, zeroblob(%lld))",
                                  (long long)crc, (long long)bytes, (long long)bytes));
    if (error != 0 || sqlite3_changes(file->db) == 0) {
        return error;
    }
    int code = sqlite3_blob_open(file->db, "main", "cubin", "image",
                                 sqlite3_last_insert_rowid(file->db), 1, &blob);
    bool is_read = copy_image(file, offset, bytes, blob, &code);
    error = code == SQLITE_OK ? 0 : gmt_database_error(file->db);
    (void)sqlite3_blob_close(blob);
    file->end = offset + bytes;
    if (error == 0 && !is_read) {
        *wrong = "the spool's file of cubins could not be read";
        error = run(file->db,
                    sqlite3_mprintf("DELETE FROM cubin WHERE crc = %lld", (long long)crc));
    }
    return error;
}

static int take_all(struct cubin_file *file, sqlite3_stmt *places)
{
    int error = 0, code = SQLITE_DONE;
    while (error == 0 && (code = sqlite3_step(places)) == SQLITE_ROW) {
        int64_t crc = sqlite3_column_int64(places, 0), offset = sqlite3_column_int64(places, 1),
                bytes = sqlite3_column_int64(places, 2);
        const char *wrong = what_is_wrong(file, offset, bytes);
        if (wrong == NULL) {
            error = take_image(file, crc, offset, bytes, &wrong);
        }
        if (error == 0 && wrong != NULL) {
            error = gmt_cubin_note_loss(file->db, "cubin not kept", crc, wrong);
        }
    }
    return error == 0 && code != SQLITE_DONE ? gmt_database_error(file->db) : error;
}

int gmt_cubin_images_make(sqlite3 *db, int folder)
{
    struct cubin_file file = {.db = db};
    sqlite3_stmt *places = NULL;
    int error = make_of_pieces(db);
    if (error != 0) {
        return error;
    }
    open_file(&file, folder);
    file.buffer = malloc((size_t)COPY_BYTES);
    error = file.buffer == NULL ? -ENOMEM
            : sqlite3_prepare_v2(db, places_sql, -1, &places, NULL) != SQLITE_OK
                ? gmt_database_error(db)
                : take_all(&file, places);
    sqlite3_finalize(places);
    free(file.buffer);
    if (file.fd >= 0) {
        close(file.fd);
    }
    return error;
}
