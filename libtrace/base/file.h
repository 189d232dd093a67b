/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a whole file or none, and into what is no file. */
#ifndef GMT_BASE_FILE_H
#define GMT_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Where what is to be written under that name belongs: links are followed, also one whose target has to be made. is_direct:
 * it is there and can only be opened and written, as a device, a pipe, or an open file of /proc that has no name; else it may be
 * replaced. 0 or negative errno; -EISDIR: it is a directory.
 */
int gmt_file_place(const char *path, char place[static PATH_MAX], bool *is_direct);

/* Could gmt_file_write write it, by what is known before? 0 or what it would return. Nothing is made or opened for writing. */
int gmt_file_check(const char *path);
/* Would both be written into the same file? What can only be written directly is none. */
bool gmt_file_is_same(const char *path, const char *other);

/*
 * Lets `write` fill a temporary file beside path (a link: beside its target) and renames it: path is whole or untouched. A device or a
 * pipe is written itself; what was written before an error is in it. 0 or
 * negative errno, also that of `write`, which does not close out. -EEXIST: path is an SQLite database, as traces are; nothing but
 * they is written with that content, and none is replaced.
 */
int gmt_file_write(const char *path, int (*write)(void *context, FILE *out), void *context);

#endif
