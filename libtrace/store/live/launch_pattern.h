/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a thread whose program names no ranges: from one launch of a kernel that is launched once per step to the next.
 * Which one that is is learnt: of the launch shapes (and graphs) that come at the same distance in launches, nine times of ten and eight
 * times at least, the one with the longest distance.
 */
#ifndef GMT_STORE_LIVE_LAUNCH_PATTERN_H
#define GMT_STORE_LIVE_LAUNCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GMT_PATTERN_LEAST = 2048, GMT_PATTERN_MOST = 16384 }; /* launches that are looked at */

struct gmt_launch_pattern {
    uint64_t *
        keys; /* of the launches that are learnt from; NULL: an anchor is known, or none is looked for yet */
    size_t count, capacity;
    uint64_t anchor;   /* 0: not known                                    */
    uint64_t since_ns; /* of its latest launch                            */
    size_t distance;   /* in launches, from one to the next               */
    size_t launches;   /* since the latest                                */
};

/* Zero-initialization is one that is to learn. */
void gmt_launch_pattern_free(struct gmt_launch_pattern *pattern);

/* A launch of `key` (never 0) at `ns`. True where a step ends with it: *step_ns is how long it took. Without memory nothing
 * is learnt. */
bool gmt_launch_pattern_add(struct gmt_launch_pattern *pattern, uint64_t key, uint64_t ns,
                            uint64_t *step_ns);

#endif
