/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all that was printed has been written: a full disk shows when the buffer is written out, by then nobody looks. */
#ifndef GMT_BASE_STANDARD_OUTPUT_H
#define GMT_BASE_STANDARD_OUTPUT_H

#include <stdbool.h>

/* Write out what is in the buffer of standard output. False: not all of what was ever printed could be written; the first
 * time that is said on standard error, as "PROGRAM: standard output: REASON". */
bool gmt_standard_output_written(const char *program);

/* The same when the process ends by exit(), also where that is called for it (--help), whose status is `status` then if
 * something is missing that was not said before. program: a constant. Once in a process. */
void gmt_standard_output_watch(const char *program, int status);

#endif
