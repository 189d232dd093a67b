/* SPDX-License-Identifier: Apache-2.0 */
/* A small table of text, printed for a terminal or as markdown. */
#ifndef GMT_REPORTS_TEXT_GRID_H
#define GMT_REPORTS_TEXT_GRID_H

#include "libtrace/base/arena.h"
#include "reports/text/text_parts.h"

enum { GMT_GRID_COLUMNS = 10 };

/* One row of a grid: its first is the head. A NULL cell is empty. */
struct gmt_grid_row {
    const char *cells[GMT_GRID_COLUMNS];
    enum gmt_text_style style; /* of a terminal's line */
};

/* Set columns and arena; rows are added with GMT_PUSH. */
struct gmt_grid {
    struct gmt_arena *arena;
    const char
        *columns; /* one letter each: 'l' or 'r' as aligned, 't' for text of a trace (left) */
    struct gmt_grid_row *rows;
    size_t row_count;
};

void gmt_grid_add(struct gmt_grid *grid, const struct gmt_grid_row *row);
/* Columns of text of traces share what the others leave of the page. */
void gmt_grid_text(struct gmt_text_out *t, const struct gmt_grid *grid);
void gmt_grid_markdown(FILE *out, const struct gmt_grid *grid);

#endif
