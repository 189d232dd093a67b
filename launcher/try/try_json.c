/* SPDX-License-Identifier: Apache-2.0 */
/* What `gmtrace try` found out as JSON, and which programs it is about: for scripts, and for gmanalyze --tried. */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"
#include "libtrace/store/db/names.h"
#include "libtrace/store/symbols/elf_image.h"

/* ---- what ran ----------------------------------------------------------------------------------- */

#define ARGUMENT_SEPARATOR '\x1f'

static void look_at_file(struct gmt_try_program *program)
{
    struct gmt_elf image;
    struct stat info;
    if (gmt_elf_open(&image, program->exe) == 0) {
        gmt_elf_build_id(&image, program->build_id, sizeof(program->build_id));
        gmt_elf_close(&image);
    }
    if (stat(program->exe, &info) == 0) {
        program->modified_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    }
}

static int make_one(const struct gmt_try_identity *identity, struct gmt_try_program *program)
{
    size_t bytes = strnlen(identity->command, sizeof(identity->command));
    program->exe = strndup(identity->exe, sizeof(identity->exe) - 1);
    program->command = gmt_name_shell_quote(identity->command, bytes, ARGUMENT_SEPARATOR);
    if (program->exe == NULL || program->command == NULL) {
        return -ENOMEM;
    }
    program->devices = identity->devices < GMT_TRY_DEVICES ? identity->devices : GMT_TRY_DEVICES;
    for (uint32_t i = 0; i < program->devices; i++) {
        memcpy(program->device[i], identity->device[i], GMT_TRY_NAME_BYTES);
        program->device[i][GMT_TRY_NAME_BYTES - 1] = '\0';
    }
    look_at_file(program);
    return 0;
}

int gmt_try_programs_make(const struct gmt_try_note *note, struct gmt_try_program **programs,
                          size_t *count)
{
    int error = 0;
    size_t processes = note->processes < GMT_TRY_PROCESSES ? note->processes : GMT_TRY_PROCESSES;
    *count = 0;
    *programs = calloc(processes + 1, sizeof(**programs));
    if (*programs == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < processes && error == 0; i++) {
        const struct gmt_try_identity *identity = &note->identity[i];
        if (identity->exe[0] != '\0') {
            error = make_one(identity, &(*programs)[(*count)++]);
        }
    }
    return error;
}

void gmt_try_programs_free(struct gmt_try_program *programs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(programs[i].exe);
        free(programs[i].command);
    }
    free(programs);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static const char *const reasons[GMT_REFUSAL_COUNT] = {
#define GMT_REFUSAL(id, text) text,
#include "preload/apply/refusals.def"
#undef GMT_REFUSAL
};

const char *gmt_try_reason(enum gmt_refusal reason)
{
    return reasons[reason];
}

const char *gmt_try_unseen(unsigned bit)
{
    static const char *const unseen[] = {
        "managed memory, which the host reads without a call",
        "CUDA graphs, whose copies are not looked at",
        "batched copies, which are not looked at",
        "processes beyond the 64th",
    };
    static_assert(GMT_UNSEEN_MANAGED == 1 && GMT_UNSEEN_GRAPH == 2 && GMT_UNSEEN_BATCH == 4 &&
                      GMT_UNSEEN_PROCESS == 8 && GMT_TRY_PROCESSES == 64,
                  "a bit each, in this order");
    return bit < sizeof(unseen) / sizeof(unseen[0]) ? unseen[bit] : NULL;
}

/* Text of any bytes: what is no UTF-8, and control characters, become U+FFFD. */
static json_t *text_of(const char *text)
{
    char *clean = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&clean, &bytes);
    if (out == NULL) {
        return NULL;
    }
    while (*text != '\0') {
        const char *shown;
        size_t length;
        text += gmt_printable_next(text, &shown, &length);
        (void)fwrite(shown, 1, length, out);
    }
    json_t *json = fclose(out) == 0 ? json_string(clean) : NULL;
    free(clean);
    return json;
}

static json_t *json_of_gain(const struct gmt_try_gain *gain)
{
    return gain->pairs == 0 ? json_null()
                            : json_pack("{s:i, s:f, s:f, s:f, s:f}", "pairs", (int)gain->pairs,
                                        "median_s", gain->median_s, "low_s", gain->low_s, "high_s",
                                        gain->high_s, "coverage", gain->coverage);
}

/* Smaller calls are never changed; 0: the fix has no such bound. */
static json_int_t least_bytes(enum gmt_fix fix)
{
    for (size_t i = 0; i < GMT_FIX_PARAMETERS; i++) {
        if (gmt_fix_parameters[i].fix == fix &&
            strcmp(gmt_fix_parameters[i].name, "min_bytes") == 0) {
            return (json_int_t)gmt_fix_parameters[i].standard;
        }
    }
    return 0;
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
                                      json_pack("{s:s, s:I, s:I}", "reason",
                                                gmt_try_reason((enum gmt_refusal)i), "calls",
                                                (json_int_t)counts->refused[i], "bytes",
                                                (json_int_t)counts->refused_bytes[i]));
            }
        }
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "fix", gmt_fixes[fix].name,
                      "rules", gmt_fixes[fix].rules, "one", gmt_fixes[fix].one, "many",
                      gmt_fixes[fix].many, "calls", (json_int_t)counts->calls, "bytes",
                      (json_int_t)counts->bytes, "left_bytes", (json_int_t)counts->passed_bytes,
                      "least_bytes", least_bytes((enum gmt_fix)fix), "refused", refused));
    }
    return list;
}

/* Of the trace that was given; NULL as JSON: none was. */
static json_t *json_of_findings(const struct gmt_try_report *report,
                                const struct gmt_try_outcome *outcome)
{
    json_t *list = json_array();
    if (report->options->trace == NULL || outcome->fix == GMT_FIX_COUNT) {
        json_decref(list);
        return json_null();
    }
    for (size_t i = 0; i < outcome->finding_count; i++) {
        const struct gmt_try_finding *finding = &outcome->findings[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o}", "rule", finding->rule, "fingerprint",
                            finding->fingerprint, "place", text_of(finding->place), "best_s",
                            isnan(finding->best_s) ? json_null() : json_real(finding->best_s)));
    }
    return list;
}

/* Those that are not at their standard. */
static void add_parameters(const struct gmt_try_set *set, enum gmt_fix fix, json_t *parameters)
{
    const struct gmt_try_sweep *swept = set->swept[fix];
    if (swept != NULL) {
        (void)json_object_set_new(parameters, gmt_fix_parameters[swept->parameter].name,
                                  json_integer((json_int_t)swept->value));
    }
}

/* Null: there are not two fixes that are proven. */
static json_t *json_of_together(const struct gmt_try_together *together)
{
    if (!together->was_run) {
        return json_null();
    }
    json_t *fixes = json_array();
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        if (together->set.fixes[i]) {
            json_t *parameters = json_object();
            add_parameters(&together->set, (enum gmt_fix)i, parameters);
            json_array_append_new(
                fixes, json_pack("{s:s, s:o}", "fix", gmt_fixes[i].name, "parameters", parameters));
        }
    }
    return json_pack("{s:o, s:s?}", "fixes", fixes, "difference",
                     together->is_equal ? NULL : together->difference);
}

static json_t *json_of_outcome(const struct gmt_try_report *report,
                               const struct gmt_try_outcome *outcome)
{
    double points = gmt_try_points(report, outcome);
    json_t *predicted = outcome->has_prediction
                            ? json_pack("{s:f, s:f, s:f}", "low_s", outcome->predicted_low_s,
                                        "best_s", outcome->predicted_s, "high_s",
                                        outcome->predicted_high_s)
                            : json_null();
    json_t *parameters = json_object();
    if (outcome->fix != GMT_FIX_COUNT) {
        add_parameters(&outcome->set, outcome->fix, parameters);
    }
    return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s?}", "name", outcome->name,
                     "parameters", parameters, "state", gmt_fix_states[outcome->state], "why",
                     outcome->why, "gain", json_of_gain(&outcome->gain), "predicted", predicted,
                     "points", isnan(points) ? json_null() : json_real(points), "findings",
                     json_of_findings(report, outcome), "fixes", json_of_counts(outcome),
                     "difference", outcome->differs ? outcome->difference : NULL);
}

static json_t *json_of_reference(const struct gmt_try_reference *reference)
{
    json_t *others = json_array();
    const char *text;
    for (unsigned i = 0; (text = gmt_try_unseen(i)) != NULL; i++) {
        if ((reference->unseen & 1u << i) != 0) {
            json_array_append_new(others, json_string(text));
        }
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:o}", "calls",
                     (json_int_t)reference->count, "bytes", (json_int_t)reference->bytes,
                     "unchecked_calls", (json_int_t)reference->unchecked_calls, "unchecked_bytes",
                     (json_int_t)reference->unchecked_bytes, "status", reference->status_agrees,
                     "output", reference->output_agrees, "output_empty",
                     reference->output_agrees && !gmt_try_has_output(reference), "unseen", others);
}

static json_t *json_of_programs(const struct gmt_try_reference *reference)
{
    json_t *list = json_array();
    for (size_t i = 0; i < reference->program_count; i++) {
        const struct gmt_try_program *program = &reference->programs[i];
        json_t *devices = json_array();
        for (uint32_t k = 0; k < program->devices; k++) {
            json_array_append_new(devices, text_of(program->device[k]));
        }
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:s, s:I, s:o}", "exe", text_of(program->exe), "command",
                            text_of(program->command), "build_id", program->build_id, "modified_ns",
                            (json_int_t)program->modified_ns, "devices", devices));
    }
    return list;
}

/* What untouched runs ended with, as a shell has it; null: they differ. */
static json_t *json_of_status(const struct gmt_try_reference *reference)
{
    return reference->status_agrees ? json_integer(gmt_launcher_exit_status(reference->status))
                                    : json_null();
}

static json_t *json_of_signal(const struct gmt_try_reference *reference)
{
    return reference->status_agrees && WIFSIGNALED(reference->status)
               ? json_integer(WTERMSIG(reference->status))
               : json_null();
}

static json_t *json_of_report(const struct gmt_try_report *report)
{
    json_t *outcomes = json_array();
    for (size_t i = 0; i < report->count; i++) {
        json_array_append_new(outcomes, json_of_outcome(report, &report->outcomes[i]));
    }
    return json_pack("{s:s, s:i, s:s, s:I, s:b, s:o, s:o, s:o, s:i, s:s, s:o, s:o, s:o, s:o}",
                     "format", "gmtrace-try", "version", 1, "tool_version", GMT_VERSION, "began_ns",
                     (json_int_t)report->began_ns, "software", (int)report->options->on_software,
                     "programs", json_of_programs(report->reference), "exit_status",
                     json_of_status(report->reference), "signal", json_of_signal(report->reference),
                     "turns", (int)report->turns, "stopped", report->stopped, "untouched_s",
                     report->turns != 0 ? json_real(report->untouched_s) : json_null(), "compared",
                     json_of_reference(report->reference), "tried", outcomes, "together",
                     json_of_together(&report->together));
}

static int write_json(void *context, FILE *out)
{
    json_t *root = json_of_report(context);
    int error = root != NULL && json_dumpf(root, out, JSON_INDENT(2)) == 0 &&
                        fputc('\n', out) != EOF && fflush(out) == 0
                    ? 0
                    : -EIO;
    json_decref(root);
    return error;
}

int gmt_try_print_json(const struct gmt_try_report *report)
{
    return write_json((void *)report, stdout);
}

int gmt_try_write_results(const struct gmt_try_report *report)
{
    return report->options->results == NULL
               ? 0
               : gmt_file_write(report->options->results, write_json, (void *)report);
}
