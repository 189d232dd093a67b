/* SPDX-License-Identifier: Apache-2.0 */
/* What the analysis says of one reference kernel, as if a recorded program did nothing else. */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/fit/model.h"
#include "libtrace/store/db/traits.h"
#include "tests/recordings.h"

/*
 * The launches of one variant remain, and the copies between the launches before and after them,
 * which are marks. What other variants did, and what set the scene, was no part of the program that
 * is judged. Allocations stay: kernels got pointers into them.
 */
static const char keep_only[] =
    "DELETE FROM transfer WHERE begin_ns < (SELECT max(end_ns) FROM launch WHERE seq < %" PRId64
    ") "
    "OR begin_ns > (SELECT min(begin_ns) FROM launch WHERE seq > %" PRId64 ");"
    "DELETE FROM launch WHERE seq NOT BETWEEN %" PRId64 " AND %" PRId64 ";"
    "DELETE FROM kernel_class WHERE id NOT IN (SELECT class_id FROM launch WHERE class_id IS NOT "
    "NULL);"
    "DELETE FROM kernel_counters WHERE class_id NOT IN (SELECT id FROM kernel_class);"
    "DELETE FROM device_op WHERE call_id IS NULL OR call_id NOT IN (SELECT id FROM launch UNION "
    "SELECT id FROM transfer);"
    "DELETE FROM memset;"
    "DELETE FROM sync WHERE begin_ns < (SELECT min(begin_ns) FROM launch);"
    "DELETE FROM api_call WHERE begin_ns < (SELECT min(begin_ns) FROM launch);"
    "UPDATE process SET start_ns = (SELECT min(begin_ns) FROM (SELECT begin_ns FROM launch UNION "
    "SELECT begin_ns FROM transfer)), end_ns = (SELECT max(max(end_ns, coalesce(device_end_ns, "
    "end_ns))) FROM (SELECT end_ns, device_end_ns FROM launch UNION SELECT end_ns, device_end_ns "
    "FROM transfer));";

const char *gmt_text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

double gmt_number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- the set ------------------------------------------------------------------------------------ */

static json_t *load_file(const char *path, char *message, size_t bytes)
{
    json_error_t error;
    json_t *document = gmt_recording_load(path, &error);
    if (document == NULL) {
        snprintf(message, bytes, "%s: %s", path, error.text);
    }
    return document;
}

static json_t *load(const char *directory, const char *name, char *message, size_t bytes)
{
    char path[640];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return load_file(path, message, bytes);
}

static bool is_left_out(const json_t *variants, const struct gmt_left_out *without,
                        const json_t *row)
{
    const json_t *its = gmt_evidence_find(variants, without->family, gmt_text_of(row, "variant"));
    const char *reference = gmt_text_of(its, "reference");

    return without->reference == NULL ||
           (reference != NULL && strcmp(reference, without->reference) == 0);
}

static void leave_out(json_t *families, const json_t *variants, const struct gmt_left_out *without)
{
    json_t *rows = json_object_get(families, without->family);

    for (size_t i = json_array_size(rows); i-- > 0;) {
        if (is_left_out(variants, without, json_array_get(rows, i))) {
            json_array_remove(rows, i);
        }
    }
    if (json_array_size(rows) == 0) {
        json_object_del(families, without->family);
    }
}

static char *fit(const struct gmt_evidence_set *set, const struct gmt_left_out *without,
                 char *message, size_t bytes)
{
    json_t *raw = json_deep_copy(set->calibration);

    if (without != NULL) {
        leave_out(json_object_get(raw, "families"), set->variants, without);
    }
    json_t *model = gmt_model_from_raw(raw, message, bytes);
    char *text = model != NULL ? json_dumps(model, JSON_COMPACT) : NULL;
    json_decref(model);
    json_decref(raw);
    return text;
}

/*
 * The rows of a fitted model, family by family. What is said of a variant (quality, rule, reference)
 * is the table's, whatever it was when the times were taken.
 */
static json_t *variants_of(const char *model)
{
    json_t *root = json_loads(model, 0, NULL), *variants = json_array(), *rows, *row;
    const char *family;
    size_t i;

    json_object_foreach(json_object_get(root, "families"), family, rows)
    {
        json_array_foreach(rows, i, row)
        {
            json_object_set_new(row, "family", json_string(family));
            json_array_append(variants, row);
        }
    }
    json_decref(root);
    return variants;
}

/* The times of the device that the traces were made on. */
static json_t *measured(const char *directory, char *message, size_t bytes)
{
    json_t *raw = load(directory, "calibration_1.raw.json.gz", message, bytes);
    json_t *model = raw != NULL ? gmt_model_from_raw(raw, message, bytes) : NULL;
    char *text = model != NULL ? json_dumps(model, JSON_COMPACT) : NULL;
    json_t *variants = text != NULL ? variants_of(text) : NULL;

    free(text);
    json_decref(model);
    json_decref(raw);
    return variants;
}

int gmt_evidence_load(struct gmt_evidence_set *set, const char *directory, const char *calibration,
                      char *message, size_t bytes)
{
    *set = (struct gmt_evidence_set){.raw = NULL};
    snprintf(set->directory, sizeof(set->directory), "%s", directory);
    set->raw = load(directory, "raw.json.gz", message, bytes);
    if (set->raw == NULL) {
        return -EIO;
    }
    set->calibration = load_file(calibration, message, bytes);
    if (set->calibration == NULL) {
        return -EIO;
    }
    set->repeat = load(directory, "repeat.json.gz", message, bytes);
    if (set->repeat == NULL) {
        return -EIO;
    }
    set->traced = json_object_get(set->raw, "traced");
    set->variants = measured(directory, message, bytes);
    if (set->variants == NULL) {
        return -EIO;
    }
    set->model = fit(set, NULL, message, bytes);
    return set->model != NULL ? 0 : -EIO;
}

void gmt_evidence_free(struct gmt_evidence_set *set)
{
    json_decref(set->raw);
    json_decref(set->calibration);
    json_decref(set->repeat);
    json_decref(set->variants);
    free(set->model);
    free(set->left);
    free(set->left_key);
    *set = (struct gmt_evidence_set){.raw = NULL};
}

const json_t *gmt_evidence_find(const json_t *rows, const char *family, const char *variant)
{
    size_t i;
    json_t *row;

    json_array_foreach((json_t *)rows, i, row)
    {
        const char *its = gmt_text_of(row, "family"), *name = gmt_text_of(row, "variant");

        if (its != NULL && name != NULL && strcmp(its, family) == 0 && strcmp(name, variant) == 0) {
            return row;
        }
    }
    return NULL;
}

/* Families come one after the other: the last fit is kept. */
static const char *model_without(struct gmt_evidence_set *set, const struct gmt_left_out *without,
                                 char *message, size_t bytes)
{
    char key[128];

    if (without == NULL) {
        return set->model;
    }
    snprintf(key, sizeof(key), "%s:%s", without->family,
             without->reference != NULL ? without->reference : "all");
    if (set->left_key == NULL || strcmp(set->left_key, key) != 0) {
        free(set->left);
        free(set->left_key);
        set->left = fit(set, without, message, bytes);
        set->left_key = strdup(key);
    }
    return set->left;
}

/* ---- one trial ---------------------------------------------------------------------------------- */

/* The whole output of a command, in memory of SQLite's. */
static unsigned char *unpacked(const char *path, sqlite3_int64 *size)
{
    char command[800];
    size_t used = 0, room = 1 << 20, n;
    unsigned char *data = sqlite3_malloc64(room);

    snprintf(command, sizeof(command), "gzip -dcf '%s'", path);
    /* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a file of this repository. */
    FILE *pipe = popen(command, "r");
    while (data != NULL && pipe != NULL && (n = fread(data + used, 1, room - used, pipe)) > 0) {
        used += n;
        if (used == room) {
            unsigned char *grown = sqlite3_realloc64(data, room *= 2);

            if (grown == NULL) {
                sqlite3_free(data);
            }
            data = grown;
        }
    }
    if (pipe == NULL || pclose(pipe) != 0 || used == 0) {
        sqlite3_free(data);
        return NULL;
    }
    *size = (sqlite3_int64)used;
    return data;
}

/* A trace by its name in raw.json: packed beside it, as it was recorded, or unpacked by the build. */
static void find_trace(char *path, size_t bytes, const struct gmt_evidence_set *set,
                       const char *trace)
{
    const char *name = strrchr(trace, '/');

    snprintf(path, bytes, "%s/%s", set->directory, trace);
    if (access(path, R_OK) != 0) {
        name = name != NULL ? name + 1 : trace;
        snprintf(path, bytes, "%s/%.*s", GMT_RECORDED_TRACES, (int)(strlen(name) - strlen(".gz")),
                 name);
    }
}

static int open_trace(struct gmt_trial *trial, const char *path, char *message, size_t bytes)
{
    sqlite3_int64 size = 0;
    unsigned char *data = unpacked(path, &size);
    const unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;

    snprintf(message, bytes, "%s: cannot be read", path);
    if (data == NULL || sqlite3_open(":memory:", &trial->db) != SQLITE_OK) {
        return -EIO;
    }
    return sqlite3_deserialize(trial->db, "main", data, size, size, flags) == SQLITE_OK
               ? gmt_traits_complete(trial->db)
               : -EIO;
}

static int prune(struct gmt_trial *trial, int64_t first_seq, int64_t last_seq, char *message,
                 size_t bytes)
{
    char sql[sizeof(keep_only) + 64];
    char *error = NULL;

    snprintf(sql, sizeof(sql), keep_only, first_seq, last_seq, first_seq, last_seq);
    if (sqlite3_exec(trial->db, sql, NULL, NULL, &error) == SQLITE_OK) {
        return 0;
    }
    snprintf(message, bytes, "%s", error);
    sqlite3_free(error);
    return -EIO;
}

int gmt_trial_run(struct gmt_trial *trial, struct gmt_evidence_set *set, const char *trace,
                  int64_t first_seq, int64_t last_seq, const struct gmt_left_out *without,
                  char *message, size_t bytes)
{
    /* About memory that nothing uses: what used it was cut away with the other variants. */
    static const char *const cut_away[] = {"GM204", "GM205", "GM206", "GM208"};
    const struct gmt_rule_filter all = {
        .skip = cut_away, .skip_count = first_seq > 0 ? sizeof(cut_away) / sizeof(cut_away[0]) : 0};
    char path[768];

    *trial = (struct gmt_trial){.db = NULL};
    const char *model = model_without(set, without, message, bytes);
    if (model == NULL) {
        return -EIO;
    }
    find_trace(path, sizeof(path), set, trace);
    int rc = open_trace(trial, path, message, bytes);
    if (rc == 0 && first_seq > 0) {
        rc = prune(trial, first_seq, last_seq, message, bytes);
    }
    if (rc == 0) {
        rc = gmt_timeline_load(&trial->timeline, trial->db, message, bytes);
    }
    if (rc == 0) {
        rc = gmt_model_parse(&trial->model, model, strlen(model), "the calibration", message,
                             bytes);
    }
    if (rc != 0) {
        return -EIO;
    }
    trial->model.provenance = gmt_model_judge(&trial->model, trial->timeline.device.name,
                                              trial->timeline.device.uuid);
    trial->report = (struct gmt_report){.arena = &trial->arena, .trace_path = trace};
    return gmt_analyze(&trial->timeline, &trial->model, &all, &trial->report) == 0 ? 0 : -EIO;
}

int gmt_trial_variant(struct gmt_trial *trial, struct gmt_evidence_set *set, const json_t *traced,
                      const struct gmt_left_out *without, char *message, size_t bytes)
{
    const char *trace = gmt_text_of(traced, "trace");

    if (trace == NULL) {
        *trial = (struct gmt_trial){.db = NULL};
        snprintf(message, bytes, "no trace of it");
        return -EIO;
    }
    return gmt_trial_run(
        trial, set, trace, json_integer_value(json_object_get(traced, "first_seq")),
        json_integer_value(json_object_get(traced, "last_seq")), without, message, bytes);
}

void gmt_trial_free(struct gmt_trial *trial)
{
    gmt_timeline_free(&trial->timeline);
    gmt_model_free(&trial->model);
    gmt_arena_free(&trial->arena);
    sqlite3_close(trial->db);
    *trial = (struct gmt_trial){.db = NULL};
}

const struct gmt_finding *gmt_trial_finding(const struct gmt_trial *trial, const char *rule)
{
    const struct gmt_report *report = &trial->report;

    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].rule, rule) == 0) {
            return &report->findings[i];
        }
    }
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].rule, rule) == 0) {
            return &report->notes[i];
        }
    }
    return NULL;
}
