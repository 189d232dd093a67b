/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes a memory snapshot shows, in markdown. */
#ifndef GMT_REPORTS_TEXT_MARKDOWN_SNAPSHOT_H
#define GMT_REPORTS_TEXT_MARKDOWN_SNAPSHOT_H

#include <stdio.h>

struct gmt_report;

/* Nothing where the report has no heaps, or no snapshot. */
void gmt_markdown_heaps(FILE *out, const struct gmt_report *report);
void gmt_markdown_snapshot(FILE *out, const struct gmt_report *report);

#endif
