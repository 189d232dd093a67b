/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: verdict, findings as cards, tables, and what could not be checked. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/text_parts.h"
#include "reports/writers.h"

static void head(struct gmt_text_out *t, const struct gmt_report *report)
{
    fputc('\n', t->out);
    gmt_text_style(t, GMT_STYLE_BOLD);
    fputs("  ", t->out);
    gmt_print_clean(t->out, report->command != NULL ? report->command : report->trace_path,
                    GMT_TEXT_COLUMNS - 4);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputs("\n  ", t->out);
    gmt_text_style(t, GMT_STYLE_DIM);
    size_t used = gmt_print_clean(
        t->out, report->device_name != NULL ? report->device_name : "no GPU recorded", 40);
    if (report->compute_capability != NULL)
        used += (size_t)fprintf(t->out, ", compute %s", report->compute_capability);
    if (report->driver_version != NULL) {
        fputs(", driver ", t->out);
        used += 9 + gmt_print_clean(t->out, report->driver_version, 16);
    }
    fputs(" · ", t->out);
    gmt_print_clean(t->out, report->trace_path, GMT_TEXT_COLUMNS - used - 6);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    if (report->simulated) {
        fputs("\n  ", t->out);
        gmt_text_style(t, GMT_STYLE_YELLOW);
        fputs(GMT_SIMULATED_BADGE, t->out);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    if (report->range_limit != NULL) {
        fputs("\n  ", t->out);
        gmt_text_style(t, GMT_STYLE_YELLOW);
        fputs("only calls inside of ranges named ", t->out);
        gmt_print_clean(t->out, report->range_limit, 60);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputs("\n\n", t->out);
}

enum { CELLS = 6, CELL_ROWS = 3, CELL_BYTES = 64 };

/* "16,449 calls"; millions are rounded, so that the strip always fits the page. */
static void counted(char *text, double count, const char *one, const char *many)
{
    char number[GMT_FORMAT_BYTES];

    if (count >= 1e6)
        snprintf(number, sizeof(number), "%.*f M", count < 1e8 ? 2 : 0, count / 1e6);
    else
        gmt_format_count(number, count);
    snprintf(text, CELL_BYTES, "%s %s", number, count == 1 ? one : many);
}

/* Widths that cut nothing: each column as wide as its widest cell, and as much space as there is. */
static void fit_cells(char cells[CELL_ROWS][CELLS][CELL_BYTES], size_t widths[CELLS])
{
    size_t used = 2, gap;

    for (int i = 0; i < CELLS; i++) {
        widths[i] = 0;
        for (int row = 0; row < CELL_ROWS; row++) {
            size_t length = gmt_clean_length(cells[row][i]);

            widths[i] = length > widths[i] ? length : widths[i];
        }
        used += widths[i];
    }
    gap = used < GMT_TEXT_COLUMNS ? (GMT_TEXT_COLUMNS - used) / (CELLS - 1) : 1;
    gap = gap > 6 ? 6 : gap;
    for (int i = 0; i < CELLS; i++)
        widths[i] += gap < 2 ? 2 : gap;
    widths[CELLS - 1] = 0;
}

static void verdict(struct gmt_text_out *t, const struct gmt_report *r)
{
    char cells[CELL_ROWS][CELLS][CELL_BYTES] = {
        {"wall time", "GPU busy", "copies", "kernels", "peak memory", "measured"}};
    size_t widths[CELLS];

    gmt_format_ns(cells[1][0], r->wall_ns);
    gmt_format_percent(cells[1][1], 100 * r->gpu_busy_ns / r->wall_ns);
    gmt_format_ns(cells[1][2], r->copy_ns);
    gmt_format_ns(cells[1][3], r->kernel_ns);
    gmt_format_bytes(cells[1][4], r->peak_device_bytes);
    counted(cells[1][5], (double)r->measured_launches, "launch", "launches");
    snprintf(cells[2][0], CELL_BYTES, "%s", r->end_reason != NULL ? r->end_reason : "");
    gmt_text_bar(cells[2][1], CELL_BYTES, r->gpu_busy_ns / r->wall_ns, 12);
    counted(cells[2][2], (double)r->transfers, "call", "calls");
    counted(cells[2][3], (double)r->launches, "launch", "launches");
    counted(cells[2][4], r->allocation_count, "allocation", "allocations");
    snprintf(cells[2][5], CELL_BYTES, "%" PRIu64 "/%" PRIu64 " classes", r->measured_classes,
             r->kernel_classes);
    fit_cells(cells, widths);
    for (int row = 0; row < CELL_ROWS; row++) {
        fputs("  ", t->out);
        gmt_text_style(t, row == 1 ? GMT_STYLE_BOLD : GMT_STYLE_DIM);
        for (int i = 0; i < CELLS; i++)
            gmt_text_cell(t, cells[row][i], widths[i], false);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputc('\n', t->out);
    }
    fputc('\n', t->out);
}

static void copies(struct gmt_text_out *t, const struct gmt_report *r)
{
    double longest = 0;

    for (size_t i = 0; i < r->copy_total_count; i++)
        longest = fmax(longest, r->copy_totals[i].time_ns);
    for (size_t i = 0; i < r->copy_total_count; i++) {
        const struct gmt_transfer_row *row = &r->copy_totals[i];
        char text[GMT_FORMAT_BYTES], bar[128];

        fputs("  ", t->out);
        gmt_text_cell(t, row->direction, 5, false);
        gmt_text_cell(t, row->host_class, 10, false);
        gmt_text_cell(t, gmt_format_count(text, (double)row->count), 11, true);
        gmt_text_cell(t, gmt_format_bytes(text, row->bytes), 11, true);
        gmt_text_cell(t, gmt_format_ns(text, row->time_ns), 11, true);
        gmt_text_cell(t, gmt_format_rate(text, row->bytes * 1e9 / row->time_ns), 12, true);
        gmt_text_bar(bar, sizeof(bar), row->time_ns / longest, 32);
        gmt_text_style(t, GMT_STYLE_CYAN);
        fprintf(t->out, "  %s\n", bar);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    if (r->copy_total_count > 0)
        fputc('\n', t->out);
}

static const enum gmt_text_style severity_styles[] = {[GMT_SEVERITY_NOTE] = GMT_STYLE_DIM,
                                                      [GMT_SEVERITY_LOW] = GMT_STYLE_CYAN,
                                                      [GMT_SEVERITY_MEDIUM] = GMT_STYLE_YELLOW,
                                                      [GMT_SEVERITY_HIGH] = GMT_STYLE_RED};

static void saving_text(const struct gmt_report *r, const struct gmt_finding *f, char *text,
                        size_t bytes)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (isnan(f->saving.best_ns) && f->excess_bytes > 0)
        snprintf(text, bytes, "%s moved for nothing", gmt_format_bytes(time, f->excess_bytes));
    else if (isnan(f->saving.best_ns) && f->saved_peak_bytes > 0)
        snprintf(text, bytes, "%s less at the peak", gmt_format_bytes(time, f->saved_peak_bytes));
    else if (isnan(f->saving.best_ns))
        snprintf(text, bytes, r->simulated ? GMT_SIMULATED_TIME : "not priced");
    else
        snprintf(text, bytes, "saves %s (%s)", gmt_format_ns(time, f->saving.best_ns),
                 gmt_format_percent(share, 100 * f->saving.share));
}

static void card_where(struct gmt_text_out *t, const struct gmt_report *r,
                       const struct gmt_finding *f)
{
    const struct gmt_where *w = &f->where;
    size_t left = GMT_TEXT_COLUMNS - 5;

    fputs("     ", t->out);
    gmt_text_style(t, GMT_STYLE_BOLD);
    if (w->kernel != NULL) {
        bool placed = strcmp(w->label, w->kernel) != 0;

        left -= gmt_print_clean(t->out, w->kernel, placed ? left - 40 : left);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        if (!placed) {
            fputc('\n', t->out);
            return;
        }
        fputs(" launched at ", t->out);
        left -= 13;
    }
    left -= gmt_print_clean(t->out, w->label, left);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    const char *api = w->kernel == NULL ? w->api : NULL;
    size_t api_length = api != NULL ? 3 + gmt_clean_length(api) : 0;
    if (w->function != NULL && left > 12) {
        size_t all = gmt_clean_length(w->function), room = left - 4;

        /* Its parameters are what the line can do without best. */
        if (all + api_length > room)
            all = strcspn(w->function, "(");
        if (api_length < room && all + api_length > room)
            room -= api_length;
        fputs(" in ", t->out);
        char *name = gmt_arena_text(r->arena, "%.*s", (int)all, w->function);
        left -= 4 + gmt_print_clean(t->out, name, room);
    }
    if (api != NULL && left > 12) {
        gmt_text_style(t, GMT_STYLE_DIM);
        fputs(" · ", t->out);
        gmt_print_clean(t->out, api, left - 3);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputc('\n', t->out);
}

/* The cases of a merged finding. */
static void card_parts(struct gmt_text_out *t, const struct gmt_finding *f)
{
    enum { SHOWN = 6 };

    for (size_t i = 0; i < f->part_count && i < SHOWN; i++) {
        const struct gmt_finding_part *part = &f->parts[i];
        char text[512], time[GMT_FORMAT_BYTES];

        /* The headline has the largest already. */
        if (i == 0 && part->label == part->headline)
            continue;
        if (isfinite(part->best_ns) && part->label != part->headline)
            snprintf(text, sizeof(text), "%s: saves %s", part->label,
                     gmt_format_ns(time, part->best_ns));
        else
            snprintf(text, sizeof(text), "%s", part->label);
        gmt_text_wrap(t, 5, "  - ", text);
    }
    if (f->part_count > SHOWN)
        fprintf(t->out, "       … and %zu more\n", f->part_count - SHOWN);
}

/* Why its place has no better name: what was said of a finding before is not said again. */
static void card_note(struct gmt_text_out *t, const struct gmt_report *r,
                      const struct gmt_finding *f)
{
    if (f->where.note == NULL)
        return;
    for (const struct gmt_finding *before = r->findings; before < f; before++) {
        if (before->where.note != NULL && strcmp(before->where.note, f->where.note) == 0)
            return;
    }
    gmt_text_wrap(t, 5, "names   ", f->where.note);
}

static void card(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_finding *f,
                 size_t number)
{
    char saving[96], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    size_t used;

    saving_text(r, f, saving, sizeof(saving));
    fprintf(t->out, "%3zu  ", number);
    gmt_text_style(t, severity_styles[f->severity]);
    used = 5 + (size_t)fprintf(t->out, "%-7s", gmt_severity_name(f->severity));
    gmt_text_style(t, GMT_STYLE_BOLD);
    used += (size_t)fprintf(t->out, "%s %s", f->rule, f->slug);
    size_t length = gmt_clean_length(saving);
    for (; used + length < GMT_TEXT_COLUMNS; used++)
        fputc(' ', t->out);
    gmt_text_style(t, GMT_STYLE_GREEN);
    fprintf(t->out, "%s\n", saving);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    card_where(t, r, f);
    gmt_text_wrap(t, 5, "", f->headline);
    card_note(t, r, f);
    if (f->range != NULL)
        gmt_text_wrap(t, 5, "range   ", f->range);
    gmt_text_lines(t, r, f);
    card_parts(t, f);
    if (isfinite(f->saving.best_ns)) {
        char text[512];

        snprintf(text, sizeof(text), "%s to %s, %s: %s", gmt_format_ns(low, f->saving.low_ns),
                 gmt_format_ns(high, f->saving.high_ns), gmt_confidence_words(r, f->confidence),
                 f->method != NULL ? f->method : "");
        gmt_text_wrap(t, 5, "saving  ", text);
    } else if (f->method != NULL) {
        gmt_text_wrap(t, 5, "saving  ", f->method);
    }
    if (isfinite(f->saving.best_ns) && f->saved_peak_bytes > 0)
        gmt_text_wrap(t, 5, "memory  ",
                      gmt_arena_text(r->arena, "the peak of %s is %s lower", f->saved_peak_of,
                                     gmt_format_bytes(low, f->saved_peak_bytes)));
    if (f->fix != NULL)
        gmt_text_wrap(t, 5, "fix     ", f->fix);
    if (f->sketch != NULL)
        gmt_text_code(t, 13, f->sketch);
    fputc('\n', t->out);
}

/* What the findings of one kernel come to when all of them are repaired. */
static void joint(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_joint *j)
{
    char best[GMT_FORMAT_BYTES], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    char text[GMT_FORMAT_BYTES], of[GMT_FORMAT_BYTES + 8] = "";
    const char *parts = "";

    for (size_t i = 0; i < j->part_count; i++)
        parts = gmt_arena_text(r->arena, "%s%s#%zu %s %s", parts, i > 0 ? ", " : "",
                               j->parts[i].finding + 1, r->findings[j->parts[i].finding].rule,
                               gmt_format_percent(text, 100 * j->parts[i].share));
    if (isfinite(j->cost_ns))
        snprintf(of, sizeof(of), " of %s", gmt_format_ns(text, j->cost_ns));
    gmt_text_wrap(t, 5, "together  ",
                  gmt_arena_text(r->arena, "%s: about %s (%s to %s)%s: %s", j->kernel,
                                 gmt_format_ns(best, j->saving.best_ns),
                                 gmt_format_ns(low, j->saving.low_ns),
                                 gmt_format_ns(high, j->saving.high_ns), of, parts));
}

static void findings(struct gmt_text_out *t, const struct gmt_report *r, size_t top)
{
    char text[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    /* A line that says "one more" would take the place of one more. */
    size_t shown = top > 0 && top + 1 < r->finding_count ? top : r->finding_count;

    if (r->finding_count == 0) {
        gmt_text_heading(t, r->notes == NULL ? "No findings" : "No findings, some notes");
        gmt_text_wrap(
            t, 2, "",
            r->simulated
                ? "Nothing that was checked does a noticeable part of its work for nothing."
                : "Nothing that was checked would save a noticeable part of the run.");
        fputc('\n', t->out);
        return;
    }
    char title[160];
    if (r->combined.best_ns > 0)
        snprintf(title, sizeof(title), "%zu finding%s, together about %s (%s of the run)",
                 r->finding_count, r->finding_count == 1 ? "" : "s",
                 gmt_format_ns(text, r->combined.best_ns),
                 gmt_format_percent(share, 100 * r->combined.share));
    else
        snprintf(title, sizeof(title), "%zu finding%s", r->finding_count,
                 r->finding_count == 1 ? "" : "s");
    gmt_text_heading(t, title);
    if (r->finding_count > 1 && r->combined.best_ns > 0)
        gmt_text_wrap(t, 2, "", "Savings that overlap count once in the sum.");
    fputc('\n', t->out);
    for (size_t i = 0; i < shown; i++)
        card(t, r, &r->findings[i], i + 1);
    if (shown < r->finding_count)
        fprintf(t->out, "     … and %zu smaller findings (--top 0 shows all)\n\n",
                r->finding_count - shown);
    for (size_t i = 0; i < r->joint_count && (top == 0 || i < top); i++)
        joint(t, r, &r->joints[i]);
    if (r->joint_count > 0)
        fputc('\n', t->out);
}

static int write_text(const struct gmt_report *report, const struct gmt_writer_options *options,
                      FILE *out)
{
    struct gmt_text_out t = {.out = out, .color = options->color};

    head(&t, report);
    verdict(&t, report);
    copies(&t, report);
    gmt_text_failures(&t, report);
    findings(&t, report, options->top);
    gmt_text_notes(&t, report, options->top);
    gmt_text_ranges(&t, report, options->top);
    gmt_text_races(&t, report);
    gmt_text_kernels(&t, report, options->top);
    gmt_text_memory(&t, report, options->top);
    gmt_text_gaps(&t, report);
    gmt_text_foot(&t, report);
    gmt_text_coverage(&t, report);
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_text = {.name = "text", .extension = "txt", .write = write_text};
