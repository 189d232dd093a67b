/* SPDX-License-Identifier: Apache-2.0 */
/* What where.c and where_note.c share: frames of a stack, and whose they are. */
#ifndef GMT_ANALYZER_FINDINGS_WHERE_H
#define GMT_ANALYZER_FINDINGS_WHERE_H

#include "analyzer/findings/rule.h"

/* Code that was made at run time and has a name: a function of an interpreted language. */
bool gmt_frame_is_made(const struct gmt_report_frame *frame);

/* Code generated at run time, of which no symbols are known. */
bool gmt_frame_is_nameless(const struct gmt_report_frame *frame);

/* A frame that may name a place of the user's; of these, own: in a file that no library brought. */
bool gmt_frame_is_users(const struct gmt_report_frame *frame);
bool gmt_frame_is_own(const struct gmt_report_frame *frame);

/*
 * As gmt_where_of_call, but of the frame at `position` of the call's stack (0: innermost), and with the stack from
 * there outwards: what two calls have in common.
 */
struct gmt_where gmt_where_of_frame(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                                    size_t position);

/* Of a kernel that is a template nvcc makes a wrapper of its stub, and a function of the kernel's name
 * that calls it: are these the two? */
bool gmt_where_is_stub(const char *wrapper, const char *function);

/* One sentence without its end, or NULL where there is nothing to say. `user`: the frame that the place
 * is named by, NULL: none. */
const char *gmt_where_note(struct gmt_arena *arena, const struct gmt_report_frame *frames, size_t n,
                           const struct gmt_report_frame *user);

/* Name of the shared library that made the call of its own accord: innermost outside of the runtime, and
 * without source lines. *function: the last one in it on the way out, NULL: not known. Returns NULL
 * where the program's own code called, or nobody knows. */
const char *gmt_where_library(const struct gmt_where *where, const char **function);

#endif
