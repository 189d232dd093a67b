/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison or ranks as a document of sentences and tables. */
#ifndef GMT_REPORTS_SEVERAL_SEVERAL_TABLES_H
#define GMT_REPORTS_SEVERAL_SEVERAL_TABLES_H

#include "reports/model/comparison.h"
#include "reports/model/ranks.h"
#include "reports/several/document.h"

/* Each fills a document whose arena is set. top: findings to show, 0: all. */
void gmt_document_comparison(struct gmt_document *document, const struct gmt_comparison *comparison,
                             size_t top);
void gmt_document_ranks(struct gmt_document *document, const struct gmt_ranks *ranks, size_t top);

#endif
