/* SPDX-License-Identifier: Apache-2.0 */
/* Single statements: run one, ask for one number, and say why the last one failed. */
#ifndef GMT_STORE_DB_RUN_SQL_H
#define GMT_STORE_DB_RUN_SQL_H

#include <sqlite3.h>
#include <stdint.h>

/* The last failure of `db` as negative errno: -ENOSPC, -EFBIG, -EIO, -EBUSY, -EBADMSG, ... */
int gmt_database_error(sqlite3 *db);

/* Run statements that return no rows. */
int gmt_database_exec(sqlite3 *db, const char *sql);

/* First column of the first row of `sql`; `missing` if there is none or it is NULL. */
int gmt_database_integer(sqlite3 *db, const char *sql, int64_t missing, int64_t *value);

/* Keys of table ingest_state. `missing` if absent. */
int gmt_database_state_get(sqlite3 *db, const char *key, int64_t missing, int64_t *value);
int gmt_database_state_set(sqlite3 *db, const char *key, int64_t value);

#endif
