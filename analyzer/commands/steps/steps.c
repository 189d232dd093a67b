/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze steps: what the steps of a trace were made of, from sums of the recorder's or of all calls. */
#include <stdio.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/sql_rows.h"
#include "analyzer/commands/steps/steps_names.h"
#include "analyzer/commands/steps/steps_show.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/steps/steps_derive.h"

#define MS(ns) "round((" ns ") / 1e6, 3)"

/* What each shows of all rows; those without rows are left out. */
static const struct {
    const char *title, *sql;
} sections[] = {
    {"Steps, by name", "SELECT source, coalesce(name, '-') AS name, sum(steps) AS "
                       "steps, " MS("sum(duration_ns) / sum(steps)") " AS mean_ms, " MS(
                           "max(longest_ns)") " AS longest_ms, " MS("sum(range_ns) / "
                                                                    "sum(steps)") " AS "
                                                                                  "range_"
                                                                                  "ms FROM "
                                                                                  "v_step "
                                                                                  "GROUP "
                                                                                  "BY 1, "
                                                                                  "2 ORDER "
                                                                                  "BY "
                                                                                  "sum("
                                                                                  "duration"
                                                                                  "_ns) "
                                                                                  "DESC "
                                                                                  "LIMIT "
                                                                                  "10"},
    {"Longest steps",
     "SELECT number, steps, coalesce(name, source) AS step, " MS(
         "longest_ns") " AS ms, (SELECT sum(calls) FROM step_call c "
                       "WHERE c.step_id = s.id) AS calls, (SELECT " MS(
                           "sum(host_ns)") " FROM step_call c WHERE c.step_id = s.id AND "
                                           "kind GLOB "
                                           "'wait_*') AS waits_ms FROM v_step s ORDER BY "
                                           "longest_ns DESC, number LIMIT 5"},
    {"Calls, by kind",
     "SELECT kind, sum(calls) AS calls, sum(bytes) AS bytes, " MS(
         "sum("
         "host_"
         "ns)") " AS host_ms, " MS("sum(blocking_ns)") " AS blocking_ms, " MS("max(longest_"
                                                                              "ns)") " "
                                                                                     "A"
                                                                                     "S"
                                                                                     " "
                                                                                     "l"
                                                                                     "o"
                                                                                     "n"
                                                                                     "g"
                                                                                     "e"
                                                                                     "s"
                                                                                     "t"
                                                                                     "_"
                                                                                     "m"
                                                                                     "s"
                                                                                     " "
                                                                                     "F"
                                                                                     "R"
                                                                                     "O"
                                                                                     "M"
                                                                                     " "
                                                                                     "s"
                                                                                     "t"
                                                                                     "e"
                                                                                     "p"
                                                                                     "_"
                                                                                     "c"
                                                                                     "a"
                                                                                     "l"
                                                                                     "l"
                                                                                     " "
                                                                                     "G"
                                                                                     "R"
                                                                                     "O"
                                                                                     "U"
                                                                                     "P"
                                                                                     " "
                                                                                     "B"
                                                                                     "Y"
                                                                                     " "
                                                                                     "1"
                                                                                     " "
                                                                                     "O"
                                                                                     "R"
                                                                                     "D"
                                                                                     "E"
                                                                                     "R"
                                                                                     " "
                                                                                     "B"
                                                                                     "Y"
                                                                                     " "
                                                                                     "s"
                                                                                     "u"
                                                                                     "m"
                                                                                     "("
                                                                                     "h"
                                                                                     "o"
                                                                                     "s"
                                                                                     "t"
                                                                                     "_"
                                                                                     "n"
                                                                                     "s"
                                                                                     ")"
                                                                                     " "
                                                                                     "D"
                                                                                     "E"
                                                                                     "S"
                                                                                     "C"},
    /* clang-format off */
    {"Calls, by place",
     "WITH by_stack AS (SELECT kind, stack_id, sum(calls) AS calls, sum(host_ns) AS host_ns "
     "FROM step_call WHERE stack_id IS NOT NULL GROUP BY 1, 2), "
     "placed AS (SELECT kind, calls, host_ns, gmt_place(stack_id) AS place, "
     "gmt_function(stack_id) AS function FROM by_stack) "
     "SELECT kind, sum(calls) AS calls, " MS("sum(host_ns)") " AS host_ms, place, function "
     "FROM placed GROUP BY kind, place, function ORDER BY sum(host_ns) DESC LIMIT 10"},
    {"Kernels",
     "WITH named AS (SELECT kernel, sum(launches) AS launches, sum(operations) AS executed, "
     "sum(device_ns) AS ns, max(longest_ns) AS longest_ns, gmt_title(kernel, 0) AS short, "
     "gmt_title(kernel, 1) AS variant FROM v_step_kernel GROUP BY kernel), "
     "counted AS (SELECT *, count(*) OVER (PARTITION BY short) AS shorts, "
     "count(*) OVER (PARTITION BY variant) AS variants FROM named) "
     "SELECT CASE WHEN kernel IS NULL THEN 'others' WHEN shorts = 1 THEN short "
     "WHEN variants = 1 THEN variant ELSE gmt_title(kernel, 2) END AS kernel, launches, executed, "
     MS("ns") " AS device_ms, " MS("longest_ns") " AS longest_ms FROM counted "
     "ORDER BY ns DESC, launches DESC LIMIT 10"},
    /* clang-format on */
    {"Time of devices",
     "SELECT device_id AS device, cause, " MS(
         "sum(ns)") " AS ms FROM step_time GROUP BY 1, 2 ORDER BY 1, sum(ns) DESC"},
    {"Work of devices",
     "SELECT device_id AS device, kind, sum(operations) AS operations, sum(bytes) AS "
     "bytes, " MS("sum(device_ns)") " AS device_ms FROM step_work GROUP BY 1, 2 ORDER BY "
                                    "1, sum(device_ns) DESC"},
    {"Memory", "SELECT coalesce('device ' || m.device_id, 'host, page-locked') AS place, "
               "max(peak_bytes) AS peak_bytes, (SELECT l.live_bytes FROM step_memory "
               "l WHERE l.device_id IS m.device_id ORDER BY l.step_id DESC LIMIT 1) AS "
               "latest_bytes FROM step_memory m GROUP BY "
               "m.device_id"},
    {"Collective operations",
     "SELECT c.source, coalesce(n.text, '-') AS name, max(position) AS latest, count(*) AS "
     "kept FROM step_collective c LEFT "
     "JOIN string n ON n.id = c.name_id GROUP BY 1, 2 ORDER BY 1, 4 DESC"},
};

static int show(sqlite3 *db, const char *title, const char *sql)
{
    sqlite3_stmt *any = NULL, *rows = NULL;
    char *one = sqlite3_mprintf("SELECT 1 FROM (%s) LIMIT 1", sql);
    int rc = one != NULL ? sqlite3_prepare_v2(db, one, -1, &any, NULL) : SQLITE_NOMEM;
    sqlite3_free(one);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(any);
    }
    sqlite3_finalize(any);
    if (rc == SQLITE_DONE) {
        return 0;
    }
    if (rc != SQLITE_ROW || sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return -1;
    }
    printf("\n%s\n", title);
    rc = gmt_rows_table(rows, stdout);
    sqlite3_finalize(rows);
    return rc;
}

int gmt_steps_show(sqlite3 *db)
{
    int rc = gmt_steps_name_places(db);

    for (size_t i = 0; rc == 0 && i < sizeof(sections) / sizeof(sections[0]); i++) {
        rc = show(db, sections[i].title, sections[i].sql);
    }
    int status = gmt_command_printed(GMT_EXIT_OK);
    if (rc != 0 && status == GMT_EXIT_OK) {
        gmt_say(stderr, "gmanalyze: steps: %s\n", gmt_guard_reason(db));
        status = GMT_EXIT_UNREADABLE;
    }
    return status;
}

struct steps_options {
    const char *trace, *step;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct steps_options *options = state->input;

    switch (key) {
    case GMT_KEY_steps_step: options->step = argument; return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_error(state, "no trace given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int gmt_command_steps(int argc, char **argv)
{
    static const char doc[] =
        "Of a trace of gmtrace --aggregate its own sums; of any other the same sums, made of its "
        "calls. Export to Parquet has them, too. Exit status: 0; 2 usage; 3 the trace cannot be "
        "read.";
    struct steps_options options = {.step = ""};
    sqlite3 *db = NULL;

    gmt_command_parse(GMT_COMMAND_STEPS, parse_option, doc, argc, argv, &options);
    int status = gmt_command_open(options.trace, &db);
    if (status != GMT_EXIT_OK) {
        return status;
    }
    bool is_whole = !gmt_steps_only(db);
    if (gmt_steps_derive(db, options.step) != 0) {
        gmt_say(stderr, "gmanalyze: %s: %s\n", options.trace, gmt_guard_reason(db));
        status = GMT_EXIT_UNREADABLE;
    } else {
        gmt_say(stdout, "%s: %s\n", options.trace,
                is_whole ? "steps, made of its calls"
                         : "steps, as gmtrace --aggregate recorded them");
        status = gmt_steps_show(db);
    }
    sqlite3_close(db);
    return status;
}
