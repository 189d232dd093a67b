/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze validate: whether a trace is whole and agrees with itself. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/time_limit.h"
#include "analyzer/commands/commands.h"
#include "analyzer/commands/validate_checks.h"
#include "libtrace/base/format.h"
#include "libtrace/base/memory_limit.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/finished/reader.h"
#include "reports/json/json_values.h"

/* Faults that are listed; the others are counted. */
enum { EXAMPLES = 3 };

struct outcome {
    const char *name, *what;
    enum gmt_check_state state;
    long faults;
    char *examples[EXAMPLES];
};

struct validate_options {
    const char *trace;
    bool json, strict;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct validate_options *options = state->input;

    switch (key) {
    case GMT_KEY_validate_json: options->json = true; return 0;
    case GMT_KEY_strict: options->strict = true; return 0;
    case ARGP_KEY_ARG: gmt_command_take(state, &options->trace, argument); return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_error(state, "no trace given");
        }
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void add_fault(struct outcome *outcome, const char *text)
{
    if (outcome->faults < EXAMPLES) {
        outcome->examples[outcome->faults] = gmt_clean_copy(text != NULL ? text : "?");
    }
    outcome->faults++;
}

static void run_check(sqlite3 *db, const struct gmt_check *check, struct outcome *outcome)
{
    sqlite3_stmt *statement = NULL;
    char *sql = gmt_check_sql(check, db);
    int rc = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    *outcome = (struct outcome){.name = check->name, .what = check->what};
    if (rc == SQLITE_ERROR && strncmp(sqlite3_errmsg(db), "no such table", 13) == 0) {
        outcome->state = GMT_CHECK_SKIPPED;
        return;
    }
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) {
            add_fault(outcome, (const char *)sqlite3_column_text(statement, 0));
        }
    }
    outcome->state = outcome->faults > 0 ? check->state : GMT_CHECK_OK;
    if (rc != SQLITE_DONE) {
        add_fault(outcome, rc == SQLITE_NOMEM ? gmt_guard_memory_reason() : gmt_guard_reason(db));
        outcome->state = GMT_CHECK_FAILED;
    }
    sqlite3_finalize(statement);
}

static const char *state_name(enum gmt_check_state state)
{
    static const char *const names[] = {"ok", "skipped", "warning", "failed"};

    return names[state];
}

static void print_outcome(const struct outcome *outcome)
{
    printf("%-8s %-17s %s", state_name(outcome->state), outcome->name, outcome->what);
    if (outcome->state == GMT_CHECK_SKIPPED) {
        printf(" (not in traces of that version)");
    }
    for (long i = 0; i < outcome->faults && i < EXAMPLES; i++) {
        printf("%s%s", i == 0 ? ": not so: " : ", ", outcome->examples[i]);
    }
    if (outcome->faults > EXAMPLES) {
        printf(" and %ld more", outcome->faults - EXAMPLES);
    }
    putchar('\n');
}

static json_t *json_of(const struct outcome *outcome)
{
    json_t *examples = json_array();

    for (long i = 0; i < outcome->faults && i < EXAMPLES; i++) {
        json_array_append_new(examples, gmt_json_text(outcome->examples[i]));
    }
    return json_pack("{ss, ss, ss, sI, so}", "name", outcome->name, "state",
                     state_name(outcome->state), "what", outcome->what, "faults",
                     (json_int_t)outcome->faults, "examples", examples);
}

static void print_json(const char *trace, const struct outcome *outcomes, size_t n,
                       enum gmt_check_state worst)
{
    static const char *const results[] = {"ok", "ok", "incomplete", "damaged"};
    json_t *checks = json_array(), *root;

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(checks, json_of(&outcomes[i]));
    }
    root = json_pack("{ss, si, so, ss, so}", "format", "gmtrace-validation", "version", 1, "trace",
                     gmt_json_text(trace), "result", results[worst], "checks", checks);
    /* With a part missing it would look whole. */
    if (!gmt_command_memory_short("validate")) {
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(root);
}

/* The first check: what opening a trace shows. False: there is nothing to check further. */
static bool open_trace(const char *trace, sqlite3 **db, struct outcome *outcome)
{
    char message[512] = "";

    *outcome = (struct outcome){.name = "format", .what = "the file is a trace that can be read"};
    int rc = gmt_trace_open(trace, GMT_TRACE_ALLOW_INCOMPLETE, db, message, sizeof(message));
    gmt_memory_limit(gmt_guard_memory_bytes());
    if (rc == 0) {
        gmt_time_limit(*db);
        return true;
    }
    outcome->state = GMT_CHECK_FAILED;
    add_fault(outcome, message);
    return false;
}

static int status_of(enum gmt_check_state worst, bool strict)
{
    if (worst == GMT_CHECK_FAILED) {
        return GMT_EXIT_UNREADABLE;
    }
    return worst == GMT_CHECK_WARNING && strict ? GMT_EXIT_INCOMPLETE : GMT_EXIT_OK;
}

int gmt_command_validate(int argc, char **argv)
{
    static const char doc[] =
        "One line per check. Exit status: 0; 2 usage; 3 a check failed; 4 --strict and something "
        "is missing. The trace is not changed, nor finished where its recorder was killed.";
    struct validate_options options = {0};
    enum gmt_check_state worst = GMT_CHECK_OK;
    sqlite3 *db = NULL;
    size_t n = 1;

    gmt_command_parse(GMT_COMMAND_VALIDATE, parse_option, doc, argc, argv, &options);
    struct outcome *outcomes = calloc(gmt_check_count + 1, sizeof(*outcomes));
    if (outcomes == NULL) {
        return GMT_EXIT_UNREADABLE;
    }
    if (open_trace(options.trace, &db, &outcomes[0])) {
        for (size_t i = 0; i < gmt_check_count; i++) {
            run_check(db, &gmt_checks[i], &outcomes[n++]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        worst = outcomes[i].state > worst ? outcomes[i].state : worst;
        if (!options.json) {
            print_outcome(&outcomes[i]);
        }
    }
    if (options.json) {
        print_json(options.trace, outcomes, n, worst);
    }
    for (size_t i = 0; i < n; i++) {
        for (int example = 0; example < EXAMPLES; example++) {
            free(outcomes[i].examples[example]);
        }
    }
    free(outcomes);
    sqlite3_close(db);
    return gmt_command_printed(status_of(worst, options.strict));
}
