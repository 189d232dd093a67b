/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JSON that `gmtrace try` writes, which anybody may have made (tried.h). */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/tried/tried.h"

#define MOST_BYTES (16 << 20) /* of a file: a hundred sets of fixes have some 100 KiB */
#define MOST_SECONDS 1e9      /* 30 years */
#define MOST_COUNT 1e15       /* calls, or bytes: more than there are */
#define MOST_UNCHECKED 0.05 /* of the bytes that return to the host: with more nothing is proven */
#define LEAST_PAIRS 6       /* of runs, for an interval of 95 % */
enum { MOST_ROWS = 256, MOST_LIST = 1024 };

/* The first mistake is kept; what is read after it means nothing. */
struct results_reader {
    struct gmt_arena *arena;
    char *message;
    size_t bytes;
    int rc;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct results_reader *r,
                                                        const char *format, ...)
{
    va_list arguments;

    if (r->rc == 0) {
        va_start(arguments, format);
        (void)vsnprintf(r->message, r->bytes, format, arguments);
        va_end(arguments);
        r->rc = -EINVAL;
    }
}

/* ---- values ------------------------------------------------------------------------------------- */

static const char *text_at(struct results_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)) {
        wrong(r, "'%s' is no text", key);
        return "";
    }
    return gmt_arena_copy(r->arena, json_string_value(value));
}

static double number_at(struct results_reader *r, const json_t *object, const char *key,
                        double least, double most)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);

    if (!json_is_number(value) || !(number >= least && number <= most)) {
        wrong(r, "'%s' is no number between %g and %g", key, least, most);
        return 0;
    }
    return number;
}

static double count_at(struct results_reader *r, const json_t *object, const char *key)
{
    return number_at(r, object, key, 0, MOST_COUNT);
}

static double ns_at(struct results_reader *r, const json_t *object, const char *key)
{
    return 1e9 * number_at(r, object, key, -MOST_SECONDS, MOST_SECONDS);
}

/* NULL: the value is null. */
static const json_t *object_at(struct results_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_object(value) && !json_is_null(value)) {
        wrong(r, "'%s' is no object", key);
    }
    return json_is_object(value) ? value : NULL;
}

static const json_t *array_at(struct results_reader *r, const json_t *object, const char *key,
                              size_t most)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_array(value) || json_array_size(value) > most) {
        wrong(r, "'%s' is no list of at most %zu", key, most);
        return NULL;
    }
    return value;
}

/* ---- parts -------------------------------------------------------------------------------------- */

static void read_program(struct results_reader *r, const json_t *json,
                         struct gmt_tried_program *program)
{
    const json_t *devices = array_at(r, json, "devices", GMT_TRIED_DEVICES), *name;
    size_t i;

    program->exe = text_at(r, json, "exe");
    program->command = text_at(r, json, "command");
    program->build_id = text_at(r, json, "build_id");
    program->modified_ns = (int64_t)number_at(r, json, "modified_ns", 0, 9e18);
    json_array_foreach(devices, i, name)
    {
        if (!json_is_string(name)) {
            wrong(r, "'devices' has what is no text");
            return;
        }
        program->devices[program->device_count++] = gmt_arena_copy(r->arena,
                                                                   json_string_value(name));
    }
}

static void read_programs(struct results_reader *r, const json_t *root, struct gmt_tried_file *file)
{
    const json_t *programs = array_at(r, root, "programs", MOST_LIST), *json;
    size_t i;

    json_array_foreach(programs, i, json)
    {
        struct gmt_tried_program *program = GMT_PUSH(r->arena, file->programs, file->program_count);

        if (program != NULL) {
            read_program(r, json, program);
        }
    }
    if (r->rc == 0 && file->program_count == 0) {
        wrong(r, "'programs' is empty: it does not say what it was tried on");
    }
}

static void read_refusals(struct results_reader *r, const json_t *json,
                          struct gmt_tried_counts *counts)
{
    const json_t *refused = array_at(r, json, "refused", MOST_LIST), *one;
    size_t i;

    json_array_foreach(refused, i, one)
    {
        struct gmt_tried_refusal *refusal = GMT_PUSH(r->arena, counts->refusals,
                                                     counts->refusal_count);

        if (refusal != NULL) {
            *refusal = (struct gmt_tried_refusal){
                text_at(r, one, "reason"), count_at(r, one, "calls"), count_at(r, one, "bytes")};
        }
    }
}

static void read_counts(struct results_reader *r, const json_t *json, struct gmt_tried *tried)
{
    const json_t *fixes = array_at(r, json, "fixes", MOST_LIST), *one;
    size_t i;

    json_array_foreach(fixes, i, one)
    {
        struct gmt_tried_counts *counts = GMT_PUSH(r->arena, tried->counts, tried->count);

        if (counts == NULL) {
            return;
        }
        *counts = (struct gmt_tried_counts){.fix = text_at(r, one, "fix"),
                                            .rules = text_at(r, one, "rules"),
                                            .one = text_at(r, one, "one"),
                                            .many = text_at(r, one, "many"),
                                            .calls = count_at(r, one, "calls"),
                                            .bytes = count_at(r, one, "bytes"),
                                            .left_bytes = count_at(r, one, "left_bytes"),
                                            .least_bytes = count_at(r, one, "least_bytes")};
        read_refusals(r, one, counts);
    }
    if (r->rc == 0 && tried->count == 0) {
        wrong(r, "'%s' has no fixes", tried->name);
    }
}

static void read_gain(struct results_reader *r, const json_t *json, double untouched_ns,
                      struct gmt_tried *tried)
{
    const json_t *gain = object_at(r, json, "gain");

    tried->gain = tried->predicted = (struct gmt_saving){NAN, NAN, NAN, NAN};
    if (gain == NULL || r->rc != 0) {
        return;
    }
    tried->pairs = number_at(r, gain, "pairs", 1, MOST_LIST);
    tried->coverage = number_at(r, gain, "coverage", 0, 1);
    tried->gain.low_ns = ns_at(r, gain, "low_s");
    tried->gain.best_ns = ns_at(r, gain, "median_s");
    tried->gain.high_ns = ns_at(r, gain, "high_s");
    tried->gain.share = tried->gain.best_ns / untouched_ns;
    if (r->rc == 0 && !(tried->gain.low_ns <= tried->gain.best_ns &&
                        tried->gain.best_ns <= tried->gain.high_ns && untouched_ns > 0)) {
        wrong(r, "the gain of '%s' is none: its ends are not around it, or the run has no time",
              tried->name);
    }
}

/* Those of the trace that was there when it was tried; as many as can be listed may not be all. */
static void read_findings(struct results_reader *r, const json_t *json, struct gmt_tried *tried)
{
    enum { LISTED = 64 };
    const json_t *value = json_object_get(json, "findings"), *one;
    size_t i;

    if (json_is_null(value)) {
        return;
    }
    const json_t *findings = array_at(r, json, "findings", LISTED);
    json_array_foreach(findings, i, one)
    {
        const char **slot = GMT_PUSH(r->arena, tried->fingerprints, tried->fingerprint_count);

        if (slot != NULL) {
            *slot = text_at(r, one, "fingerprint");
        }
    }
    tried->knows_findings = tried->fingerprint_count < LISTED;
}

/* Bytes that came back, or standard output with something in it. Files of before `output_empty` do not say whether it had. */
static bool has_compared(const json_t *compared, const struct gmt_tried_results *results)
{
    return results->bytes > 0 || (json_is_true(json_object_get(compared, "output")) &&
                                  json_is_false(json_object_get(compared, "output_empty")));
}

/* What gmtrace try does not call proven is not taken for proven from a file either. */
static void check_proof(struct results_reader *r, const json_t *compared,
                        const struct gmt_tried_results *results, const struct gmt_tried *tried)
{
    const char *why = NULL;
    double calls = 0;

    for (size_t i = 0; i < tried->count; i++) {
        calls += tried->counts[i].calls;
    }
    if (results->unchecked_bytes > MOST_UNCHECKED * (results->bytes + results->unchecked_bytes) ||
        json_array_size(json_object_get(compared, "unseen")) > 0 ||
        !json_is_true(json_object_get(compared, "status"))) {
        why = "too much of the results was not compared";
    } else if (!has_compared(compared, results)) {
        why = "nothing of the results was compared";
    } else if (tried->difference != NULL) {
        why = "a result differed";
    } else if (!(tried->pairs >= LEAST_PAIRS && tried->gain.low_ns > 0)) {
        why = "its gain is not shown";
    } else if (!(calls > 0)) {
        why = "it was applied to nothing";
    }
    if (tried->state == GMT_TRIED_PROVEN && why != NULL) {
        wrong(r, "'%s' is called proven, but %s", tried->name, why);
    }
}

static void read_state(struct results_reader *r, const json_t *json, struct gmt_tried *tried)
{
    const char *name = text_at(r, json, "state");

    for (int i = 0; i < GMT_TRIED_STATES; i++) {
        if (strcmp(name, gmt_tried_state_name((enum gmt_tried_state)i)) == 0) {
            tried->state = (enum gmt_tried_state)i;
            return;
        }
    }
    wrong(r, "'%s' is no state", name);
}

static void read_row(struct results_reader *r, const json_t *json, const json_t *compared,
                     struct gmt_tried_results *results, struct gmt_tried *tried)
{
    tried->name = text_at(r, json, "name");
    tried->why = text_at(r, json, "why");
    if (!json_is_null(json_object_get(json, "difference"))) {
        tried->difference = text_at(r, json, "difference");
    }
    read_state(r, json, tried);
    read_gain(r, json, results->untouched_ns, tried);
    read_counts(r, json, tried);
    read_findings(r, json, tried);
    check_proof(r, compared, results, tried);
}

static void read_results(struct results_reader *r, const json_t *root,
                         struct gmt_tried_results *results)
{
    const json_t *compared = object_at(r, root, "compared"), *json;
    const json_t *tried = array_at(r, root, "tried", MOST_ROWS);
    size_t i;

    results->untouched_ns = json_is_null(json_object_get(root, "untouched_s"))
                                ? NAN
                                : ns_at(r, root, "untouched_s");
    results->calls = count_at(r, compared, "calls");
    results->bytes = count_at(r, compared, "bytes");
    results->unchecked_calls = count_at(r, compared, "unchecked_calls");
    results->unchecked_bytes = count_at(r, compared, "unchecked_bytes");
    json_array_foreach(tried, i, json)
    {
        struct gmt_tried *row = GMT_PUSH(r->arena, results->rows, results->count);

        if (row != NULL && r->rc == 0) {
            read_row(r, json, compared, results, row);
        }
    }
}

static void read_root(struct results_reader *r, const json_t *root, struct gmt_tried_file *file)
{
    const char *format = json_string_value(json_object_get(root, "format"));

    if (format == NULL || strcmp(format, "gmtrace-try") != 0) {
        wrong(r, "it is no result of gmtrace try (try.json)");
        return;
    }
    if (json_integer_value(json_object_get(root, "version")) != 1) {
        wrong(r, "it is of another version of gmtrace try");
        return;
    }
    file->began_ns = (int64_t)number_at(r, root, "began_ns", 0, 9e18);
    read_programs(r, root, file);
    read_results(r, root, &file->results);
}

int gmt_tried_read(struct gmt_tried_file *file, const char *path, struct gmt_arena *arena,
                   char *message, size_t bytes)
{
    struct results_reader r = {.arena = arena, .message = message, .bytes = bytes};
    struct stat info;
    json_error_t error;

    *file = (struct gmt_tried_file){.results = {.file = path}};
    if (stat(path, &info) != 0) {
        (void)snprintf(message, bytes, "%s", strerror(errno));
        return -ENOENT;
    }
    if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES) {
        wrong(&r, "it is no result of gmtrace try: %s",
              S_ISREG(info.st_mode) ? "too large" : "no file");
        return r.rc;
    }
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        wrong(&r, "line %d: %s", error.line, error.text);
        return r.rc;
    }
    read_root(&r, root, file);
    json_decref(root);
    if (r.rc == 0 && arena->failed) {
        wrong(&r, "%s", strerror(ENOMEM));
    }
    return r.rc;
}
