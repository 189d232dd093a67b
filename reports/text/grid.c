/* SPDX-License-Identifier: Apache-2.0 */
/* Prints small tables: aligned for a terminal, or as markdown. */
#include "reports/text/grid.h"

#include <string.h>

#include "libtrace/base/format.h"
#include "reports/text/markdown_parts.h"

enum { GAP = 2, INDENT = 2, LEAST_TEXT = 12 };

void gmt_grid_add(struct gmt_grid *grid, const struct gmt_grid_row *row)
{
    struct gmt_grid_row *slot = GMT_PUSH(grid->arena, grid->rows, grid->row_count);

    if (slot != NULL) {
        *slot = *row;
    }
}

static const char *cell_of(const struct gmt_grid_row *row, size_t column)
{
    return row->cells[column] != NULL ? row->cells[column] : "";
}

/* As wide as its widest cell; columns of text are cut to what there is. */
static void fit(const struct gmt_text_out *t, const struct gmt_grid *grid, size_t n, size_t *widths)
{
    size_t used = INDENT, texts = 0;

    for (size_t c = 0; c < n; c++) {
        widths[c] = 0;
        for (size_t r = 0; r < grid->row_count; r++) {
            size_t length = gmt_clean_length(cell_of(&grid->rows[r], c));

            widths[c] = length > widths[c] ? length : widths[c];
        }
        if (grid->columns[c] == 't') {
            texts++;
        } else {
            used += widths[c];
        }
        used += c > 0 ? GAP : 0;
    }
    for (size_t c = 0; c < n && texts > 0; c++) {
        size_t left = used < t->columns ? (t->columns - used) / texts : 0;

        left = left < LEAST_TEXT ? LEAST_TEXT : left;
        if (grid->columns[c] != 't') {
            continue;
        }
        widths[c] = widths[c] > left ? left : widths[c];
        used += widths[c];
        texts--;
    }
}

void gmt_grid_text(struct gmt_text_out *t, const struct gmt_grid *grid)
{
    size_t n = strlen(grid->columns), widths[GMT_GRID_COLUMNS];

    fit(t, grid, n, widths);
    for (size_t r = 0; r < grid->row_count; r++) {
        const struct gmt_grid_row *row = &grid->rows[r];
        size_t owed = INDENT;

        gmt_text_style(t, r == 0 ? GMT_STYLE_DIM : row->style);
        for (size_t c = 0; c < n; c++) {
            const char *text = cell_of(row, c);
            size_t length = gmt_clean_length(text);
            size_t fill = length < widths[c] ? widths[c] - length : 0;

            owed += (c > 0 ? GAP : 0) + (grid->columns[c] == 'r' ? fill : 0);
            if (length > 0) {
                fprintf(t->out, "%*s", (int)owed, "");
                gmt_print_clean(t->out, text, widths[c]);
                owed = 0;
            }
            owed += grid->columns[c] == 'r' ? 0 : fill;
        }
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputc('\n', t->out);
    }
    fputc('\n', t->out);
}

void gmt_grid_markdown(FILE *out, const struct gmt_grid *grid)
{
    size_t n = strlen(grid->columns);

    for (size_t r = 0; r < grid->row_count; r++) {
        for (size_t c = 0; c < n; c++) {
            const char *text = cell_of(&grid->rows[r], c);

            fputs(c == 0 ? "| " : " | ", out);
            if (grid->columns[c] == 't' && r > 0 && *text != '\0') {
                gmt_markdown_span(out, text, true);
            } else {
                gmt_markdown_plain(out, text);
            }
        }
        fputs(" |\n", out);
        for (size_t c = 0; r == 0 && c < n; c++) {
            fprintf(out, "%s%s", grid->columns[c] == 'r' ? "|---:" : "|---",
                    c + 1 < n ? "" : "|\n");
        }
    }
    fputc('\n', out);
}
