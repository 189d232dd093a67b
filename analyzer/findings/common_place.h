/* SPDX-License-Identifier: Apache-2.0 */
/* The place that two calls have in common: the innermost function that was on the stack of both. */
#ifndef GMT_ANALYZER_FINDINGS_COMMON_PLACE_H
#define GMT_ANALYZER_FINDINGS_COMMON_PLACE_H

#include "analyzer/findings/where.h"

struct gmt_frame_kind {
    int64_t id, function; /* frame.id; string.id of its function, 0: not known */
    bool users, own, made;
};

/* All stacks of a trace. */
struct gmt_stack_frames {
    int64_t (*stacks)[2]; /* id, and index of its first frame; by id, with one more at the end */
    size_t stack_count;
    int64_t *frames; /* frame.id, innermost first, stack by stack */
    size_t frame_count;
    struct gmt_frame_kind *kinds; /* by id */
    size_t kind_count;
    /* Set by who looks up places: a stack that was too deep, and lacks its outermost frames, is taken for the same as another from where it
     * ends. Else both have nothing in common. */
    bool cut_are_same;
};

/* 0, -ENOMEM or -EIO; gmt_stack_frames_free in every case. */
int gmt_stack_frames_load(struct gmt_stack_frames *frames, const struct gmt_timeline *timeline);
void gmt_stack_frames_free(struct gmt_stack_frames *frames);

/* Is there a frame in a file that no library brought on this stack? */
bool gmt_stack_has_own(const struct gmt_stack_frames *frames, int64_t stack);

/*
 * One function that was active during both calls: its frame in either stack. They differ where it called from
 * two of its lines.
 */
struct gmt_common_place {
    int64_t function; /* as in gmt_frame_kind */
    int64_t frames[2];
    size_t positions[2]; /* in the stacks, 0: innermost */
    /* The innermost function of a library's that an interpreter ran, inside of this one, during both; 0 frames: none. */
    int64_t inner, inner_frames[2];
    size_t inner_positions[2];
};

/*
 * The innermost such function of the user's, chosen as places of calls are: the program's own before a library's where an
 * interpreter runs it. False: there is none, or a stack is not known (0).
 */
bool gmt_common_place_find(const struct gmt_stack_frames *frames, int64_t stack, int64_t other,
                           struct gmt_common_place *place);

#endif
