/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole file or none. */
#ifndef GMT_BASE_FILE_H
#define GMT_BASE_FILE_H

#include <stdio.h>

/*
 * Lets `write` fill a temporary file beside path and renames it: path is whole or untouched. 0 or
 * negative errno, also that of `write`, which does not close out. -EEXIST: path is an SQLite database, as traces are; nothing but
 * they is written with that content, and none is replaced.
 */
int gmt_file_write(const char *path, int (*write)(void *context, FILE *out), void *context);

#endif
