/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the terminal report: styles, cells, wrapping, and the tables below the findings. */
#ifndef GMT_REPORTS_TEXT_TEXT_PARTS_H
#define GMT_REPORTS_TEXT_TEXT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "reports/model/report.h"
#include "reports/model/writer.h"

/* Where there is no terminal; and what is made of the width of one. */
enum { GMT_TEXT_COLUMNS = 100, GMT_TEXT_LEAST_COLUMNS = 80, GMT_TEXT_MOST_COLUMNS = 200 };

enum gmt_text_style {
    GMT_STYLE_PLAIN,
    GMT_STYLE_BOLD,
    GMT_STYLE_DIM,
    GMT_STYLE_RED,
    GMT_STYLE_YELLOW,
    GMT_STYLE_GREEN,
    GMT_STYLE_CYAN
};

/* In place of a number of cards: each finding has a line. */
#define GMT_TEXT_NO_CARDS SIZE_MAX

/* How much of each part is shown; 0: all. */
struct gmt_text_detail {
    size_t findings, cards; /* that many named, of these so many in full */
    size_t notes, kernels, ranges;
    /* Reasons why something could not be checked. Not 0: of what was seen only how much; 1: only how many reasons, and of what was
     * seen the differences. */
    size_t gaps;
    bool lifts; /* what would raise the occupancy of each kernel */
    bool
        only_counts; /* notes, and joint prices and holders of memory, are only counted or left out */
    bool calls;      /* what the device was idle for, and the API summary */
};

struct gmt_text_out {
    FILE *out;
    bool color;
    size_t columns; /* of a line */
    const struct gmt_text_detail *detail;
};

size_t gmt_text_columns(const struct gmt_writer_options *options);
void gmt_text_style(struct gmt_text_out *t, enum gmt_text_style style);
void gmt_text_heading(struct gmt_text_out *t, const char *title);
/* Cleaned, cut or filled to width columns, one of them space; width 0: the last of its line. */
void gmt_text_cell(struct gmt_text_out *t, const char *text, size_t width, bool right);
/* A line: so many bytes, and what they are, cut to the page. */
void gmt_text_sized(struct gmt_text_out *t, size_t indent, double bytes, const char *text);
/* A bar of at most `width` characters for share 0..1, in eighths; empty for NAN. */
void gmt_text_bar(char *text, size_t bytes, double share, size_t width);
/* Wraps to the page; the label stands before the first line, the others hang below the text. */
void gmt_text_wrap(struct gmt_text_out *t, size_t indent, const char *label, const char *text);
void gmt_text_code(struct gmt_text_out *t, size_t indent, const char *code);

/* What to change first; what the recorded time went to; what the device was idle for; the API summary. */
void gmt_text_first(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_time(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_idle(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_calls(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_findings(struct gmt_text_out *t, const struct gmt_report *report);
/* The source lines behind a finding. */
void gmt_text_lines(struct gmt_text_out *t, const struct gmt_report *report,
                    const struct gmt_finding *finding);
/* What fixes that were tried have gained. */
void gmt_text_tried(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_notes(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_ranges(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_races(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_kernels(struct gmt_text_out *t, const struct gmt_report *report);
/* The first call after which the program could do nothing on the device any more; calls that failed. */
void gmt_text_alarm(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_failed_calls(struct gmt_text_out *t, const struct gmt_report *report);
/* Failed allocations; who made the peak, at most three places unless all findings are shown. */
void gmt_text_failures(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_memory(struct gmt_text_out *t, const struct gmt_report *report);
/* Whose bytes a memory snapshot shows. */
void gmt_text_heaps(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_snapshot(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_gaps(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_coverage(struct gmt_text_out *t, const struct gmt_report *report);
void gmt_text_foot(struct gmt_text_out *t, const struct gmt_report *report);

#endif
