/* SPDX-License-Identifier: Apache-2.0 */
/* The source around the place of each finding (quotes.h). */
#include "analyzer/findings/quotes.h"

#include <string.h>

#include "analyzer/trace/source_lines.h"

enum { AROUND = 3 };

/* Files that were read already; several findings lie in one. */
struct shelf {
    struct gmt_source_text *files;
    size_t count;
};

static const struct gmt_source_text *text_of(struct shelf *shelf, sqlite3 *db,
                                             struct gmt_arena *arena, const char *file)
{
    for (size_t i = 0; i < shelf->count; i++) {
        if (strcmp(shelf->files[i].file, file) == 0) {
            return &shelf->files[i];
        }
    }
    struct gmt_source_text *text = GMT_PUSH(arena, shelf->files, shelf->count);
    if (text != NULL) {
        *text = gmt_source_text_load(db, arena, file, false);
    }
    return text;
}

void gmt_findings_quote(sqlite3 *db, struct gmt_arena *arena, struct gmt_finding *findings,
                        size_t n)
{
    struct shelf shelf = {0};

    for (size_t i = 0; i < n; i++) {
        struct gmt_source_quote *place = &findings[i].place;
        const struct gmt_source_text *text = place->file != NULL && place->line > 0
                                                 ? text_of(&shelf, db, arena, place->file)
                                                 : NULL;

        if (text == NULL || (uint64_t)place->line > text->line_count) {
            continue;
        }
        place->first_line = place->line > AROUND ? place->line - AROUND : 1;
        int64_t last = place->line + AROUND;
        if ((uint64_t)last > text->line_count) {
            last = (int64_t)text->line_count;
        }
        place->lines = &text->lines[place->first_line - 1];
        place->line_count = (size_t)(last - place->first_line + 1);
    }
}
