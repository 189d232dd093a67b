/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: verdict, findings as cards, tables, and what could not be checked. */
#include "reports/text/text.h"
#include "reports/model/failed_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/own_time.h"
#include "reports/model/words.h"
#include "reports/text/text_parts.h"

static void head(struct gmt_text_out *t, const struct gmt_report *report)
{
    fputc('\n', t->out);
    gmt_text_style(t, GMT_STYLE_BOLD);
    fputs("  ", t->out);
    gmt_print_clean(t->out, report->command != NULL ? report->command : report->trace_path,
                    t->columns - 4);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputs("\n  ", t->out);
    gmt_text_style(t, GMT_STYLE_DIM);
    size_t used = gmt_print_clean(
        t->out, report->device_name != NULL ? report->device_name : "no GPU recorded", 40);
    if (report->compute_capability != NULL) {
        used += (size_t)fprintf(t->out, ", compute %s", report->compute_capability);
    }
    if (report->driver_version != NULL) {
        fputs(", driver ", t->out);
        used += 9 + gmt_print_clean(t->out, report->driver_version, 16);
    }
    fputs(" · ", t->out);
    gmt_print_clean(t->out, report->trace_path, t->columns - used - 6);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    const char *end = gmt_end_words(report);
    if (end != NULL) {
        fputs("\n  ", t->out);
        gmt_text_style(t, GMT_STYLE_RED);
        fputs(end, t->out);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    if (report->simulated) {
        fputs("\n  ", t->out);
        gmt_text_style(t, GMT_STYLE_YELLOW);
        gmt_print_clean(t->out, gmt_simulated_badge(report), t->columns - 2);
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
    gmt_text_alarm(t, report);
}

enum { CELLS = 6, CELL_ROWS = 3, CELL_BYTES = 64 };

/* "16,449 calls"; millions are rounded, so that the strip always fits the page. */
static void counted(char *text, double count, const char *one, const char *many)
{
    char number[GMT_FORMAT_BYTES];

    if (count >= 1e6) {
        snprintf(number, sizeof(number), "%.*f M", count < 1e8 ? 2 : 0, count / 1e6);
    } else {
        gmt_format_count(number, count);
    }
    snprintf(text, CELL_BYTES, "%s %s", number, count == 1 ? one : many);
}

/* Widths that cut nothing: each column as wide as its widest cell, and as much space as there is. */
static void fit_cells(const struct gmt_text_out *t, char cells[CELL_ROWS][CELLS][CELL_BYTES],
                      size_t widths[CELLS])
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
    gap = used < t->columns ? (t->columns - used) / (CELLS - 1) : 1;
    gap = gap > 6 ? 6 : gap;
    for (int i = 0; i < CELLS; i++) {
        widths[i] += gap < 2 ? 2 : gap;
    }
    widths[CELLS - 1] = 0;
}

static void verdict(struct gmt_text_out *t, const struct gmt_report *r)
{
    char cells[CELL_ROWS][CELLS][CELL_BYTES] = {
        {"wall time", "GPU busy", "copies", "kernels", "peak memory", "measured"}};
    size_t widths[CELLS];
    char line[GMT_OWN_TIME_BYTES];

    if (r->modelled) {
        snprintf(cells[0][2], CELL_BYTES, "copies, modelled");
        snprintf(cells[0][3], CELL_BYTES, "kernels, modelled");
    }
    gmt_format_ns(cells[1][0], r->wall_ns);
    gmt_format_percent(cells[1][1], 100 * r->gpu_busy_ns / r->wall_ns);
    if (r->device_seen < 1) {
        snprintf(cells[0][1], CELL_BYTES, "GPU busy, est.");
    }
    gmt_format_ns(cells[1][2], r->copy_ns);
    gmt_format_ns(cells[1][3], r->kernel_ns);
    gmt_format_bytes(cells[1][4], r->peak_device_bytes);
    counted(cells[1][5], (double)r->measured_launches, "launch", "launches");
    snprintf(cells[2][0], CELL_BYTES, "%s", r->ended != NULL ? r->ended : "");
    gmt_text_bar(cells[2][1], CELL_BYTES, r->gpu_busy_ns / r->wall_ns, 12);
    counted(cells[2][2], (double)r->transfers, "call", "calls");
    counted(cells[2][3], (double)r->launches, "launch", "launches");
    counted(cells[2][4], r->allocation_count, "allocation", "allocations");
    snprintf(cells[2][5], CELL_BYTES, "%" PRIu64 "/%" PRIu64 " classes", r->measured_classes,
             r->kernel_classes);
    fit_cells(t, cells, widths);
    for (int row = 0; row < CELL_ROWS; row++) {
        fputs("  ", t->out);
        gmt_text_style(t, row == 1 ? GMT_STYLE_BOLD : GMT_STYLE_DIM);
        for (int i = 0; i < CELLS; i++) {
            gmt_text_cell(t, cells[row][i], widths[i], false);
        }
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputc('\n', t->out);
    }
    if (gmt_own_time_line(line, r) != NULL) {
        gmt_text_style(t, GMT_STYLE_DIM);
        fprintf(t->out, "  %s\n", line);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputc('\n', t->out);
}

static void copies(struct gmt_text_out *t, const struct gmt_report *r)
{
    enum { BEFORE_BAR = 68, MOST_BAR = 32 };
    double longest = 0;
    size_t width = t->columns - BEFORE_BAR;

    for (size_t i = 0; i < r->copy_total_count; i++) {
        longest = fmax(longest, r->copy_totals[i].time_ns);
    }
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
        gmt_text_bar(bar, sizeof(bar), row->time_ns / longest, width < MOST_BAR ? width : MOST_BAR);
        gmt_text_style(t, GMT_STYLE_CYAN);
        fprintf(t->out, "  %s\n", bar);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    if (r->copy_total_count > 0 && r->modelled) {
        gmt_text_style(t, GMT_STYLE_DIM);
        gmt_text_wrap(t, 2, "", "Times and rates of copies are modelled, too.");
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    if (r->copy_total_count > 0) {
        fputc('\n', t->out);
    }
}

static void write_all(struct gmt_text_out *t, const struct gmt_report *report)
{
    head(t, report);
    gmt_text_first(t, report);
    gmt_text_time(t, report);
    verdict(t, report);
    copies(t, report);
    gmt_text_failed_calls(t, report);
    gmt_text_failures(t, report);
    gmt_text_findings(t, report);
    gmt_text_tried(t, report);
    gmt_text_notes(t, report);
    gmt_text_ranges(t, report);
    gmt_text_races(t, report);
    gmt_text_kernels(t, report);
    gmt_text_idle(t, report);
    gmt_text_calls(t, report);
    gmt_text_memory(t, report);
    gmt_text_heaps(t, report);
    gmt_text_snapshot(t, report);
    gmt_text_gaps(t, report);
    gmt_text_foot(t, report);
    gmt_text_coverage(t, report);
}

/* What is left out first: what the findings do not need. What could not be checked goes before the last finding's fix. */
static const struct gmt_text_detail shorter[] = {
    {10, 10, 3, 5, 3, 0, false, false, false},
    {10, 10, 1, 5, 3, 0, false, true, false},
    {10, 5, 1, 4, 3, 0, false, true, false},
    {10, 3, 1, 3, 2, 0, false, true, false},
    {10, 2, 1, 2, 1, 0, false, true, false},
    {10, 1, 1, 1, 1, 0, false, true, false},
    {10, 1, 1, 1, 1, 4, false, true, false},
    {10, 1, 1, 1, 1, 2, false, true, false},
    {10, 1, 1, 1, 1, 1, false, true, false},
    {10, GMT_TEXT_NO_CARDS, 1, 1, 1, 4, false, true, false},
    {10, GMT_TEXT_NO_CARDS, 1, 1, 1, 3, false, true, false},
    {10, GMT_TEXT_NO_CARDS, 1, 1, 1, 2, false, true, false},
    {10, GMT_TEXT_NO_CARDS, 1, 1, 1, 1, false, true, false},
    {5, GMT_TEXT_NO_CARDS, 1, 1, 1, 1, false, true, false},
};

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++) {
        lines++;
    }
    return lines;
}

/* How many lines it has with that detail. 0 or -ENOMEM. */
static int measure(struct gmt_text_out t, const struct gmt_report *report,
                   const struct gmt_text_detail *detail, size_t *lines)
{
    char *text = NULL;
    size_t bytes = 0;

    t.detail = detail;
    t.out = open_memstream(&text, &bytes);
    if (t.out == NULL) {
        return -ENOMEM;
    }
    write_all(&t, report);
    bool whole = fclose(t.out) == 0;
    *lines = whole ? count_lines(text) : 0;
    free(text);
    return whole ? 0 : -ENOMEM;
}

/* Lines that are left over show more kernels. */
static int fill_up(struct gmt_text_out *t, const struct gmt_report *report, size_t most,
                   size_t lines, struct gmt_text_detail *fuller)
{
    const struct gmt_text_detail *fits = t->detail;
    int rc = 0;

    *fuller = *fits;
    /* One more than there are lines: the line that says how many are left out may go. */
    fuller->kernels += most - lines + 1;
    for (lines = most + 1; rc == 0 && fuller->kernels > fits->kernels; fuller->kernels--) {
        rc = measure(*t, report, fuller, &lines);
        if (lines <= most) {
            t->detail = fuller;
            return rc;
        }
    }
    return rc;
}

/* The fullest text that has no more than so many lines; else the shortest one. */
static int write_text(const struct gmt_report *report, const struct gmt_writer_options *options,
                      FILE *out)
{
    const size_t top = options->top;
    const struct gmt_text_detail full = {top, top, top, top, top, 0, true, false, top == 0};
    struct gmt_text_detail fuller;
    struct gmt_text_out t = {
        .out = out, .color = options->color, .columns = gmt_text_columns(options), .detail = &full};
    size_t last = options->lines > 0 ? sizeof(shorter) / sizeof(shorter[0]) : 0, lines = 0;
    int rc = 0;

    for (size_t i = 0; i <= last && last > 0; i++) {
        rc = measure(t, report, t.detail, &lines);
        if (rc != 0 || lines <= options->lines || i == last) {
            break;
        }
        t.detail = &shorter[i];
    }
    if (rc == 0 && last > 0 && t.detail != &full && lines <= options->lines &&
        report->kernel_count > t.detail->kernels) {
        rc = fill_up(&t, report, options->lines, lines, &fuller);
    }
    if (rc != 0) {
        return rc;
    }
    write_all(&t, report);
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_text = {.name = "text", .write = write_text};
