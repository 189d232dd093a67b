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
    fputs("\n\n", t->out);
}

static void verdict(struct gmt_text_out *t, const struct gmt_report *r)
{
    enum { CELLS = 6 };
    static const size_t widths[CELLS] = {13, 15, 15, 19, 20, 0};
    static const char *const titles[CELLS] = {"wall time", "GPU busy",    "copies",
                                              "kernels",   "peak memory", "measured"};
    char value[CELLS][GMT_FORMAT_BYTES], sub[CELLS][64], number[GMT_FORMAT_BYTES];

    gmt_format_ns(value[0], r->wall_ns);
    gmt_format_percent(value[1], 100 * r->gpu_busy_ns / r->wall_ns);
    gmt_format_ns(value[2], r->copy_ns);
    gmt_format_ns(value[3], r->kernel_ns);
    gmt_format_bytes(value[4], r->peak_device_bytes);
    snprintf(value[5], sizeof(value[5]), "%" PRIu64 " launch%s", r->measured_launches,
             r->measured_launches == 1 ? "" : "es");
    snprintf(sub[0], sizeof(sub[0]), "%s", r->end_reason != NULL ? r->end_reason : "");
    gmt_text_bar(sub[1], sizeof(sub[1]), r->gpu_busy_ns / r->wall_ns, 12);
    snprintf(sub[2], sizeof(sub[2]), "%s call%s", gmt_format_count(number, (double)r->transfers),
             r->transfers == 1 ? "" : "s");
    snprintf(sub[3], sizeof(sub[3]), "%s launch%s", gmt_format_count(number, (double)r->launches),
             r->launches == 1 ? "" : "es");
    snprintf(sub[4], sizeof(sub[4]), "%s allocation%s",
             gmt_format_count(number, r->allocation_count), r->allocation_count > 1 ? "s" : "");
    snprintf(sub[5], sizeof(sub[5]), "%" PRIu64 "/%" PRIu64 " classes", r->measured_classes,
             r->kernel_classes);
    for (int row = 0; row < 3; row++) {
        fputs("  ", t->out);
        gmt_text_style(t, row == 1 ? GMT_STYLE_BOLD : GMT_STYLE_DIM);
        for (int i = 0; i < CELLS; i++)
            gmt_text_cell(t, row == 0 ? titles[i] : row == 1 ? value[i] : sub[i], widths[i], false);
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

static void saving_text(const struct gmt_finding *f, char *text, size_t bytes)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (isnan(f->saving.best_ns) && f->excess_bytes > 0)
        snprintf(text, bytes, "%s moved for nothing", gmt_format_bytes(time, f->excess_bytes));
    else if (isnan(f->saving.best_ns))
        snprintf(text, bytes, "not priced");
    else
        snprintf(text, bytes, "saves %s (%s)", gmt_format_ns(time, f->saving.best_ns),
                 gmt_format_percent(share, 100 * f->saving.share));
}

static void card_where(struct gmt_text_out *t, const struct gmt_finding *f)
{
    const struct gmt_where *w = &f->where;
    size_t left = GMT_TEXT_COLUMNS - 5;

    fputs("     ", t->out);
    gmt_text_style(t, GMT_STYLE_BOLD);
    if (w->kernel != NULL) {
        left -= gmt_print_clean(t->out, w->kernel, left - 40);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputs(" launched at ", t->out);
        left -= 13;
    }
    left -= gmt_print_clean(t->out, w->label, left);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    if (w->function != NULL && left > 12) {
        fputs(" in ", t->out);
        left -= 4 + gmt_print_clean(t->out, w->function, left - 4);
    }
    if (w->api != NULL && w->kernel == NULL && left > 12) {
        gmt_text_style(t, GMT_STYLE_DIM);
        fputs(" · ", t->out);
        gmt_print_clean(t->out, w->api, left - 3);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputc('\n', t->out);
}

static void card(struct gmt_text_out *t, const struct gmt_finding *f, size_t number)
{
    char saving[96], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    size_t used;

    saving_text(f, saving, sizeof(saving));
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
    card_where(t, f);
    gmt_text_wrap(t, 5, "", f->headline);
    if (isfinite(f->saving.best_ns)) {
        char text[512];

        snprintf(text, sizeof(text), "%s to %s, %s: %s", gmt_format_ns(low, f->saving.low_ns),
                 gmt_format_ns(high, f->saving.high_ns), gmt_confidence_name(f->confidence),
                 f->method != NULL ? f->method : "");
        gmt_text_wrap(t, 5, "saving  ", text);
    } else if (f->method != NULL) {
        gmt_text_wrap(t, 5, "saving  ", f->method);
    }
    if (f->fix != NULL)
        gmt_text_wrap(t, 5, "fix     ", f->fix);
    if (f->sketch != NULL)
        gmt_text_code(t, 13, f->sketch);
    fputc('\n', t->out);
}

static void findings(struct gmt_text_out *t, const struct gmt_report *r, size_t top)
{
    char text[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    size_t shown = top > 0 && top < r->finding_count ? top : r->finding_count;

    if (r->finding_count == 0) {
        gmt_text_heading(t, r->notes == NULL ? "No findings" : "No findings, some notes");
        gmt_text_wrap(t, 2, "",
                      "Nothing that was checked would save a noticeable part of the run.");
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
        card(t, &r->findings[i], i + 1);
    if (shown < r->finding_count)
        fprintf(t->out, "     … and %zu smaller (--top 0)\n\n", r->finding_count - shown);
}

static int write_text(const struct gmt_report *report, const struct gmt_writer_options *options,
                      FILE *out)
{
    struct gmt_text_out t = {.out = out, .color = options->color};

    head(&t, report);
    verdict(&t, report);
    copies(&t, report);
    findings(&t, report, options->top);
    gmt_text_notes(&t, report, options->top);
    gmt_text_kernels(&t, report, options->top);
    gmt_text_gaps(&t, report);
    gmt_text_foot(&t, report);
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_text = {.name = "text", .extension = "txt", .write = write_text};
