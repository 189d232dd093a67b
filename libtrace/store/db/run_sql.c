/* SPDX-License-Identifier: Apache-2.0 */
/* Runs single statements, and says what the failure of one means. */
#include "libtrace/store/db/run_sql.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

/* SQLite asks for errno only after it has rolled back; what it finds then can be stale. */
static int io_error(int code, int system)
{
    struct rlimit limit;
    if (system == ENOSPC || system == EDQUOT || system == EFBIG) {
        return -system;
    }
    if (code == SQLITE_IOERR_WRITE && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        return -EFBIG;
    }
    return -EIO;
}

int gmt_database_error(sqlite3 *db)
{
    int code = sqlite3_extended_errcode(db);
    int system = sqlite3_system_errno(db);
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return 0;
    case SQLITE_FULL: return -ENOSPC;
    case SQLITE_NOMEM: return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return -EBUSY;
    case SQLITE_READONLY: return code == SQLITE_READONLY_DBMOVED ? -ESTALE : -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH: return -EACCES;
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_NOTADB: return -EBADMSG;
    case SQLITE_INTERRUPT: return -ETIME;
    case SQLITE_IOERR: return io_error(code, system);
    case SQLITE_CANTOPEN: return system > 0 ? -system : -EIO;
    default: return -EINVAL;
    }
}

int gmt_database_exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : gmt_database_error(db);
}

int gmt_database_integer(sqlite3 *db, const char *sql, int64_t missing, int64_t *value)
{
    sqlite3_stmt *statement;
    *value = missing;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        *value = sqlite3_column_int64(statement, 0);
    }
    int error = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : gmt_database_error(db);
    sqlite3_finalize(statement);
    return error;
}

int gmt_database_state_get(sqlite3 *db, const char *key, int64_t missing, int64_t *value)
{
    char sql[128];
    (void)snprintf(sql, sizeof(sql), "SELECT value FROM ingest_state WHERE key = '%s'", key);
    return gmt_database_integer(db, sql, missing, value);
}

int gmt_database_state_set(sqlite3 *db, const char *key, int64_t value)
{
    char sql[160];
    (void)snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO ingest_state VALUES ('%s', %lld)", key,
                   (long long)value);
    return gmt_database_exec(db, sql);
}
