/* SPDX-License-Identifier: Apache-2.0 */
/* A document of sentences and tables, which text and markdown print alike. */
#ifndef GMT_REPORTS_SEVERAL_DOCUMENT_H
#define GMT_REPORTS_SEVERAL_DOCUMENT_H

#include <stddef.h>

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

/* Adds an empty section; NULL: no memory. */
struct gmt_section *gmt_document_section(struct gmt_document *document, const char *title,
                                         const char *columns);

#endif
