/* SPDX-License-Identifier: Apache-2.0 */
/* Is a result of `gmtrace try` one of the program, the build and the device of a trace (tried.h)? */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "analyzer/tried/tried.h"
#include "libtrace/base/base_name.h"
#include "libtrace/base/printable.h"

/* What the trace says of itself, under any redaction. */
struct trace_identity {
    const char *exe, *command, *build_id;
    int64_t began_ns; /* clock of the day */
    const char *devices[GMT_TRIED_DEVICES];
    bool used[GMT_TRIED_DEVICES];
};

/* As the results have it: they hold no control characters and no broken UTF-8. */
static const char *clean(struct gmt_arena *arena, const char *text)
{
    char *copy = text != NULL ? gmt_arena_alloc(arena, 3 * strlen(text) + 1) : NULL, *at = copy;

    while (copy != NULL && *text != '\0') {
        const char *shown;
        size_t length;

        text += gmt_printable_next(text, &shown, &length);
        memcpy(at, shown, length);
        at += length;
    }
    return copy != NULL ? copy : "";
}

static int read_process(sqlite3 *db, struct gmt_arena *arena, struct trace_identity *traced)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db,
                            "SELECT p.exe, p.command, (SELECT m.build_id FROM main.module m WHERE "
                            "m.path = p.exe AND m.build_id <> '' LIMIT 1), p.realtime_ns "
                            "FROM main.process p ORDER BY p.id LIMIT 1");

    if (rc == 0 && gmt_query_next(&query)) {
        traced->exe = clean(arena, gmt_query_text_here(&query, 0));
        traced->command = clean(arena, gmt_query_text_here(&query, 1));
        traced->build_id = clean(arena, gmt_query_text_here(&query, 2));
        traced->began_ns = gmt_query_int(&query, 3);
    }
    return gmt_query_close(&query, rc);
}

static int read_devices(sqlite3 *db, struct gmt_arena *arena, struct trace_identity *traced)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, db,
                            "SELECT d.id, d.name, d.id IN (SELECT device_id FROM main.context) OR "
                            "NOT EXISTS (SELECT 1 FROM main.context WHERE device_id IS NOT NULL) "
                            "FROM main.device d ORDER BY d.id");

    while (rc == 0 && gmt_query_next(&query)) {
        int32_t id = gmt_query_id(&query, 0);

        if (id < GMT_TRIED_DEVICES) {
            traced->devices[id] = clean(arena, gmt_query_text_here(&query, 1));
            traced->used[id] = gmt_query_int(&query, 2) != 0;
        }
    }
    return gmt_query_close(&query, rc);
}

/* Behind the first word, which is the program itself. */
static const char *arguments_of(const char *command)
{
    bool quoted = false;

    for (; *command != '\0' && (quoted || *command != ' '); command++) {
        if (*command == '\\' && !quoted && command[1] != '\0') {
            command++;
        } else if (*command == '\'') {
            quoted = !quoted;
        }
    }
    return command + strspn(command, " ");
}

enum mismatch { OTHER_PROGRAM, OTHER_BUILD, OTHER_ARGUMENTS, OTHER_DEVICE, NONE };

struct fit {
    enum mismatch mismatch;
    const char *why;
};

static struct fit no_fit(enum mismatch mismatch, const char *why)
{
    return (struct fit){mismatch, why};
}

/*
 * By build ids, where both have one. Else it is the same file if it is older than the trace and has not changed between the trace
 * and the trial.
 */
static const char *build_differs(const struct gmt_tried_file *file,
                                 const struct gmt_tried_program *program,
                                 const struct trace_identity *traced, struct gmt_arena *arena)
{
    if (program->build_id[0] != '\0' && traced->build_id[0] != '\0') {
        return strcmp(program->build_id, traced->build_id) == 0
                   ? NULL
                   : gmt_arena_text(arena,
                                    "another build of %s: build id %s, and the trace is of %s",
                                    program->exe, program->build_id, traced->build_id);
    }
    if (strcmp(program->exe, traced->exe) != 0) {
        return gmt_arena_text(arena, "%s, which has no build id that shows whether it is %s",
                              program->exe, traced->exe);
    }
    if (program->modified_ns <= 0 || program->modified_ns > traced->began_ns) {
        return gmt_arena_text(arena, "another build of %s: the file is newer than the trace",
                              program->exe);
    }
    if (file->began_ns < traced->began_ns) {
        return gmt_arena_text(
            arena,
            "%s, which has no build id that shows whether it was built again before "
            "the trace",
            program->exe);
    }
    return NULL;
}

static const char *device_differs(const struct gmt_tried_program *program,
                                  const struct trace_identity *traced, struct gmt_arena *arena)
{
    for (size_t i = 0; i < GMT_TRIED_DEVICES; i++) {
        const char *tried = i < program->device_count ? program->devices[i] : "an unknown device";

        if (traced->used[i] && strcmp(tried, traced->devices[i]) != 0) {
            return gmt_arena_text(arena, "another device: %s, and the trace is of %s", tried,
                                  traced->devices[i]);
        }
    }
    return NULL;
}

static struct fit fit_of(const struct gmt_tried_file *file, const struct gmt_tried_program *program,
                         const struct trace_identity *traced, struct gmt_arena *arena)
{
    const char *tried_arguments = arguments_of(program->command);
    const char *arguments = arguments_of(traced->command);

    if (strcmp(gmt_base_name(program->exe), gmt_base_name(traced->exe)) != 0) {
        return no_fit(OTHER_PROGRAM,
                      gmt_arena_text(arena, "another program: %s, and the trace is of %s",
                                     program->exe, traced->exe));
    }
    const char *why = build_differs(file, program, traced, arena);
    if (why != NULL) {
        return no_fit(OTHER_BUILD, why);
    }
    if (strcmp(tried_arguments, arguments) != 0) {
        return no_fit(OTHER_ARGUMENTS,
                      gmt_arena_text(arena, "other arguments: '%s', and the trace is of '%s'",
                                     tried_arguments, arguments));
    }
    why = device_differs(program, traced, arena);
    return why != NULL ? no_fit(OTHER_DEVICE, why) : no_fit(NONE, NULL);
}

int gmt_tried_fits(const struct gmt_tried_file *file, sqlite3 *db, struct gmt_arena *arena,
                   char *message, size_t bytes)
{
    struct trace_identity traced = {.exe = "", .command = "", .build_id = ""};
    struct fit best = {OTHER_PROGRAM, "no program at all"};
    int rc = read_process(db, arena, &traced);

    if (rc == 0) {
        rc = read_devices(db, arena, &traced);
    }
    if (rc != 0) {
        (void)snprintf(message, bytes, "%s", strerror(-rc));
        return rc;
    }
    /* Of several processes that one which is nearest says what is wrong. */
    for (size_t i = 0; i < file->program_count; i++) {
        struct fit fit = fit_of(file, &file->programs[i], &traced, arena);

        best = i == 0 || fit.mismatch > best.mismatch ? fit : best;
    }
    if (best.mismatch == NONE) {
        return 0;
    }
    (void)snprintf(message, bytes, "its fixes were tried on %s", best.why);
    return -EINVAL;
}
