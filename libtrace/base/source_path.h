/* SPDX-License-Identifier: Apache-2.0 */
/* Names of source files as a repository has them: what the compiler wrote down, made relative. */
#ifndef GMT_BASE_SOURCE_PATH_H
#define GMT_BASE_SOURCE_PATH_H

#include <stddef.h>

/* The root of the repository around the current folder, else that folder; malloc'ed, or NULL. */
char *gmt_source_root_find(void);

/*
 * The part of `file` below `root`: what follows it, or where the program was built elsewhere, the
 * longest end of `file` that is the name of a file below `root`. A relative name stays as it is. NULL:
 * not below root, or root is NULL.
 */
const char *gmt_source_relative(const char *root, const char *file);

#endif
