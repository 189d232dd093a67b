/* SPDX-License-Identifier: Apache-2.0 */
/* What where.c and where_note.c share: frames of a stack, and whose they are. */
#ifndef GMT_ANALYZER_WHERE_H
#define GMT_ANALYZER_WHERE_H

#include "analyzer/rule.h"

/* Code that was made at run time and has a name: a function of an interpreted language. */
bool gmt_frame_is_made(const struct gmt_report_frame *frame);

/* Code that was made at run time, and nobody told what it is. */
bool gmt_frame_is_nameless(const struct gmt_report_frame *frame);

/* One sentence without its end, or NULL where there is nothing to say. `user`: the frame that the place
 * is named by, NULL: none. */
const char *gmt_where_note(struct gmt_arena *arena, const struct gmt_report_frame *frames, size_t n,
                           const struct gmt_report_frame *user);

#endif
