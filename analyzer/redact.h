/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to be mailed: what names persons, machines and folders is taken out of a trace. */
#ifndef GMT_ANALYZER_REDACT_H
#define GMT_ANALYZER_REDACT_H

#include <sqlite3.h>

#include "reports/arena.h"

enum gmt_redact {
    GMT_REDACT_NOTHING,
    GMT_REDACT_PATHS, /* base names; the program without its arguments; no host, folder, thread names */
    GMT_REDACT_NAMES, /* and no names of kernels, functions, files, modules of the user's */
};

/*
 * Puts temporary views of the same names in front of the tables of an open trace: whatever is read
 * after that, by any rule and for any format, is redacted. The file is not changed. 0 or -EIO.
 */
int gmt_redact_trace(sqlite3 *db, enum gmt_redact what);

/* Free text with each absolute path cut to its base name; paths of the system and of CUDA stay. */
char *gmt_redact_text(struct gmt_arena *arena, const char *text);
/* The base name of any path. */
const char *gmt_redact_path(const char *path);

#endif
