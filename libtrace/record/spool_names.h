/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files of a spool, for those who remove one: the process of a later run, and the recorder. */
#ifndef GMT_RECORD_SPOOL_NAMES_H
#define GMT_RECORD_SPOOL_NAMES_H

#include <stdbool.h>

/* True for "<kind>-<number>"; *digits then points at the number, in `name`. */
bool gmt_spool_name_is_numbered(const char *name, const char *kind, const char **digits);

/* True for every file that a spool may hold; what else is in its folder is not ours to remove. */
bool gmt_spool_name_is_ours(const char *name);

#endif
