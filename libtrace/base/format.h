/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people, and text of unknown origin made printable. */
#ifndef GMT_BASE_FORMAT_H
#define GMT_BASE_FORMAT_H

#include <stddef.h>
#include <stdio.h>

enum { GMT_FORMAT_BYTES = 32 };

/* Each writes into text (GMT_FORMAT_BYTES) and returns it; NAN becomes an en dash. */
const char *gmt_format_ns(char *text, double ns);            /* 1.24 s, 38.2 ms, 5.70 µs        */
const char *gmt_format_bytes(char *text, double bytes);      /* 64 B, 4.00 KiB, 16.0 MiB        */
const char *gmt_format_rate(char *text, double bytes_per_s); /* 54.1 GB/s                       */
const char *gmt_format_count(char *text, double count);      /* 1,234,567                       */
const char *gmt_format_percent(char *text, double percent);  /* 38.2 %                          */
const char *gmt_format_decimal(char *text, double value, int decimals);

/*
 * Writes text as valid UTF-8 without control characters: what is not becomes U+FFFD, a newline or
 * a tab a space. At most max_columns columns of a terminal (0: no limit); when cut, the last
 * character is an ellipsis. Returns the number of columns.
 */
size_t gmt_print_clean(FILE *out, const char *text, size_t max_columns);

/* Columns gmt_print_clean would take without limit. */
size_t gmt_clean_length(const char *text);

/* A clean copy, for writers that need a string; the caller frees. NULL: no memory. */
char *gmt_clean_copy(const char *text);
char *gmt_clean_cut(const char *text, size_t max_characters); /* the last is an ellipsis then */
char *gmt_clean_lines(const char *text);                      /* newlines and tabs stay       */

#endif
