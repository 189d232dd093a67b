/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report below its findings: notes, kernels, gaps, and what priced it all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/words.h"
#include "reports/text/text_parts.h"

void gmt_text_lines(struct gmt_text_out *t, const struct gmt_report *report,
                    const struct gmt_finding *finding)
{
    enum { FEW = 2 };
    size_t shown = t->detail->only_counts && finding->line_count > FEW ? FEW : finding->line_count;

    for (size_t i = 0; i < shown; i++) {
        const struct gmt_finding_line *line = &finding->lines[i];
        char share[GMT_FORMAT_BYTES];

        gmt_text_wrap(
            t, 5, i == 0 ? "source  " : "        ",
            gmt_arena_text(report->arena, "%s, %s: %s of %s", gmt_line_label(report->arena, line),
                           line->opcode != NULL ? line->opcode : "?",
                           gmt_format_percent(share, 100 * line->share), gmt_lines_of(finding)));
        if (line->code != NULL) {
            gmt_text_wrap(t, 13, "", gmt_line_quote(report->arena, line));
        }
        if (line->caller_code != NULL) {
            gmt_text_wrap(t, 13, "", gmt_arena_text(report->arena, "by %s", line->caller_code));
        }
    }
    const char *remedy = shown > 0 ? gmt_line_remedy(&finding->lines[0]) : NULL;
    if (remedy != NULL) {
        gmt_text_wrap(t, 13, "", remedy);
    }
}

/* Where, what and how much, in one line. */
static void note_line(struct gmt_text_out *t, const struct gmt_report *report,
                      const struct gmt_finding *f)
{
    enum { INDENT = 4, PLACE = 34, LEAST = 16 };
    const char *size = gmt_finding_size(report->arena, f);
    size_t left = t->columns - INDENT - gmt_clean_length(size);

    left -= (size_t)fprintf(t->out, "%*s%s ", INDENT, "", f->rule) - INDENT;
    left -= gmt_print_clean(t->out,
                            f->where.kernel != NULL ? gmt_where_kernel(&f->where) : f->where.label,
                            left > PLACE + LEAST ? PLACE : LEAST);
    left -= (size_t)fprintf(t->out, ": ");
    if (size[0] != '\0') {
        gmt_text_cell(t, f->headline != NULL ? f->headline : f->title, left, false);
    } else {
        gmt_print_clean(t->out, f->headline != NULL ? f->headline : f->title, left);
    }
    fprintf(t->out, "%s\n", size);
}

void gmt_text_notes(struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t top = t->detail->notes;
    size_t shown = top > 0 && top + 1 < report->note_count ? top : report->note_count;

    if (report->note_count == 0) {
        return;
    }
    if (t->detail->only_counts) {
        fprintf(t->out, "  %zu note%s: seen, but not worth a change (--top 0 shows all)\n\n",
                report->note_count, report->note_count == 1 ? "" : "s");
        return;
    }
    gmt_text_heading(t, "Notes: seen, but not worth a change");
    for (size_t i = 0, end; i < shown; i = end) {
        end = gmt_note_group_end(report, i);
        gmt_text_wrap(t, 2, "", gmt_arena_text(report->arena, "%s:", report->notes[i].note_why));
        for (size_t k = i; k < end && k < shown; k++) {
            note_line(t, report, &report->notes[k]);
        }
    }
    if (shown < report->note_count) {
        fprintf(t->out, "  … and %zu more (--top 0 shows all)\n", report->note_count - shown);
    }
    fputc('\n', t->out);
}

/* What the other columns of the table of kernels take of a line. */
enum { KERNEL_COLUMNS = 67, LEAST_NAME = 16 };

/* The column of names takes what the others leave. */
static size_t name_columns(const struct gmt_text_out *t, size_t others)
{
    return t->columns > others + LEAST_NAME ? t->columns - others : LEAST_NAME;
}

void gmt_text_races(struct gmt_text_out *t, const struct gmt_report *report)
{
    if (report->race_count == 0) {
        return;
    }
    gmt_text_heading(t, "Races in shared memory: no barrier between two accesses to one word");
    for (size_t i = 0; i < report->race_count; i++) {
        const struct gmt_race_row *race = &report->races[i];
        char count[GMT_FORMAT_BYTES];

        gmt_text_wrap(t, 2, "",
                      gmt_arena_text(report->arena, "%s: %s (%s) and %s (%s), %s time%s",
                                     race->kernel != NULL ? race->kernel : "?",
                                     gmt_line_label(report->arena, &race->first),
                                     race->first.opcode != NULL ? race->first.opcode : "?",
                                     gmt_line_label(report->arena, &race->second),
                                     race->second.opcode != NULL ? race->second.opcode : "?",
                                     gmt_format_count(count, race->count),
                                     race->count == 1 ? "" : "s"));
    }
    fputc('\n', t->out);
}

static void occupancy(const struct gmt_kernel_row *row, char *text, size_t bytes)
{
    char achieved[GMT_FORMAT_BYTES], theoretical[GMT_FORMAT_BYTES];

    snprintf(text, bytes, "%s/%s", gmt_format_decimal(achieved, 100 * row->achieved_occupancy, 0),
             gmt_format_decimal(theoretical, 100 * row->theoretical_occupancy, 0));
}

static void kernel_line(struct gmt_text_out *t, const struct gmt_kernel_row *row)
{
    char text[80], time[GMT_FORMAT_BYTES];

    fputs("  ", t->out);
    gmt_text_cell(t, row->title != NULL ? row->title : row->name, name_columns(t, KERNEL_COLUMNS),
                  false);
    gmt_text_cell(t, gmt_format_count(text, (double)row->launches), 9, true);
    gmt_format_ns(time, row->device_ns);
    snprintf(text, sizeof(text), "%s%s",
             row->by_cycles       ? "~"
             : row->estimated > 0 ? "≈"
                                  : "",
             time);
    gmt_text_cell(t, text, 10, true);
    gmt_text_cell(t, gmt_format_percent(text, 100 * row->share), 9, true);
    gmt_text_cell(t, gmt_format_decimal(text, row->load_efficiency, 0), 7, true);
    gmt_text_cell(t, gmt_format_decimal(text, row->store_efficiency, 0), 7, true);
    gmt_text_cell(t, gmt_format_decimal(text, row->shared_ways, 1), 8, true);
    occupancy(row, text, sizeof(text));
    gmt_text_cell(t, text, 10, true);
    fputc('\n', t->out);
    /* What lifts the occupancy of a library's kernel is nothing that the user can change. */
    if (!t->detail->lifts || row->origin != NULL || row->occupancy == NULL ||
        row->occupancy->lift == NULL) {
        return;
    }
    gmt_text_style(t, GMT_STYLE_DIM);
    gmt_text_wrap(t, 4, "", row->occupancy->lift);
    gmt_text_style(t, GMT_STYLE_PLAIN);
}

void gmt_text_kernels(struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t top = t->detail->kernels;
    size_t shown = top > 0 && top + 1 < report->kernel_count ? top : report->kernel_count;
    bool by_cycles = false;
    double estimated = 0, launches = 0, squares = 0;

    if (report->kernel_count == 0) {
        return;
    }
    gmt_text_heading(t, "Kernels");
    gmt_text_style(t, GMT_STYLE_DIM);
    fputs("  ", t->out);
    gmt_text_cell(t, "", name_columns(t, KERNEL_COLUMNS), false);
    gmt_text_cell(t, "launches", 9, true);
    gmt_text_cell(t, report->modelled ? "modelled" : "time", 10, true);
    gmt_text_cell(t, "of run", 9, true);
    gmt_text_cell(t, "load%", 7, true);
    gmt_text_cell(t, "store%", 7, true);
    gmt_text_cell(t, "n-way", 8, true);
    gmt_text_cell(t, "occup.%", 10, true);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
    for (size_t i = 0; i < shown; i++) {
        kernel_line(t, &report->kernels[i]);
        by_cycles |= report->kernels[i].by_cycles;
    }
    for (size_t i = 0; i < report->kernel_count; i++) {
        estimated += (double)report->kernels[i].estimated;
        launches += (double)report->kernels[i].launches;
        squares += report->kernels[i].estimated > 0 ? report->kernels[i].estimated_error_ns *
                                                          report->kernels[i].estimated_error_ns
                                                    : 0;
    }
    if (shown < report->kernel_count) {
        fprintf(t->out, "  … and %zu more (--top 0 shows all)\n", report->kernel_count - shown);
    }
    gmt_text_style(t, GMT_STYLE_DIM);
    if (!t->detail->only_counts) {
        gmt_text_wrap(
            t, 2, "",
            "load%, store%: bytes asked for / bytes of the sectors touched. n-way: shared-memory "
            "passes / ideal. occup.%: achieved / theoretical. –: not measured.");
    }
    if (estimated > 0) {
        char note[160], some[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES];

        snprintf(note, sizeof(note),
                 "≈: %s of all %s launches have no device time; the mean of their kernel stands "
                 "for them, which makes the sum of all right within %s (95 %%).",
                 gmt_format_count(some, estimated), gmt_format_count(all, launches),
                 gmt_format_ns(error, sqrt(squares)));
        gmt_text_wrap(t, 2, "", note);
    }
    if (by_cycles) {
        gmt_text_wrap(t, 2, "", "~: no launch has a device time, so it is computed from cycles.");
    }
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
}

enum { GAP_LABEL = 31 }; /* "GM202 misaligned-suballocation" fits */

static const char *remedy_of(const struct gmt_gap *gap)
{
    return gap->remedy != NULL ? gap->remedy : "";
}

/* Where one stands in the report. */
struct gap_line {
    const struct gmt_gap *gap;
};

/* Those of one reason together, in the order of the report. */
static int compare_reasons(const void *a, const void *b)
{
    const struct gmt_gap *x = ((const struct gap_line *)a)->gap,
                         *y = ((const struct gap_line *)b)->gap;
    int why = strcmp(x->why, y->why), remedy = strcmp(remedy_of(x), remedy_of(y));

    return why != 0 ? why : remedy != 0 ? remedy : (x > y) - (x < y);
}

/* What one reason keeps from being checked. */
struct reason {
    struct gap_line *gaps;
    size_t count;
};

static int compare_first_gaps(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;

    return (x->gaps[0].gap > y->gaps[0].gap) - (x->gaps[0].gap < y->gaps[0].gap);
}

/* In the order of the report. A trace may name any number of things that are missing. */
static size_t find_reasons(const struct gmt_report *report, struct gmt_arena *arena,
                           struct reason **reasons)
{
    size_t n = report->gap_count, count = 0;
    struct gap_line *sorted = gmt_arena_alloc(arena, n * sizeof(*sorted));
    struct reason *found = gmt_arena_alloc(arena, n * sizeof(*found));

    if (sorted == NULL || found == NULL) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i].gap = &report->gaps[i];
    }
    qsort(sorted, n, sizeof(*sorted), compare_reasons);
    for (size_t i = 0; i < n; i++) {
        const struct gmt_gap *gap = sorted[i].gap;
        const struct gmt_gap *last = count > 0 ? found[count - 1].gaps[0].gap : NULL;

        if (last == NULL || strcmp(last->why, gap->why) != 0 ||
            strcmp(remedy_of(last), remedy_of(gap)) != 0) {
            found[count++] = (struct reason){.gaps = &sorted[i]};
        }
        found[count - 1].count++;
    }
    qsort(found, count, sizeof(*found), compare_first_gaps);
    *reasons = found;
    return count;
}

/* "GM202, GM203, device times": rules by their ids. */
static const char *checks_of(struct gmt_arena *arena, const struct reason *reason)
{
    size_t bytes = 1;

    for (size_t i = 0; i < reason->count; i++) {
        bytes += strlen(reason->gaps[i].gap->what) + 2;
    }
    char *text = gmt_arena_alloc(arena, bytes), *at = text;
    if (text == NULL) {
        return "";
    }
    for (size_t i = 0; i < reason->count; i++) {
        const char *what = reason->gaps[i].gap->what;
        bool rule = strncmp(what, "GM", 2) == 0;

        at += snprintf(at, bytes - (size_t)(at - text), "%s%.*s", i > 0 ? ", " : "",
                       (int)(rule ? strcspn(what, " ") : strlen(what)), what);
    }
    return text;
}

/* One line where each check had one. */
static void gaps_by_reason(struct gmt_text_out *t, const struct gmt_report *report)
{
    struct gmt_arena arena = {0};
    struct reason *reasons = NULL;
    size_t n = find_reasons(report, &arena, &reasons), most = t->detail->gaps;
    size_t shown = most == 1 ? 0 : most > 0 && most + 1 < n ? most : n;

    for (size_t i = 0; i < shown; i++) {
        const struct gmt_gap *gap = reasons[i].gaps[0].gap;
        struct gmt_arena line = {0};

        gmt_text_wrap(t, 2, "",
                      gmt_arena_text(&line, "%s: %s%s%s%s", checks_of(&line, &reasons[i]), gap->why,
                                     gap->remedy != NULL ? " (" : "", remedy_of(gap),
                                     gap->remedy != NULL ? ")" : ""));
        gmt_arena_free(&line);
    }
    if (shown < n) {
        fprintf(t->out, "  %s%zu %sreason%s (--top 0 shows all)\n",
                shown > 0 ? "… and for " : "for ", n - shown, shown > 0 ? "more " : "",
                n - shown == 1 ? "" : "s");
    }
    gmt_arena_free(&arena);
    fputc('\n', t->out);
}

void gmt_text_gaps(struct gmt_text_out *t, const struct gmt_report *report)
{
    if (report->gap_count == 0) {
        return;
    }
    gmt_text_heading(t, "Could not check");
    if (t->detail->only_counts) {
        gaps_by_reason(t, report);
        return;
    }
    size_t width = 0;
    for (size_t i = 0; i < report->gap_count; i++) {
        size_t length = gmt_clean_length(report->gaps[i].what);

        width = length > width && length <= GAP_LABEL ? length : width;
    }
    for (size_t i = 0; i < report->gap_count; i++) {
        const struct gmt_gap *gap = &report->gaps[i];
        size_t length = gmt_clean_length(gap->what);
        const char *text = gmt_arena_text(
            report->arena, "%s%s%s%s", gap->why, gap->remedy != NULL ? " (" : "",
            gap->remedy != NULL ? gap->remedy : "", gap->remedy != NULL ? ")" : "");

        /* A label that is wider than its column stands before the text. */
        if (length > width) {
            text = gmt_arena_text(report->arena, "%s: %s", gap->what, text);
        }
        gmt_text_wrap(t, 2,
                      gmt_arena_text(report->arena, "%s%*s ", length > width ? "" : gap->what,
                                     (int)(length > width ? width : width - length), ""),
                      text);
    }
    fputc('\n', t->out);
}

/* " (FILE)": the model's file, which has no place in a text that is to fit a screen. */
static const char *model_file(const struct gmt_text_out *t, const struct gmt_report *report)
{
    return t->detail->only_counts || report->model_origin == NULL
               ? ""
               : gmt_arena_text(report->arena, " (%s)", report->model_origin);
}

static const char *price_text(const struct gmt_text_out *t, const struct gmt_report *report)
{
    const char *device = report->model_device != NULL ? report->model_device : "another GPU";
    const char *noisy = report->model_noisy ? ", noisy" : "";
    const char *file = model_file(t, report);

    if (report->modelled) {
        return gmt_arena_text(report->arena,
                              "modelled for %s from exact counts and its device model%s%s: nothing "
                              "was measured, and times of the host are not known; --model FILE "
                              "takes another device",
                              gmt_modelled_device(report), file, noisy);
    }
    if (report->simulated) {
        return "none: the software device executes on the CPU; its times say nothing about a GPU";
    }

    switch (report->model_provenance) {
    case GMT_MODEL_CALIBRATED:
        return gmt_arena_text(report->arena, "calibrated on this device%s%s%s%s",
                              report->model_created != NULL ? ", " : "",
                              report->model_created != NULL ? report->model_created : "", file,
                              noisy);
    case GMT_MODEL_SAME_NAME:
        return gmt_arena_text(report->arena, "calibrated on another device: %s%s%s", device, file,
                              noisy);
    case GMT_MODEL_SHIPPED:
        return gmt_arena_text(report->arena,
                              "modelled with the device model of another %s, shipped with "
                              "gmtrace%s%s, not of your device; gmtrace calibrate measures yours",
                              device, file, noisy);
    case GMT_MODEL_MODELLED:
        return gmt_arena_text(
            report->arena,
            "modelled with the %s model, not your device%s%s; gmtrace calibrate on the "
            "machine with the GPU measures its own",
            device, file, noisy);
    case GMT_MODEL_NONE: break;
    }
    return "no device model: nothing could be priced";
}

void gmt_text_foot(struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t by_outcome[4] = {0};

    for (size_t i = 0; i < report->rule_count; i++) {
        by_outcome[report->rules[i].outcome]++;
    }
    gmt_text_wrap(t, 2, "prices  ", price_text(t, report));
    gmt_text_wrap(
        t, 2, "rules   ",
        gmt_arena_text(report->arena,
                       "%zu failed, %zu passed, %zu not applicable, %zu could not be "
                       "checked; gmanalyze --explain ID shows how each is found and priced",
                       by_outcome[GMT_OUTCOME_FAIL], by_outcome[GMT_OUTCOME_PASS],
                       by_outcome[GMT_OUTCOME_NOT_APPLICABLE],
                       by_outcome[GMT_OUTCOME_COULD_NOT_CHECK]));
}
