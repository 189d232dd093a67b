/* SPDX-License-Identifier: Apache-2.0 */
/* By what files of gmtrace are known, for those who move or remove them, the process of a later run and the recorder:
 * those of a spool by their names, a trace by a number in its header. */
#ifndef GMT_RECORD_SPOOL_NAMES_H
#define GMT_RECORD_SPOOL_NAMES_H

#include <stdbool.h>

/* SQLite's application_id of a trace, and where it stands in the file, big-endian (bytes). */
#define GMT_TRACE_APPLICATION_ID 0x676d7472 /* "gmtr" */
#define GMT_TRACE_APPLICATION_OFFSET 68

/* True for "<kind>-<number>"; *digits then points at the number, in `name`. */
bool gmt_spool_name_is_numbered(const char *name, const char *kind, const char **digits);

/* True for every file that a spool may hold; what else is in its folder is not ours to remove. */
bool gmt_spool_name_is_ours(const char *name);

#endif
