/* SPDX-License-Identifier: Apache-2.0 */
/* Text of traces in markdown: as itself, whatever it holds. */
#ifndef GMT_REPORTS_TEXT_MARKDOWN_PARTS_H
#define GMT_REPORTS_TEXT_MARKDOWN_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/model/report.h"

/* As text: nothing in it becomes markup, a mention or a link. NULL: an en dash. */
void gmt_markdown_plain(FILE *out, const char *text);
/* A code span; `cell`: within a table. */
void gmt_markdown_span(FILE *out, const char *text, bool cell);
/* A block of code in that language. */
void gmt_markdown_fence(FILE *out, const char *language, const char *code);

/* The first call after which the program could do nothing on the device any more; calls that failed. */
void gmt_markdown_alarm(FILE *out, const struct gmt_report *report);
void gmt_markdown_failed_calls(FILE *out, const struct gmt_report *report);

#endif
