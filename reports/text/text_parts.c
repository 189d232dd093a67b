/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the terminal report: styles, cells, bars and wrapping. */
#include "reports/text/text_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"

/* Longer lines of prose are hard to follow, however wide a terminal is. */
enum { PROSE_COLUMNS = 120 };

size_t gmt_text_columns(const struct gmt_writer_options *options)
{
    size_t columns = options->columns > 0 ? options->columns : GMT_TEXT_COLUMNS;

    return columns < GMT_TEXT_LEAST_COLUMNS  ? GMT_TEXT_LEAST_COLUMNS
           : columns > GMT_TEXT_MOST_COLUMNS ? GMT_TEXT_MOST_COLUMNS
                                             : columns;
}

void gmt_text_style(struct gmt_text_out *t, enum gmt_text_style style)
{
    static const char *const codes[] = {
        [GMT_STYLE_PLAIN] = "\033[0m",   [GMT_STYLE_BOLD] = "\033[1m",
        [GMT_STYLE_DIM] = "\033[2m",     [GMT_STYLE_RED] = "\033[1;31m",
        [GMT_STYLE_YELLOW] = "\033[33m", [GMT_STYLE_GREEN] = "\033[1;32m",
        [GMT_STYLE_CYAN] = "\033[36m"};

    if (t->color) {
        fputs(codes[style], t->out);
    }
}

void gmt_text_heading(struct gmt_text_out *t, const char *title)
{
    gmt_text_style(t, GMT_STYLE_BOLD);
    fprintf(t->out, "── %s ", title);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    gmt_text_style(t, GMT_STYLE_DIM);
    for (size_t used = gmt_clean_length(title) + 4; used < t->columns; used++) {
        fputs("─", t->out);
    }
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
}

void gmt_text_cell(struct gmt_text_out *t, const char *text, size_t width, bool right)
{
    size_t room = width > 0 ? width - 1 : 0, length = gmt_clean_length(text);
    size_t fill = length < room ? room - length : 0;

    fprintf(t->out, "%*s", right ? (int)fill + 1 : 0, "");
    gmt_print_clean(t->out, text, room);
    if (width > 0) {
        fprintf(t->out, "%*s", right ? 0 : (int)fill + 1, "");
    }
}

void gmt_text_sized(struct gmt_text_out *t, size_t indent, double bytes, const char *text)
{
    enum { WIDTH = 11 };
    char value[GMT_FORMAT_BYTES];

    fprintf(t->out, "%*s", (int)indent, "");
    gmt_text_cell(t, gmt_format_bytes(value, bytes), WIDTH, true);
    fputs("  ", t->out);
    gmt_print_clean(t->out, text, t->columns - indent - WIDTH - 2);
    fputc('\n', t->out);
}

void gmt_text_bar(char *text, size_t bytes, double share, size_t width)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t used = 0;

    text[0] = '\0';
    if (!isfinite(share) || share <= 0) {
        return;
    }
    size_t eighths = (size_t)lround(fmin(1.0, share) * (double)width * 8);
    for (size_t i = 0; i < eighths / 8 && used + 4 < bytes; i++, used += 3) {
        memcpy(text + used, "█", 4);
    }
    if (used + 4 < bytes) {
        memcpy(text + used, parts[eighths % 8], strlen(parts[eighths % 8]) + 1);
    }
}

void gmt_text_wrap(struct gmt_text_out *t, size_t indent, const char *label, const char *text)
{
    char *clean = gmt_clean_copy(text);
    size_t hang = indent + gmt_clean_length(label), column = hang;
    size_t most = t->columns < PROSE_COLUMNS ? t->columns : PROSE_COLUMNS;
    char *rest = NULL;

    if (clean == NULL) {
        return;
    }
    fprintf(t->out, "%*s", (int)indent, "");
    gmt_text_style(t, GMT_STYLE_DIM);
    gmt_print_clean(t->out, label, 0);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    for (char *word = strtok_r(clean, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        size_t length = gmt_clean_length(word);

        if (column > hang && column + 1 + length > most) {
            fprintf(t->out, "\n%*s", (int)hang, "");
            column = hang;
        } else if (column > hang) {
            fputc(' ', t->out);
            column++;
        }
        column += gmt_print_clean(t->out, word, most > hang + 1 ? most - hang : 1);
    }
    fputc('\n', t->out);
    free(clean);
}

void gmt_text_code(struct gmt_text_out *t, size_t indent, const char *code)
{
    while (*code != '\0') {
        size_t length = strcspn(code, "\n");
        char line[256];

        snprintf(line, sizeof(line), "%.*s", (int)length, code);
        fprintf(t->out, "%*s", (int)indent, "");
        gmt_text_style(t, GMT_STYLE_DIM);
        fputs("│ ", t->out);
        gmt_text_style(t, GMT_STYLE_CYAN);
        gmt_print_clean(t->out, line, t->columns > indent + 3 ? t->columns - indent - 2 : 1);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputc('\n', t->out);
        code += length;
        code += *code == '\n';
    }
}
