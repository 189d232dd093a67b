/* SPDX-License-Identifier: Apache-2.0 */
/* What `gmtrace try` found out: as text, as JSON, and as a plan for `gmtrace apply`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "launcher/try.h"
#include "libtrace/base/printable.h"

static const char *const reasons[GMT_REFUSAL_COUNT] = {
#define GMT_REFUSAL(id, text) text,
#include "preload/apply/refusals.def"
#undef GMT_REFUSAL
};

static const struct {
    uint32_t kind;
    const char *text;
} unseen[] = {
    {GMT_UNSEEN_MANAGED, "managed memory, which the host reads without a call"},
    {GMT_UNSEEN_GRAPH, "CUDA graphs, whose copies are not looked at"},
    {GMT_UNSEEN_BATCH, "batched copies, which are not looked at"},
};
enum { UNSEEN = sizeof(unseen) / sizeof(unseen[0]) };

/* ---- text --------------------------------------------------------------------------------------- */

static void print_gain(const struct gmt_try_report *report, const struct gmt_try_outcome *outcome)
{
    const struct gmt_try_gain *gain = &outcome->gain;
    if (gain->pairs != 0) {
        gmt_say(stderr,
                "gmtrace: %s: gains %.3f s of %.3f s (%.1f %%), %.3f to %.3f s with %.0f %% in %u "
                "pairs of runs\n",
                outcome->name, gain->median_s, report->untouched_s,
                report->untouched_s > 0 ? 100 * gain->median_s / report->untouched_s : 0,
                gain->low_s, gain->high_s, 100 * gain->coverage, gain->pairs);
    } else {
        gmt_say(stderr, "gmtrace: %s: not timed\n", outcome->name);
    }
    if (outcome->has_prediction) {
        gmt_say(stderr, "gmtrace:   predicted %.3f s, %.3f to %.3f s\n", outcome->predicted_s,
                outcome->predicted_low_s, outcome->predicted_high_s);
    }
}

static void print_counts(enum gmt_fix fix, const struct gmt_fix_counts *counts)
{
    const struct gmt_fix_row *row = &gmt_fixes[fix];
    bool has_bytes = row->class == GMT_FIX_KEPT;
    gmt_say(stderr, "gmtrace:   %s: applied to %s%s%s%s%s%s\n", row->name,
            gmt_words_of_count((int64_t)counts->calls, row->one, row->many).text,
            has_bytes ? ", " : "", has_bytes ? gmt_words_of_bytes((int64_t)counts->bytes).text : "",
            counts->passed_bytes != 0 ? "; of these " : "",
            counts->passed_bytes != 0 ? gmt_words_of_bytes((int64_t)counts->passed_bytes).text : "",
            counts->passed_bytes != 0 ? " were left to the driver" : "");
    for (unsigned i = 0; i < GMT_REFUSAL_COUNT; i++) {
        if (counts->refused[i] != 0) {
            gmt_say(stderr, "gmtrace:   not applied to %s%s%s: %s\n",
                    gmt_words_of_count((int64_t)counts->refused[i], row->one, row->many).text,
                    has_bytes ? ", " : "",
                    has_bytes ? gmt_words_of_bytes((int64_t)counts->refused_bytes[i]).text : "",
                    reasons[i]);
        }
    }
}

static void print_checked(const struct gmt_try_reference *reference)
{
    gmt_say(stderr, "gmtrace: compared: %s, %s; the exit status%s\n",
            gmt_words_of_count((int64_t)reference->count, "copy to the host", "copies to the host")
                .text,
            gmt_words_of_bytes((int64_t)reference->bytes).text,
            reference->output_agrees ? " and standard output" : "");
    if (reference->unchecked_calls != 0) {
        gmt_say(stderr, "gmtrace: unchecked: %" PRIu64 " of %s, %s\n", reference->unchecked_calls,
                gmt_words_of_count((int64_t)(reference->count + reference->unchecked_calls),
                                   "copy to the host", "copies to the host")
                    .text,
                gmt_words_of_bytes((int64_t)reference->unchecked_bytes).text);
    }
    if (!reference->output_agrees) {
        gmt_say(stderr, "gmtrace: unchecked: standard output, which untouched runs differ in\n");
    }
    if (!reference->status_agrees) {
        gmt_say(stderr, "gmtrace: unchecked: the exit status, which untouched runs differ in\n");
    }
    for (unsigned i = 0; i < UNSEEN; i++) {
        if ((reference->unseen & unseen[i].kind) != 0) {
            gmt_say(stderr, "gmtrace: unchecked: %s\n", unseen[i].text);
        }
    }
}

void gmt_try_print(const struct gmt_try_report *report)
{
    if (report->turns != 0) {
        gmt_say(stderr, "gmtrace: tried in %s%s%s\n",
                gmt_words_of_count((int64_t)report->turns, "turn", "turns").text,
                report->stopped[0] != '\0' ? ": " : "", report->stopped);
    }
    for (size_t i = 0; i < report->count; i++) {
        const struct gmt_try_outcome *outcome = &report->outcomes[i];
        print_gain(report, outcome);
        for (unsigned fix = 0; fix < GMT_FIX_COUNT; fix++) {
            if (outcome->set.fixes[fix]) {
                print_counts((enum gmt_fix)fix, &outcome->counts[fix]);
            }
        }
        if (outcome->differs) {
            gmt_say(stderr, "gmtrace:   RESULTS DIFFER: %s\n", outcome->difference);
        }
        gmt_say(stderr, "gmtrace:   %s: %s\n", gmt_fix_states[outcome->state], outcome->why);
    }
    print_checked(report->reference);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static json_t *json_of_gain(const struct gmt_try_gain *gain)
{
    return gain->pairs == 0 ? json_null()
                            : json_pack("{s:i, s:f, s:f, s:f, s:f}", "pairs", (int)gain->pairs,
                                        "median_s", gain->median_s, "low_s", gain->low_s, "high_s",
                                        gain->high_s, "coverage", gain->coverage);
}

static json_t *json_of_counts(const struct gmt_try_outcome *outcome)
{
    json_t *list = json_array();
    for (unsigned fix = 0; fix < GMT_FIX_COUNT; fix++) {
        const struct gmt_fix_counts *counts = &outcome->counts[fix];
        if (!outcome->set.fixes[fix]) {
            continue;
        }
        json_t *refused = json_array();
        for (unsigned i = 0; i < GMT_REFUSAL_COUNT; i++) {
            if (counts->refused[i] != 0) {
                json_array_append_new(refused,
                                      json_pack("{s:s, s:I, s:I}", "reason", reasons[i], "calls",
                                                (json_int_t)counts->refused[i], "bytes",
                                                (json_int_t)counts->refused_bytes[i]));
            }
        }
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "fix", gmt_fixes[fix].name, "rules",
                            gmt_fixes[fix].rules, "calls", (json_int_t)counts->calls, "bytes",
                            (json_int_t)counts->bytes, "left_bytes",
                            (json_int_t)counts->passed_bytes, "refused", refused));
    }
    return list;
}

static json_t *json_of_outcome(const struct gmt_try_outcome *outcome)
{
    json_t *predicted = outcome->has_prediction
                            ? json_pack("{s:f, s:f, s:f}", "low_s", outcome->predicted_low_s,
                                        "best_s", outcome->predicted_s, "high_s",
                                        outcome->predicted_high_s)
                            : json_null();
    json_t *parameters = json_object();
    if (outcome->set.swept != NULL) {
        (void)json_object_set_new(parameters,
                                  gmt_fix_parameters[outcome->set.swept->parameter].name,
                                  json_integer((json_int_t)outcome->set.swept->value));
    }
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:s?}", "name", outcome->name,
                     "parameters", parameters, "state", gmt_fix_states[outcome->state], "why",
                     outcome->why, "gain", json_of_gain(&outcome->gain), "predicted", predicted,
                     "fixes", json_of_counts(outcome), "difference",
                     outcome->differs ? outcome->difference : NULL);
}

static json_t *json_of_reference(const struct gmt_try_reference *reference)
{
    json_t *others = json_array();
    for (unsigned i = 0; i < UNSEEN; i++) {
        if ((reference->unseen & unseen[i].kind) != 0) {
            json_array_append_new(others, json_string(unseen[i].text));
        }
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:o}", "calls", (json_int_t)reference->count,
                     "bytes", (json_int_t)reference->bytes, "unchecked_calls",
                     (json_int_t)reference->unchecked_calls, "unchecked_bytes",
                     (json_int_t)reference->unchecked_bytes, "status", reference->status_agrees,
                     "output", reference->output_agrees, "unseen", others);
}

int gmt_try_print_json(const struct gmt_try_report *report)
{
    json_t *outcomes = json_array();
    for (size_t i = 0; i < report->count; i++) {
        json_array_append_new(outcomes, json_of_outcome(&report->outcomes[i]));
    }
    json_t *root = json_pack("{s:s, s:i, s:i, s:s, s:o, s:o, s:o}", "format", "gmtrace-try",
                             "version", 1, "turns", (int)report->turns, "stopped", report->stopped,
                             "untouched_s",
                             report->turns != 0 ? json_real(report->untouched_s) : json_null(),
                             "compared", json_of_reference(report->reference), "tried", outcomes);
    int error = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 &&
                        fputc('\n', stdout) != EOF && fflush(stdout) == 0
                    ? 0
                    : -EIO;
    json_decref(root);
    return error;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

int gmt_try_write_plan(const struct gmt_try_report *report)
{
    char path[PATH_MAX], hash[33];
    gmt_program_find(report->options->program[0], path);
    gmt_plan_hash_file(path, hash);
    char *whole = realpath(path, NULL);
    if (hash[0] == '\0' || whole == NULL || strchr(whole, '\n') != NULL) {
        free(whole);
        return -ENOENT;
    }
    FILE *file = fopen(report->options->output, "we");
    if (file == NULL) {
        free(whole);
        return -errno;
    }
    (void)fprintf(file, "%s\nprogram %s %s\n", GMT_PLAN_FIRST_LINE, hash, whole);
    free(whole);
    for (size_t i = 0; i < report->count; i++) {
        const struct gmt_try_outcome *outcome = &report->outcomes[i];
        bool is_best = i == 0 || outcome[-1].fix != outcome->fix;
        if (outcome->fix != GMT_FIX_COUNT && is_best) {
            const struct gmt_try_sweep *swept = outcome->set.swept;
            (void)fprintf(file, "fix %s %s", gmt_fixes[outcome->fix].name,
                          gmt_fix_states[outcome->state]);
            if (swept != NULL) {
                (void)fprintf(file, " %s=%" PRId64, gmt_fix_parameters[swept->parameter].name,
                              swept->value);
            }
            (void)fputc('\n', file);
        }
    }
    return fclose(file) == 0 ? 0 : -errno;
}
