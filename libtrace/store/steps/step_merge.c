/* SPDX-License-Identifier: Apache-2.0 */
/* Merges rows of steps in pairs, so that a recording of any length stays small: the older a step, the more of them share a row. */
#include <errno.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/steps/step_rows.h"

/* Which rows, and into which: as they follow each other, so that ranks with as many steps merge the same ones. @: the schema. */
static const char pairs[] =
    "CREATE TEMP TABLE IF NOT EXISTS gmt_pair(id INTEGER PRIMARY KEY, keep INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS temp.gmt_pair_keep ON gmt_pair(keep);"
    "DELETE FROM temp.gmt_pair;"
    "INSERT INTO temp.gmt_pair SELECT max(id), min(id) FROM (SELECT id, (row_number() OVER (ORDER "
    "BY "
    "id) - 1) / 2 AS n FROM @.step) WHERE n < (SELECT count(*) / 4 FROM @.step) GROUP BY n;"
    "INSERT INTO temp.gmt_pair SELECT keep, keep FROM temp.gmt_pair;";

#define PAIRED "JOIN temp.gmt_pair p ON p.id = t.step_id "

/* The new rows of each table, in the order of its columns. */
static const struct {
    const char *table, *rows;
} merges[] = {
    {"step_call",
     "WITH s AS (SELECT p.keep AS step_id, kind, stack_id, sum(calls) AS c, sum(bytes) AS b, "
     "sum(host_ns) AS h, sum(blocking_ns) AS k, max(longest_ns) AS l FROM @.step_call t " PAIRED
     "GROUP BY 1, 2, 3), r AS (SELECT *, row_number() OVER (PARTITION BY step_id, stack_id IS NULL "
     "ORDER BY h DESC, c DESC, kind, stack_id) AS n FROM s) SELECT step_id, kind, CASE WHEN n <= "
     "?1 "
     "THEN stack_id END, sum(c), sum(b), sum(h), sum(k), max(l) FROM r GROUP BY 1, 2, 3"},
    {"step_kernel",
     "WITH s AS (SELECT p.keep AS step_id, name_id, sum(launches) AS c, sum(operations) AS o, "
     "sum(device_ns) AS d, max(longest_ns) AS l FROM @.step_kernel t " PAIRED
     "GROUP BY 1, 2), r AS (SELECT *, row_number() OVER (PARTITION BY step_id, name_id IS NULL "
     "ORDER "
     "BY coalesce(d, 0) DESC, c DESC, name_id) AS n FROM s) SELECT step_id, CASE WHEN n <= ?2 THEN "
     "name_id END, sum(c), sum(o), sum(d), max(l) FROM r GROUP BY 1, 2"},
    {"step_work", "SELECT p.keep, device_id, kind, sum(operations), sum(bytes), sum(device_ns), "
                  "max(longest_ns) FROM @.step_work t " PAIRED "GROUP BY 1, 2, 3"},
    {"step_slowest",
     "SELECT step_id, n, device_id, name_id, start_ns, device_ns FROM (SELECT p.keep AS step_id, "
     "row_number() OVER (PARTITION BY p.keep ORDER BY device_ns DESC, start_ns) AS n, device_id, "
     "name_id, start_ns, device_ns FROM @.step_slowest t " PAIRED ") WHERE n <= ?3"},
    {"step_time",
     "SELECT p.keep, device_id, cause, sum(ns) FROM @.step_time t " PAIRED "GROUP BY 1, 2, 3"},
    /* What is live is what the later one says. */
    {"step_memory",
     "SELECT p.keep, device_id, sum((p.id <> p.keep) * live_bytes), max(peak_bytes), "
     "sum((p.id <> p.keep) * live_count) FROM @.step_memory t " PAIRED "GROUP BY 1, 2"},
    /* Of too many those whose numbers a power of two divides, the least that leaves few enough (step_sums.h). */
    {"step_collective",
     "SELECT step_id, position, source, name_id, device_id, stream, begin_ns, end_ns, "
     "communicator, number, ranks, bytes, grouped FROM (SELECT *, count(*) OVER (PARTITION BY "
     "step_id, source ORDER BY power DESC RANGE UNBOUNDED PRECEDING) AS n FROM (SELECT p.keep AS "
     "step_id, position, source, name_id, device_id, stream, begin_ns, end_ns, communicator, "
     "number, ranks, bytes, grouped, coalesce(number, position) & -coalesce(number, position) AS "
     "power FROM @.step_collective t " PAIRED ")) WHERE n <= ?4"},
};

static const char last[] =
    "UPDATE @.step SET (steps, source, name_id, end_ns, range_ns, longest_ns) = (SELECT "
    "step.steps + g.steps, CASE WHEN g.source = step.source THEN g.source ELSE 'slice' END, CASE "
    "WHEN "
    "g.name_id = step.name_id THEN g.name_id END, g.end_ns, CASE WHEN g.range_ns IS NULL THEN "
    "step.range_ns ELSE g.range_ns + coalesce(step.range_ns, 0) END, max(g.longest_ns, "
    "step.longest_ns) FROM temp.gmt_pair p JOIN @.step g ON g.id = p.id WHERE p.keep = step.id AND "
    "p.id <> p.keep) WHERE id IN (SELECT keep FROM temp.gmt_pair);"
    "DELETE FROM @.step WHERE id IN (SELECT id FROM temp.gmt_pair WHERE id <> keep);"
    "DELETE FROM temp.gmt_pair;";

/* The statement with the schema in place of each @; sqlite3_free. NULL: no memory. */
static char *with_schema(sqlite3 *db, const char *sql, const char *schema)
{
    sqlite3_str *text = sqlite3_str_new(db);
    for (const char *at = sql; *at != '\0'; at++) {
        if (*at == '@') {
            sqlite3_str_appendall(text, schema);
        } else {
            sqlite3_str_appendchar(text, 1, *at);
        }
    }
    return sqlite3_str_finish(text);
}

static int run(sqlite3 *db, const char *sql, const char *schema)
{
    char *text = with_schema(db, sql, schema);
    int error = text != NULL ? gmt_database_exec(db, text) : -ENOMEM;
    sqlite3_free(text);
    return error;
}

/* The statement's numbers in place of ?1 to ?4. */
static char *with_numbers(sqlite3 *db, const char *rows)
{
    static const int most[] = {GMT_STEP_PLACES, GMT_STEP_KERNELS, GMT_STEP_SLOWEST,
                               GMT_STEP_COLLECTIVES};
    sqlite3_str *text = sqlite3_str_new(db);
    for (const char *at = rows; *at != '\0'; at++) {
        if (*at == '?') {
            at++;
            sqlite3_str_appendf(text, "%d", most[*at - '1']);
        } else {
            sqlite3_str_appendchar(text, 1, *at);
        }
    }
    return sqlite3_str_finish(text);
}

/* The tables for what is merged stay: none can be dropped while another statement reads. */
static int merge(sqlite3 *db, const char *schema, const char *table, const char *rows)
{
    char *numbered = with_numbers(db, rows);
    char *sql = numbered != NULL
                    ? sqlite3_mprintf(
                          "CREATE TEMP TABLE IF NOT EXISTS gmt_merged_%s AS SELECT * FROM "
                          "@.%s WHERE 0; DELETE FROM temp.gmt_merged_%s; "
                          "INSERT INTO temp.gmt_merged_%s %s; DELETE FROM @.%s WHERE step_id "
                          "IN (SELECT id FROM temp.gmt_pair); INSERT INTO @.%s SELECT * "
                          "FROM temp.gmt_merged_%s; DELETE FROM temp.gmt_merged_%s",
                          table, table, table, table, numbered, table, table, table, table)
                    : NULL;
    int error = sql != NULL ? run(db, sql, schema) : -ENOMEM;
    sqlite3_free(sql);
    sqlite3_free(numbered);
    return error;
}

int gmt_step_merge(sqlite3 *db, const char *schema)
{
    int error = run(db, pairs, schema);
    for (size_t i = 0; error == 0 && i < sizeof(merges) / sizeof(merges[0]); i++) {
        error = merge(db, schema, merges[i].table, merges[i].rows);
    }
    return error == 0 ? run(db, last, schema) : error;
}
