/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report's table of ranges that the program names. */
#include <stdio.h>
#include <stdlib.h>

#include "libtrace/base/format.h"
#include "reports/text/text_parts.h"

/* What the other columns take of a line; what names get at least; how deep is shown by where a line begins. */
enum { OTHER_COLUMNS = 57, LEAST_LABEL = 16, MOST_INDENTED = 4 };

static size_t label_columns(const struct gmt_text_out *t, size_t indent)
{
    size_t others = OTHER_COLUMNS + indent;

    return t->columns > others + LEAST_LABEL ? t->columns - others : LEAST_LABEL;
}

static void range_line(struct gmt_text_out *t, const struct gmt_range_row *row, int depth)
{
    char text[80];
    int indent = 2 * (depth < MOST_INDENTED ? depth : MOST_INDENTED);

    fprintf(t->out, "  %*s", indent, "");
    gmt_text_cell(t, row->label, label_columns(t, (size_t)indent), false);
    gmt_text_cell(t, gmt_format_count(text, (double)row->count), 11, true);
    gmt_text_cell(t, gmt_format_ns(text, row->host_ns), 13, true);
    gmt_text_cell(t, gmt_format_count(text, (double)row->findings), 11, true);
    gmt_text_cell(t, row->findings > 0 ? gmt_format_ns(text, row->best_ns) : "–", 13, true);
    fputc('\n', t->out);
}

static int range_depth(const struct gmt_range_row *rows, int32_t row)
{
    int depth = 0;

    while ((row = rows[row].around) >= 0) {
        depth++;
    }
    return depth;
}

/* What is around others before them, and these by their own order. */
static int by_place(const void *a, const void *b, void *ranges)
{
    const struct gmt_range_row *rows = ranges;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int deeper = range_depth(rows, x) - range_depth(rows, y), order = deeper;

    for (; deeper > 0; deeper--) {
        x = rows[x].around;
    }
    for (; deeper < 0; deeper++) {
        y = rows[y].around;
    }
    if (x == y) {
        return order; /* one is around the other */
    }
    while (rows[x].around != rows[y].around) {
        x = rows[x].around;
        y = rows[y].around;
    }
    return (x > y) - (x < y);
}

/* All of them, those within others below these. */
static void range_tree(struct gmt_text_out *t, const struct gmt_report *report)
{
    int32_t *order = malloc(report->range_count * sizeof(*order));

    for (size_t i = 0; order != NULL && i < report->range_count; i++) {
        order[i] = (int32_t)i;
    }
    if (order != NULL) {
        qsort_r(order, report->range_count, sizeof(*order), by_place, report->ranges);
    }
    for (size_t i = 0; i < report->range_count; i++) {
        int32_t row = order != NULL ? order[i] : (int32_t)i;

        range_line(t, &report->ranges[row], order != NULL ? range_depth(report->ranges, row) : 0);
    }
    free(order);
}

void gmt_text_ranges(struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t top = t->detail->ranges;
    enum { FEW = 6 };
    size_t most = top > 0 && top < FEW ? top : FEW;
    size_t shown = top > 0 && most + 1 < report->range_count ? most : report->range_count;

    if (report->range_count == 0) {
        return;
    }
    gmt_text_heading(t, "Ranges that the program names");
    gmt_text_style(t, GMT_STYLE_DIM);
    fputs("  ", t->out);
    gmt_text_cell(t, "", label_columns(t, 0), false);
    gmt_text_cell(t, "times", 11, true);
    gmt_text_cell(t, "host time", 13, true);
    gmt_text_cell(t, "findings", 11, true);
    gmt_text_cell(t, "they save", 13, true);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
    if (shown == report->range_count) {
        range_tree(t, report);
    }
    for (size_t i = 0; shown < report->range_count && i < shown; i++) {
        range_line(t, &report->ranges[i], 0);
    }
    if (shown < report->range_count) {
        fprintf(t->out, "  … and %zu more (--top 0 shows all)\n", report->range_count - shown);
    }
    fputc('\n', t->out);
}
