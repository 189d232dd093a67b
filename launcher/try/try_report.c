/* SPDX-License-Identifier: Apache-2.0 */
/* What `gmtrace try` found out: as text, and as a plan for `gmtrace apply`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/program.h"
#include "launcher/try/try.h"
#include "libtrace/base/file.h"
#include "libtrace/base/printable.h"

/* ---- text --------------------------------------------------------------------------------------- */

/* In seconds, and beside what was tried in points of the run: shares of one and the same time. */
static void print_prediction(const struct gmt_try_report *report,
                             const struct gmt_try_outcome *outcome)
{
    double points = gmt_try_points(report, outcome);
    if (isnan(points)) {
        gmt_say(stderr, "gmtrace:   predicted %.3f s, %.3f to %.3f s\n", outcome->predicted_s,
                outcome->predicted_low_s, outcome->predicted_high_s);
    } else {
        gmt_say(stderr,
                "gmtrace:   predicted %.3f s, %.3f to %.3f s: %.1f %% of the run, %.1f points %s "
                "than tried\n",
                outcome->predicted_s, outcome->predicted_low_s, outcome->predicted_high_s,
                100 * outcome->predicted_s / report->untouched_s, fabs(points),
                points < 0 ? "less" : "more");
    }
}

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
        print_prediction(report, outcome);
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
                    gmt_try_reason((enum gmt_refusal)i));
        }
    }
}

static void print_checked(const struct gmt_try_reference *reference)
{
    gmt_say(stderr, "gmtrace: compared: %s, %s; the exit status%s\n",
            gmt_words_of_count((int64_t)reference->count, "copy to the host", "copies to the host")
                .text,
            gmt_words_of_bytes((int64_t)reference->bytes).text,
            gmt_try_has_output(reference) ? " and standard output"
            : reference->output_agrees    ? " and standard output, which is empty"
                                          : "");
    if (reference->unchecked_calls != 0) {
        gmt_say(stderr, "gmtrace: unchecked: %" PRIu64 " of %s, %s\n", reference->unchecked_calls,
                gmt_words_of_count((int64_t)(reference->count + reference->unchecked_calls),
                                   "copy to the host", "copies to the host")
                    .text,
                gmt_words_of_bytes((int64_t)reference->unchecked_bytes).text);
    }
    if (reference->status_agrees && WIFSIGNALED(reference->status)) {
        gmt_say(stderr, "gmtrace: the program ends by signal %d\n", WTERMSIG(reference->status));
    } else if (reference->status_agrees && reference->status != 0) {
        gmt_say(stderr, "gmtrace: the program exits with %d\n", WEXITSTATUS(reference->status));
    }
    if (!reference->output_agrees) {
        gmt_say(stderr, "gmtrace: unchecked: standard output, which untouched runs differ in\n");
    }
    if (!reference->status_agrees) {
        gmt_say(stderr, "gmtrace: unchecked: the exit status, which untouched runs differ in\n");
    }
    const char *text;
    for (unsigned i = 0; (text = gmt_try_unseen(i)) != NULL; i++) {
        if ((reference->unseen & 1u << i) != 0) {
            gmt_say(stderr, "gmtrace: unchecked: %s\n", text);
        }
    }
}

static void print_together(const struct gmt_try_together *together)
{
    char names[256] = "";
    for (unsigned i = 0; i < GMT_FIX_COUNT; i++) {
        if (together->set.fixes[i]) {
            size_t used = strlen(names);
            (void)snprintf(names + used, sizeof(names) - used, "%s%s", used != 0 ? ", " : "",
                           gmt_fixes[i].name);
        }
    }
    gmt_say(stderr, "gmtrace: together: %s: %s%s\n", names,
            together->differs    ? "RESULTS DIFFER: "
            : together->is_equal ? "results are equal"
                                 : "",
            together->is_equal ? "" : together->difference);
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
    if (report->together.was_run) {
        print_together(&report->together);
    }
    print_checked(report->reference);
}

/* ---- the plan ----------------------------------------------------------------------------------- */

struct plan_file {
    const struct gmt_try_report *report;
    struct gmt_plan plan; /* its programs */
};

/* 0 or negative errno. */
static int add_program(const char *path, struct gmt_plan *plan)
{
    char hash[33];
    for (unsigned i = 0; i < plan->program_count; i++) {
        if (strcmp(gmt_plan_path(plan, i), path) == 0) {
            return 0;
        }
    }
    gmt_plan_hash_file(path, hash);
    if (hash[0] == '\0' || strchr(path, '\n') != NULL) {
        gmt_say(stderr, "gmtrace: '%s', which made CUDA calls, cannot be read from here\n", path);
        return -ENOENT;
    }
    if (gmt_plan_is_for(plan, hash)) {
        return 0;
    }
    if (!gmt_plan_add(plan, hash, path)) {
        gmt_say(stderr,
                "gmtrace: more than %d programs made CUDA calls, or their paths are too long "
                "together; try them one by one\n",
                GMT_PLAN_PROGRAMS);
        return -E2BIG;
    }
    return 0;
}

/* A plan is for those that make CUDA calls: what was started may be a script, or another program that starts them. */
static int add_programs(const struct gmt_try_reference *reference, struct gmt_plan *plan)
{
    int error = reference->program_count != 0 ? 0 : -ENOENT;
    for (size_t i = 0; i < reference->program_count && error == 0; i++) {
        error = add_program(reference->programs[i].exe, plan);
    }
    for (unsigned i = 0; i < plan->program_count && plan->program_count > 1 && error == 0; i++) {
        gmt_say(stderr, "gmtrace: the plan is for program %u of %u that made CUDA calls: %s\n",
                i + 1, plan->program_count, gmt_plan_path(plan, i));
    }
    return error;
}

static int write_plan(void *context, FILE *file)
{
    const struct plan_file *to = context;
    const struct gmt_try_report *report = to->report;
    (void)fprintf(file, "%s\n", GMT_PLAN_FIRST_LINE);
    for (unsigned i = 0; i < to->plan.program_count; i++) {
        (void)fprintf(file, "program %s %s\n", to->plan.programs[i].hash,
                      gmt_plan_path(&to->plan, i));
    }
    for (size_t i = 0; i < report->count; i++) {
        const struct gmt_try_outcome *outcome = &report->outcomes[i];
        if (gmt_try_is_for_plan(report, i)) {
            const struct gmt_try_sweep *swept = outcome->set.swept[outcome->fix];
            (void)fprintf(file, "fix %s %s", gmt_fixes[outcome->fix].name,
                          gmt_fix_states[outcome->state]);
            if (swept != NULL) {
                (void)fprintf(file, " %s=%" PRId64, gmt_fix_parameters[swept->parameter].name,
                              swept->value);
            }
            (void)fputc('\n', file);
        }
    }
    return 0;
}

int gmt_try_write_plan(const struct gmt_try_report *report)
{
    static struct plan_file to;
    to = (struct plan_file){.report = report};
    int error = add_programs(report->reference, &to.plan);
    return error != 0 ? error : gmt_file_write(report->options->output, write_plan, &to);
}
