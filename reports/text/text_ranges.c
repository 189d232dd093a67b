/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report's tree of ranges that the program names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libtrace/base/format.h"
#include "reports/text/text_parts.h"

/* What names get at least; how deep is shown by where a line begins; lines narrower than that have fewer columns. */
enum { LEAST_LABEL = 16, MOST_INDENTED = 8, WIDE = 96 };

static const char *times(char *text, const struct gmt_range_node *node)
{
    return gmt_format_count(text, (double)node->count);
}

static const char *host(char *text, const struct gmt_range_node *node)
{
    return gmt_format_ns(text, node->host_ns);
}

static const char *itself(char *text, const struct gmt_range_node *node)
{
    return gmt_format_ns(text, node->host_self_ns);
}

static const char *kernels(char *text, const struct gmt_range_node *node)
{
    return node->launches > 0 ? gmt_format_ns(text, node->device_ns) : "–";
}

static const char *idle(char *text, const struct gmt_range_node *node)
{
    return gmt_format_ns(text, node->idle_ns);
}

static const char *launches(char *text, const struct gmt_range_node *node)
{
    return gmt_format_count(text, node->launches);
}

static const char *copied(char *text, const struct gmt_range_node *node)
{
    return gmt_format_bytes(text, node->h2d_bytes + node->d2h_bytes);
}

static const char *findings(char *text, const struct gmt_range_node *node)
{
    return node->findings > 0 ? gmt_format_count(text, (double)node->findings) : "–";
}

static const char *saved(char *text, const struct gmt_range_node *node)
{
    return node->findings > 0 ? gmt_format_ns(text, node->best_ns) : "–";
}

/* Where a trace has no times it has what was done in place of them. */
enum column_of { OF_ALL, OF_TIMED, OF_TIMELESS };

static const struct range_column {
    const char *title;
    size_t width;
    const char *(*show)(char *text, const struct gmt_range_node *node);
    enum column_of of;
    bool is_wide; /* left out where lines are short */
} columns[] = {
    {"times", 8, times, OF_ALL, false},        {"host time", 11, host, OF_TIMED, false},
    {"itself", 11, itself, OF_TIMED, true},    {"launches", 11, launches, OF_TIMELESS, false},
    {"copied", 11, copied, OF_TIMELESS, true}, {"kernels", 11, kernels, OF_ALL, false},
    {"GPU idle", 11, idle, OF_TIMED, true},    {"findings", 9, findings, OF_ALL, false},
    {"they save", 11, saved, OF_ALL, false},
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_shown(const struct gmt_text_out *t, const struct gmt_report *report,
                     const struct range_column *column)
{
    bool timeless = isnan(report->range_nodes[0].host_ns);

    return column->of != (timeless ? OF_TIMED : OF_TIMELESS) &&
           (!column->is_wide || t->columns >= WIDE);
}

static size_t label_columns(const struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t others = 2;

    for (size_t i = 0; i < COLUMNS; i++) {
        others += is_shown(t, report, &columns[i]) ? columns[i].width : 0;
    }
    return t->columns > others + LEAST_LABEL ? t->columns - others : LEAST_LABEL;
}

static void title_line(struct gmt_text_out *t, const struct gmt_report *report)
{
    gmt_text_style(t, GMT_STYLE_DIM);
    fputs("  ", t->out);
    gmt_text_cell(t, "", label_columns(t, report), false);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (is_shown(t, report, &columns[i])) {
            gmt_text_cell(t, columns[i].title, columns[i].width, true);
        }
    }
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
}

static void node_line(struct gmt_text_out *t, const struct gmt_report *report, size_t index)
{
    const struct gmt_range_node *node = &report->range_nodes[index];
    size_t label = label_columns(t, report);
    size_t indent = 2 * (size_t)(node->depth < MOST_INDENTED ? node->depth : MOST_INDENTED);
    char text[80];

    indent = indent + LEAST_LABEL / 2 < label ? indent : label - LEAST_LABEL / 2;
    fprintf(t->out, "  %*s", (int)indent, "");
    gmt_text_style(t, node->others ? GMT_STYLE_DIM : GMT_STYLE_PLAIN);
    gmt_text_cell(t, node->others ? "(others)" : node->label, label - indent, false);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (is_shown(t, report, &columns[i])) {
            gmt_text_cell(t, columns[i].show(text, node), columns[i].width, true);
        }
    }
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
}

static int largest_first(const void *a, const void *b, void *report)
{
    const struct gmt_range_node *nodes = ((const struct gmt_report *)report)->range_nodes;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    double of_x = gmt_range_node_weight(&nodes[x]), of_y = gmt_range_node_weight(&nodes[y]);

    return of_x < of_y ? 1 : of_x > of_y ? -1 : (x > y) - (x < y);
}

/* The largest ones with all that is around them; fewer where that would be more than `most`. The caller frees; NULL: no memory. */
static bool *choose(const struct gmt_report *report, size_t most, size_t *chosen)
{
    const struct gmt_range_node *nodes = report->range_nodes;
    size_t count = report->range_node_count;
    size_t *order = malloc(count * sizeof(*order));
    bool *taken = calloc(count, sizeof(*taken));

    *chosen = 0;
    if (order == NULL || taken == NULL) {
        free(order);
        free(taken);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    qsort_r(order, count, sizeof(*order), largest_first, (void *)report);
    for (size_t i = 0; i < count; i++) {
        size_t more = 0;

        for (int32_t at = (int32_t)order[i]; at >= 0 && !taken[at]; at = nodes[at].parent) {
            more++;
        }
        if (*chosen + more > most) {
            continue;
        }
        for (int32_t at = (int32_t)order[i]; at >= 0 && !taken[at]; at = nodes[at].parent) {
            taken[at] = true;
        }
        *chosen += more;
    }
    free(order);
    return taken;
}

void gmt_text_ranges(struct gmt_text_out *t, const struct gmt_report *report)
{
    size_t top = t->detail->ranges, count = report->range_node_count, shown = count;
    enum { FEW = 10 };
    size_t most = top > 0 && top < FEW ? top : FEW;

    if (count == 0) {
        return;
    }
    bool *taken = top > 0 && most + 1 < count ? choose(report, most, &shown) : NULL;
    gmt_text_heading(t, "Ranges that the program names");
    title_line(t, report);
    for (size_t i = 0; i < count; i++) {
        if (taken == NULL || taken[i]) {
            node_line(t, report, i);
        }
    }
    if (taken != NULL && shown < count) {
        fprintf(t->out, "  … and %zu more (--top 0 shows all)\n", count - shown);
    }
    fputc('\n', t->out);
    free(taken);
}
