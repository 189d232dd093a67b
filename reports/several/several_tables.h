/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison or ranks as sentences and tables, which text and markdown print alike. */
#ifndef GMT_REPORTS_SEVERAL_SEVERAL_TABLES_H
#define GMT_REPORTS_SEVERAL_SEVERAL_TABLES_H

#include "reports/several/several.h"
#include "reports/text/grid.h"

struct gmt_section {
    const char *title;     /* NULL: none */
    const char *sentence;  /* below the table; may be NULL */
    struct gmt_grid table; /* may have no row */
};

struct gmt_document {
    struct gmt_arena *arena;
    const char *title;
    struct gmt_section *sections;
    size_t count;
};

/* Fills a document whose arena is set. top: findings to show, 0: all. */
void gmt_document_fill(struct gmt_document *document, const struct gmt_several *several,
                       size_t top);

/* Parts of it. */
struct gmt_section *gmt_document_section(struct gmt_document *document, const char *title,
                                         const char *columns);
void gmt_document_comparison(struct gmt_document *document, const struct gmt_comparison *comparison,
                             size_t top);
void gmt_document_ranks(struct gmt_document *document, const struct gmt_ranks *ranks, size_t top);

#endif
