/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the files of a trend, and passes runs from process to process as JSON. */
#include "analyzer/trend/traces.h"

#include <errno.h>
#include <fts.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "reports/json/json_values.h"

/* Folders inside of folders: years, months, nights, programs, ranks. */
enum { FOLDERS_MOST = 8 };

static bool is_trace_file(const FTSENT *entry)
{
    size_t length = entry->fts_namelen;
    bool is_given = entry->fts_level == 0;

    return entry->fts_info == FTS_F &&
           (is_given || (length > 3 && strcmp(entry->fts_name + length - 3, ".db") == 0 &&
                         entry->fts_name[0] != '.'));
}

static bool is_unreadable(const FTSENT *entry)
{
    return entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS;
}

static int by_file_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int gmt_trend_list(struct gmt_trend_run **runs, size_t *count, const char *path,
                   struct gmt_arena *arena)
{
    size_t before = *count;
    char *root = gmt_arena_copy(arena, path);
    char *roots[] = {root, NULL};
    FTS *tree = root != NULL
                    ? fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_file_name)
                    : NULL;
    int rc = tree != NULL ? 0 : -errno;

    for (FTSENT *entry; rc == 0 && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_level == 0 && entry->fts_errno != 0) {
            rc = -entry->fts_errno;
        } else if (entry->fts_info == FTS_D && entry->fts_level > 0 &&
                   (entry->fts_level > FOLDERS_MOST || entry->fts_name[0] == '.')) {
            fts_set(tree, entry, FTS_SKIP);
        } else if (is_trace_file(entry) || is_unreadable(entry)) {
            struct gmt_trend_run *run = GMT_PUSH(arena, *runs, *count);

            if (run == NULL) {
                rc = -ENOMEM;
                break;
            }
            *run = (struct gmt_trend_run){.trace = gmt_arena_copy(arena, entry->fts_path)};
            if (is_unreadable(entry)) {
                run->trouble = gmt_arena_text(arena, "cannot be read: %s",
                                              strerror(entry->fts_errno));
            }
        }
    }
    if (tree != NULL) {
        fts_close(tree);
    }
    return rc == 0 && *count == before ? -ENOENT : rc;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t offset;
} texts[] = {{"trouble", offsetof(struct gmt_trend_run, trouble)},
             {"program", offsetof(struct gmt_trend_run, program)},
             {"exe", offsetof(struct gmt_trend_run, exe)},
             {"rank", offsetof(struct gmt_trend_run, rank)},
             {"host", offsetof(struct gmt_trend_run, host)},
             {"device", offsetof(struct gmt_trend_run, device)},
             {"driver", offsetof(struct gmt_trend_run, driver)},
             {"tool", offsetof(struct gmt_trend_run, tool)},
             {"commit", offsetof(struct gmt_trend_run, commit)},
             {"job", offsetof(struct gmt_trend_run, job)}};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static const char **text_of(struct gmt_trend_run *run, size_t i)
{
    return (const char **)(void *)((char *)run + texts[i].offset);
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int gmt_trend_run_send(const struct gmt_trend_run *run, FILE *out)
{
    struct gmt_trend_run copy = *run;
    json_t *root = json_object(), *values = json_array(), *findings = json_array(),
           *unchecked = json_array();
    int rc = 0;

    for (size_t i = 0; i < TEXTS; i++) {
        rc |= json_object_set_new(root, texts[i].key, gmt_json_text(*text_of(&copy, i)));
    }
    for (int m = 0; m < GMT_TREND_MEASURES; m++) {
        rc |= json_array_append_new(values, real_or_null(run->values[m]));
    }
    for (size_t i = 0; i < run->finding_count; i++) {
        const struct gmt_trend_finding *f = &run->findings[i];

        rc |= json_array_append_new(findings,
                                    json_pack("[ooooo]", gmt_json_text(f->fingerprint),
                                              gmt_json_text(f->rule), gmt_json_text(f->headline),
                                              gmt_json_text(f->place), real_or_null(f->gain_ns)));
    }
    for (size_t i = 0; i < run->unchecked_count; i++) {
        rc |= json_array_append_new(unchecked, gmt_json_text(run->unchecked[i]));
    }
    rc |= json_object_set_new(root, "start_ns", json_integer(run->start_ns));
    rc |= json_object_set_new(root, "values", values);
    rc |= json_object_set_new(root, "findings", findings);
    rc |= json_object_set_new(root, "unchecked", unchecked);
    rc = rc != 0 ? -ENOMEM : json_dumpf(root, out, JSON_COMPACT) != 0 ? -EIO : 0;
    json_decref(root);
    return rc == 0 && fflush(out) != 0 ? -EIO : rc;
}

static double real_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *array, size_t i, struct gmt_arena *arena)
{
    const char *text = json_string_value(json_array_get(array, i));

    return gmt_arena_copy(arena, text != NULL ? text : "");
}

static void receive_findings(struct gmt_trend_run *run, const json_t *findings,
                             struct gmt_arena *arena)
{
    size_t i;
    json_t *row;

    json_array_foreach(findings, i, row)
    {
        struct gmt_trend_finding *finding = GMT_PUSH(arena, run->findings, run->finding_count);

        if (finding == NULL) {
            return;
        }
        *finding = (struct gmt_trend_finding){.fingerprint = text_at(row, 0, arena),
                                              .rule = text_at(row, 1, arena),
                                              .headline = text_at(row, 2, arena),
                                              .place = text_at(row, 3, arena),
                                              .gain_ns = real_of(json_array_get(row, 4))};
    }
}

int gmt_trend_run_receive(struct gmt_trend_run *run, FILE *in, struct gmt_arena *arena)
{
    const char *trace = run->trace;
    json_t *root = json_loadf(in, JSON_REJECT_DUPLICATES, NULL);

    *run = (struct gmt_trend_run){.trace = trace};
    if (!json_is_object(root)) {
        json_decref(root);
        return -EIO;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        *text_of(run, i) = gmt_arena_copy(arena,
                                          json_string_value(json_object_get(root, texts[i].key)));
    }
    run->start_ns = json_integer_value(json_object_get(root, "start_ns"));
    for (int m = 0; m < GMT_TREND_MEASURES; m++) {
        run->values[m] = real_of(json_array_get(json_object_get(root, "values"), (size_t)m));
    }
    receive_findings(run, json_object_get(root, "findings"), arena);
    const json_t *unchecked = json_object_get(root, "unchecked");
    for (size_t i = 0; i < json_array_size(unchecked); i++) {
        const char **rule = GMT_PUSH(arena, run->unchecked, run->unchecked_count);

        if (rule != NULL) {
            *rule = text_at(unchecked, i, arena);
        }
    }
    json_decref(root);
    return arena->failed ? -ENOMEM : 0;
}
