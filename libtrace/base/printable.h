/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin on its way to a terminal. */
#ifndef GMT_BASE_PRINTABLE_H
#define GMT_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/*
 * The next character of `text` as it may be shown: its bytes in *bytes and *length; returns how much
 * of the text it took. Control characters, marks that reorder text, ends of lines of Unicode and what
 * is not UTF-8 become U+FFFD; a newline, a tab or a carriage return a blank.
 */
size_t gmt_printable_next(const char *text, const char **bytes, size_t *length);

/* Columns that a terminal needs for one such character: 2 for most of East Asia and for emoji, 0 for marks that are put
 * on the one before. */
size_t gmt_columns_of(const char *bytes, size_t length);

/*
 * Prints one message as printf does, with its arguments as gmt_printable_next shows them. Only a newline at
 * the end of `format` stays one. Every message of a program that may name something foreign goes through
 * this: names of files and programs, texts of a trace, messages of SQLite.
 */
void gmt_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
