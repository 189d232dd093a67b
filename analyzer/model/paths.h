/* SPDX-License-Identifier: Apache-2.0 */
/* Where files and programs that belong to gmtrace are found. */
#ifndef GMT_ANALYZER_MODEL_PATHS_H
#define GMT_ANALYZER_MODEL_PATHS_H

#include <stddef.h>

/* Each fills path and returns it, or NULL when there is no such place or no room. */
const char *gmt_path_cache(char *path, size_t bytes);   /* $XDG_CACHE_HOME/gmtrace/models       */
const char *gmt_path_shipped(char *path, size_t bytes); /* share/gmtrace/models of this install */
/* An executable beside this one, in libexec/gmtrace, or in PATH. */
const char *gmt_path_program(const char *name, char *path, size_t bytes);

#endif
