/* SPDX-License-Identifier: Apache-2.0 */
/* Text of traces in markdown: as itself, whatever it holds. */
#ifndef GMT_REPORTS_TEXT_MARKDOWN_PARTS_H
#define GMT_REPORTS_TEXT_MARKDOWN_PARTS_H

#include <stdbool.h>
#include <stdio.h>

/* As text: nothing in it becomes markup, a mention or a link. NULL: an en dash. */
void gmt_markdown_plain(FILE *out, const char *text);
/* A code span; `cell`: within a table. */
void gmt_markdown_span(FILE *out, const char *text, bool cell);
/* A block of code in that language. */
void gmt_markdown_fence(FILE *out, const char *language, const char *code);

#endif
