/* SPDX-License-Identifier: Apache-2.0 */
/* Long options that a program does not have: found before argp, which knows none that was meant. */
#ifndef GMT_BASE_OPTION_CHECK_H
#define GMT_BASE_OPTION_CHECK_H

#include <argp.h>
#include <stdbool.h>

/*
 * Looks through a command line as argp would: options as `--name=value`, `--name value`, `--na` where that is
 * unambiguous, and letters. in_order: the first word that is no option ends it, since the rest is another
 * program's. Complains on standard error about the first long option that is in no row, with the one that was
 * likely meant, and returns true.
 */
bool gmt_option_check(const char *program, const struct argp_option *rows, bool in_order, int argc,
                      char *const argv[]);

#endif
