/* SPDX-License-Identifier: Apache-2.0 */
/* Where the trace of this process goes. */
#ifndef GMT_PRELOAD_OUTPUT_H
#define GMT_PRELOAD_OUTPUT_H

#include <limits.h>
#include <stddef.h>

/* Expand %p pid, %h host, %r rank (pid without one), %e program, %t time, %q{VAR} environment, %%.
 * Returns 0, -EINVAL for an unknown letter, -ENAMETOOLONG. */
int gmt_output_expand(const char *pattern, char *path, size_t bytes);

/* Expand the pattern, make it absolute, keep what an earlier run left there as `.old`, and open the
 * spool under the first name that no other process of this run has taken (`.<rank>` or `.<pid>` is
 * appended to a taken one). Returns 0 or negative errno; `path` (PATH_MAX bytes) gets the name. */
int gmt_output_open(const char *pattern, unsigned long long limit_bytes, char *path);

#endif
