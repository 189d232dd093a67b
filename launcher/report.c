/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the trace: a short summary, one line per thing that could not be collected, and the
 * next command. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/values.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/recording.h"
#include "preload/session/options.h"
#include "preload/session/output.h"
#include "preload/session/run_note.h"

#define WAIT_NS UINT64_C(10000000000)

/* Several processes of one run say the same; the user reads it once. */
static bool is_new_line(const char *line)
{
    static char *said[64];
    size_t count = 0;
    while (count < sizeof(said) / sizeof(said[0]) && said[count] != NULL) {
        if (strcmp(said[count], line) == 0) {
            return false;
        }
        count++;
    }
    if (count < sizeof(said) / sizeof(said[0])) {
        said[count] = strdup(line);
    }
    return true;
}

static void print_capabilities(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT name, state, coalesce(detail, ''), coalesce(remedy, '') FROM "
                           "capability WHERE state IN ('missing', 'partial') AND name <> 'range' "
                           /* Nobody who asks for the software device expects them. */
                           "AND NOT (name = 'hardware_counters' AND EXISTS (SELECT 1 FROM "
                           "capability WHERE name = 'software_device')) UNION ALL "
                           "SELECT 'device times', 'missing', printf('for %.1f ms, while %s used "
                           "CUPTI itself', total(coalesce(g.end_ns, p.end_ns) - g.begin_ns) / 1e6, "
                           "CASE client WHEN '' THEN 'the program' ELSE client END), '' "
                           "FROM device_gap g, process p WHERE reason IS NOT 'budget' "
                           "GROUP BY client ORDER BY name",
                           -1, &statement, NULL) == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *text[4];
            char line[1024];
            for (int i = 0; i < 4; i++) {
                (void)gmt_value_text(statement, i, &text[i]);
                text[i] = text[i] != NULL ? text[i] : "";
            }
            (void)snprintf(line, sizeof(line), "gmtrace: %s %s: %s%s%s", text[0], text[1], text[2],
                           text[3][0] != '\0' ? "; " : "", text[3]);
            if (is_new_line(line)) {
                gmt_say(stderr, "%s\n", line);
            }
        }
    }
    sqlite3_finalize(statement);
}

/* A range that never came: its line, to be freed; NULL where one did, or none was asked for. */
static char *missing_range(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    char *line = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT detail || '; ' || remedy FROM capability WHERE name = 'range' "
                           "AND state = 'missing'",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *text;
        (void)gmt_value_text(statement, 0, &text);
        line = text != NULL ? strdup(text) : NULL;
    }
    sqlite3_finalize(statement);
    return line;
}

int gmt_launcher_await(const char *path)
{
    int error = gmt_recording_wait(path, WAIT_NS);
    gmt_guard_lift_memory(); /* traces were looked at before */
    return error == -ETIMEDOUT ? error : gmt_recording_recover(path);
}

/* What is in the place of the trace and is none stays: the trace needs another name. */
static void print_unfinished(const char *path, int error)
{
    bool is_taken = error == -EEXIST || error == -ELOOP || error == -EISDIR;
    if (error == -ENOSPC || error == -EDQUOT) {
        gmt_say(stderr,
                "gmtrace: %s is not finished: %s; its records are in %s.spool: free some space, "
                "then gmanalyze %s makes the trace of them (on another disk: gmanalyze recover -o "
                "NEW.db %s.spool)\n",
                path, gmt_recording_explain(error), path, path, path);
        return;
    }
    gmt_say(stderr,
            "gmtrace: %s is not finished: %s; its records are in %s.spool, and gmanalyze %s%s%s "
            "makes the trace of them\n",
            path, gmt_recording_explain(error), path, is_taken ? "recover -o NEW.db " : "", path,
            is_taken ? ".spool" : "");
}

/* True when there is a trace to look at. error: as gmt_launcher_await. *missing gets its missing_range. */
static bool print_trace(const char *path, int error, bool alone, char **missing)
{
    char message[512];
    sqlite3 *db = NULL;
    if (error == -ETIMEDOUT || error == -EBUSY) {
        gmt_say(stderr, "gmtrace: %s is still being written; gmanalyze waits for it\n", path);
        return true;
    }
    if (error != 0) {
        print_unfinished(path, error);
        return false;
    }
    if (gmt_trace_open(path, GMT_TRACE_ALLOW_INCOMPLETE, &db, message, sizeof(message)) != 0) {
        gmt_say(stderr, "gmtrace: %s\n", message);
        return false;
    }
    print_capabilities(db);
    *missing = missing_range(db);
    gmt_launcher_out_of_memory(db);
    if (alone && !gmt_launcher_is_quiet()) {
        gmt_launcher_summary(db);
    } else if (!alone) {
        gmt_say(stderr, "gmtrace: wrote %s\n", path);
    }
    if (gmt_guard_noted(db)) {
        gmt_say(stderr, "gmtrace: %s: %s\n", path, gmt_guard_reason(db));
    }
    sqlite3_close(db);
    return true;
}

/* Names that a shell would take apart are quoted. */
static void put_name(FILE *text, const char *path)
{
    bool plain = path[strcspn(path, " \t\n'\"\\$&|;<>()*?[]#~!`")] == '\0';
    (void)fprintf(text, plain || strchr(path, '\'') != NULL ? " %s" : " '%s'", path);
}

/* The first of several ranks, of which each has a gmtrace of its own, names the command over all of them; where each has a
 * folder of its own it does not know one. */
static void print_fleet(const char *path)
{
    char folder[PATH_MAX], *line = NULL;
    const char *slash = strrchr(path, '/'), *end = strrchr(gmt_options.output, '/');
    unsigned ranks = 1;
    const char *rank = gmt_options_rank(&ranks);
    size_t length;
    bool is_shared = end == NULL ||
                     memchr(gmt_options.output, '%', (size_t)(end - gmt_options.output)) == NULL;
    if (gmt_launcher_is_quiet() || !is_shared || rank == NULL || ranks < 2 ||
        strcmp(rank, "0") != 0) {
        return;
    }
    (void)snprintf(folder, sizeof(folder), "%.*s", slash != NULL ? (int)(slash - path) : 1,
                   slash != NULL ? path : ".");
    FILE *text = open_memstream(&line, &length);
    if (text != NULL) {
        (void)fprintf(text, "gmtrace: when all %u ranks have ended: gmanalyze fleet", ranks);
        put_name(text, folder[0] != '\0' ? folder : "/");
        if (fclose(text) == 0) {
            gmt_say(stderr, "%s\n", line);
        }
        free(line);
    }
}

/* One command over all of them, in one line. */
static void print_next(char *const *paths, size_t n)
{
    char *line = NULL;
    size_t length;
    FILE *text = open_memstream(&line, &length);
    if (text == NULL) {
        return;
    }
    if (n == 1) {
        (void)fprintf(text, "gmtrace: wrote %s; next: gmanalyze", paths[0]);
    } else {
        (void)fputs("gmtrace: next: gmanalyze", text);
    }
    for (size_t i = 0; i < n; i++) {
        put_name(text, paths[i]);
    }
    if (fclose(text) == 0) {
        gmt_say(stderr, "%s\n", line);
    }
    free(line);
}

static const char *reason_of(const struct gmt_run_note *note)
{
    /* The program can write there, too. */
    return note->error < 0 && note->error > -4096 ? gmt_output_explain((int)note->error)
                                                  : "unknown error";
}

/* The launcher has said why before the program ran. */
static bool was_out_of_reach(const char *program)
{
    struct gmt_program traits = gmt_program_look(program);
    const char *tool = getenv("CUDA_INJECTION64_PATH");
    return traits.is_musl || (traits.is_static && tool != NULL && tool[0] != '\0');
}

/* Why there is none. */
static enum gmt_launcher_outcome print_none(const struct gmt_launcher_run *run, const char *program,
                                            bool fails)
{
    const char *status = fails ? " (status 125: an output was asked for)" : "";
    struct gmt_run_note note;
    gmt_run_note_read(run->note, &note);
    if (note.error != 0) {
        if (note.path[0] == '\0') {
            gmt_say(stderr, "gmtrace: no trace: cannot record: %s\n", reason_of(&note));
        } else {
            gmt_say(stderr, "gmtrace: no trace: cannot write '%s': %s\n", note.path,
                    reason_of(&note));
        }
        return GMT_OUTCOME_FAILED;
    }
    if (note.recording != 0) {
        gmt_say(stderr, "gmtrace: no trace: what was recorded of '%s' was removed or moved\n",
                program);
        return GMT_OUTCOME_FAILED;
    }
    if (run->note < 0) {
        gmt_say(stderr, "gmtrace: no trace of '%s'%s\n", program, status);
        return GMT_OUTCOME_NO_CALL; /* why is not known: nobody could say it */
    }
    if (!gmt_launcher_wants_software_device() &&
        dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == NULL) {
        gmt_say(stderr,
                "gmtrace: no trace: there is no CUDA driver here (libcuda.so.1); with "
                "--device sim none is needed%s\n",
                status);
        return GMT_OUTCOME_NO_CALL;
    }
    if (was_out_of_reach(program)) {
        gmt_say(stderr, "gmtrace: no trace: '%s' ran without gmtrace in it%s\n", program, status);
    } else {
        gmt_say(stderr,
                "gmtrace: no trace: '%s' made no CUDA call that reached the driver%s; if it should "
                "have, try: gmtrace%s doctor %s\n",
                program, status, gmt_launcher_wants_software_device() ? " --device sim" : "",
                program);
    }
    return GMT_OUTCOME_NO_CALL;
}

/* Some processes have a trace, others could not. */
static void print_refusal(const struct gmt_launcher_run *run)
{
    struct gmt_run_note note;
    gmt_run_note_read(run->note, &note);
    if (note.error != 0) {
        gmt_say(stderr, "gmtrace: a process was not recorded: cannot write '%s': %s\n", note.path,
                reason_of(&note));
    }
}

/* Recorders that keep the last seconds only take their spools away when they have written the last dumps. Returns
 * how many there are then. */
static size_t await_dumps(const char *pattern, const struct gmt_launcher_run *run, char **paths,
                          size_t traces)
{
    for (size_t i = 0; i < traces; i++) {
        (void)gmt_launcher_await(paths[i]);
        free(paths[i]);
    }
    return gmt_launcher_traces(pattern, run, paths);
}

/* Waits for each, and leaves out those whose recorders took them away: of processes that did nothing. errors: as
 * gmt_launcher_await. Returns how many there are then. */
static size_t await_traces(char **paths, size_t traces, int errors[static GMT_MOST_TRACES])
{
    size_t left = 0;
    for (size_t i = 0; i < traces; i++) {
        int error = gmt_launcher_await(paths[i]);
        if (error == 0 && access(paths[i], F_OK) != 0) {
            free(paths[i]);
            continue;
        }
        errors[left] = error;
        paths[left++] = paths[i];
    }
    return left;
}

/* Nothing had gone wrong, nobody had asked. False: nothing was recorded, or that could not be. */
static bool print_no_dump(const struct gmt_launcher_run *run)
{
    struct gmt_run_note note;
    gmt_run_note_read(run->note, &note);
    if (note.error != 0 || note.recording == 0) {
        return false;
    }
    if (!gmt_launcher_is_quiet()) {
        gmt_say(stderr,
                "gmtrace: no trace was written: the program ended well, and nobody asked for "
                "a dump (gmtrace dump PID)\n");
    }
    return true;
}

enum gmt_launcher_outcome gmt_launcher_report(const char *pattern,
                                              const struct gmt_launcher_run *run,
                                              const char *program, bool fails)
{
    char *paths[GMT_MOST_TRACES];
    int errors[GMT_MOST_TRACES];
    size_t traces = gmt_launcher_traces(pattern, run, paths), good = 0, without_range = 0;
    char *range = NULL;
    if (gmt_options.ring.ns != 0) {
        traces = await_dumps(pattern, run, paths, traces);
        if (traces == 0 && print_no_dump(run)) {
            return GMT_OUTCOME_TRACE;
        }
    }
    traces = await_traces(paths, traces, errors);
    if (traces == 0) {
        return print_none(run, program, fails);
    }
    for (size_t i = 0; i < traces; i++) {
        char *missing = NULL;
        bool is_good = print_trace(paths[i], errors[i], traces == 1, &missing);
        if (missing != NULL) {
            without_range++;
            free(range);
            range = missing;
        }
        if (is_good) {
            char *path = paths[i];
            paths[i] = paths[good];
            paths[good++] = path;
        }
    }
    /* One process of the run in which it came is enough. */
    if (range != NULL && without_range == good) {
        gmt_say(stderr, "gmtrace: %s\n", range);
    }
    free(range);
    print_refusal(run);
    if (good > 0) {
        gmt_launcher_answer(paths, good);
        print_fleet(paths[0]);
        print_next(paths, good);
    }
    for (size_t i = 0; i < traces; i++) {
        free(paths[i]);
    }
    return good > 0 ? GMT_OUTCOME_TRACE : GMT_OUTCOME_FAILED;
}
