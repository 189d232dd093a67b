/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of a trace are called, for writing it in another format. */
#include "analyzer/export/export_names.h"

#include <stddef.h>

#include "libtrace/store/db/database.h"

/* Room for any name that is read; one of 1 MB, written for each of a million rows, would be 1 TB. */
#define CUT(text) \
    "CASE WHEN length(" text ") > 1000 THEN substr(" text ", 1, 999) || '…' ELSE " text " END"
#define NAMES(table, select) \
    "CREATE TEMP TABLE export_" table " AS " select "; " \
    "CREATE INDEX temp.export_" table "_id ON export_" table " (id);"

/* What graphs launched has its mangled name alone: with the kernel of the least id that has it, by an
 * index that SQLite makes for the statement. Without the + it would believe that there are few strings,
 * and make none. */
#define OF_GRAPHS \
    "SELECT s.id AS id, coalesce(k.name, s.text) AS name, min(k.id) FROM string s " \
    "LEFT JOIN kernel k ON k.mangled = s.text " \
    "WHERE +s.id IN (SELECT kernel_name_id FROM device_op) GROUP BY s.id"

static const char names_sql[] =
    NAMES("api", "SELECT id, " CUT("coalesce(runtime_name, name)") " AS name FROM api")
        NAMES("kernel", "SELECT id, " CUT("name") " AS name FROM kernel")
            NAMES("kernel_name", "SELECT id, " CUT("name") " AS name FROM (" OF_GRAPHS ")")
                NAMES("thread", "SELECT id, tid, " CUT("name") " AS name FROM thread")
                    NAMES("place", "SELECT stack_id AS id, min(position) AS position, " CUT(
                                       "file") " || ':' || line AS name FROM v_stack WHERE NOT "
                                               "runtime AND file IS NOT NULL GROUP BY stack_id")
                        NAMES("device", "SELECT id, " CUT("name") " AS name FROM device");

static const char ranges_sql[] = NAMES(
    "string",
    "SELECT id, " CUT("text") " AS name FROM string WHERE id IN "
                              "(SELECT name_id FROM range UNION SELECT domain_id FROM range)");
static const char no_ranges_sql[] =
    "CREATE TEMP TABLE export_string (id INTEGER PRIMARY KEY, name TEXT)";

int gmt_export_names(sqlite3 *db, bool ranges)
{
    int error = gmt_database_exec(db, names_sql);

    return error == 0 ? gmt_database_exec(db, ranges ? ranges_sql : no_ranges_sql) : error;
}
