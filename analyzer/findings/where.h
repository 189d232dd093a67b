/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about places share: frames of a stack, and whose they are. */
#ifndef GMT_ANALYZER_FINDINGS_WHERE_H
#define GMT_ANALYZER_FINDINGS_WHERE_H

#include "analyzer/findings/rule.h"

/* Code that was made at run time and has a name: a function of an interpreted language. */
bool gmt_frame_is_made(const struct gmt_report_frame *frame);

/* Code generated at run time, of which no symbols are known. */
bool gmt_frame_is_nameless(const struct gmt_report_frame *frame);

/* Not the runtime's, no launch stub, and not of the system's libraries. */
bool gmt_frame_is_beyond_runtime(const struct gmt_report_frame *frame);

/* A frame that may name a place of the user's; of these, own: in a file that no library brought. */
bool gmt_frame_is_users(const struct gmt_report_frame *frame);
bool gmt_frame_is_own(const struct gmt_report_frame *frame);

/* The frame that names the place of calls with that stack, as gmt_where_of_call finds it; the label is "" where there is none.
 * Needs a timeline with nothing but its database. */
struct gmt_where gmt_where_of_stack(struct gmt_analysis *analysis, int64_t stack_id);

/*
 * As gmt_where_of_call, but of the frame at `position` of the call's stack (0: innermost), and with the stack from
 * there outwards: what two calls have in common.
 */
struct gmt_where gmt_where_of_frame(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                                    size_t position);

/* As gmt_where_of_call, but of the frames from that position outwards, where one of these is of the user's. */
struct gmt_where gmt_where_from(struct gmt_analysis *analysis, const struct gmt_tl_call *call,
                                size_t position);

/* Frames of a stack, innermost first, in the arena; returns how many. */
size_t gmt_where_stack(struct gmt_analysis *analysis, struct gmt_arena *arena, int64_t stack_id,
                       struct gmt_report_frame **frames);

/* Module and label of a return address; false: it lies in no module that is known. */
bool gmt_where_caller(struct gmt_analysis *analysis, struct gmt_arena *arena, uint64_t caller,
                      struct gmt_where *where);

/*
 * As gmt_where_stack, of a call; where it has no stack, one frame of the file that its return address lies in.
 */
size_t gmt_where_frames(struct gmt_analysis *analysis, struct gmt_arena *arena,
                        const struct gmt_tl_call *call, struct gmt_report_frame **frames);

/* Of a kernel that is a template nvcc makes a wrapper of its stub, and a function of the kernel's name
 * that calls it: are these the two? */
bool gmt_where_is_stub(const char *wrapper, const char *function);

/* One sentence without its end, or NULL where there is nothing to say. `user`: the frame that the place
 * is named by, NULL: none. */
const char *gmt_where_note(struct gmt_arena *arena, const struct gmt_report_frame *frames, size_t n,
                           const struct gmt_report_frame *user);

/* The same of a call whose stack is not its own; NULL: it is. */
const char *gmt_where_taken(struct gmt_analysis *analysis, const struct gmt_tl_call *call);

/* What the label of a place in PyTorch's backward pass ends with that has no line. */
#define GMT_WHERE_BACKWARD " (PyTorch's backward pass)"

/* Down to the start of a thread, in which there is neither Python nor a file that nobody has installed. */
bool gmt_where_is_thread_of_libraries(const struct gmt_where *where);

/* Name of the shared library that made the call of its own accord: innermost outside of the runtime, and
 * without source lines. *function: the last one in it on the way out, NULL: not known. Returns NULL
 * where the program's own code called, or nobody knows. */
const char *gmt_where_library(const struct gmt_where *where, const char **function);

#endif
