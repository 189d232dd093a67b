/* SPDX-License-Identifier: Apache-2.0 */
/* Where the trace of this process goes. */
#ifndef GMT_PRELOAD_SESSION_OUTPUT_H
#define GMT_PRELOAD_SESSION_OUTPUT_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* What is there under the wanted name is no regular file. */
#define GMT_OUTPUT_NO_FILE (-EMEDIUMTYPE)
/* What is there under the wanted name, or that of an older trace, is no trace: it is not replaced. */
#define GMT_OUTPUT_NO_TRACE (-ENOTUNIQ)

/* In words, why a trace cannot be written; error: of gmt_output_open. */
const char *gmt_output_explain(int error);

/* Expand %p pid, %h host, %r rank (pid without one), %e program, %t time, %q{VAR} environment, %%.
 * Returns 0, -EINVAL for an unknown letter, -ENAMETOOLONG. */
int gmt_output_expand(const char *pattern, char *path, size_t bytes);

/* Put the working folder before a path that is relative (PATH_MAX bytes). 0, -ENAMETOOLONG, or negative errno. */
int gmt_output_make_absolute(char *path);

/* Move the trace of an earlier run, with what its recorder left, aside to `<path>.old`. run: what the
 * launcher calls its run; NULL: there is none. False: it belongs to this run, somebody writes it, or it
 * cannot be moved. */
bool gmt_output_make_way(const char *path, const char *run);

/* Expand the pattern, make it absolute, keep what an earlier run left there as `.old`, and open the
 * spool under the first name that no other process of this run has taken (`.<rank>` or `.<pid>` is
 * appended to a taken one). Returns 0, GMT_OUTPUT_NO_FILE, GMT_OUTPUT_NO_TRACE, or
 * negative errno; `path` (PATH_MAX bytes) gets the name, of what is in the way as well. */
int gmt_output_open(const char *pattern, unsigned long long limit_bytes, char *path);
/* After it: did another process of this run have the wanted name? */
bool gmt_output_is_one_of_several(void);

#endif
