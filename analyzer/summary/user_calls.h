/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread runs the user's code while a thread of a library has no frame of it. */
#ifndef GMT_ANALYZER_SUMMARY_USER_CALLS_H
#define GMT_ANALYZER_SUMMARY_USER_CALLS_H

#include "analyzer/findings/common_place.h"
#include "analyzer/summary/idle_causes.h"

/* Calls with a frame in a file of the user's own. Zeros are none. */
struct gmt_user_calls {
    const struct gmt_host_calls *calls;
    bool *users;           /* of each call: is it one? */
    uint32_t *rows;        /* indices of calls, by begin */
    int64_t (*threads)[2]; /* id of the thread and index of the call, by both */
    size_t count;
};

/* 0 or -ENOMEM; gmt_user_calls_free in every case. */
int gmt_user_calls_make(struct gmt_user_calls *made, const struct gmt_host_calls *calls,
                        const struct gmt_stack_frames *frames);
void gmt_user_calls_free(struct gmt_user_calls *made);

/*
 * Of code of the host whose calls before and after are none of these: puts in their place those around it of the thread that makes
 * the next of these, or, where it has made none before, of the one that made the last; where no thread has both, the last alone, if the piece
 * lies after the device's last work. Else all stays.
 */
void gmt_user_calls_put(const struct gmt_user_calls *user_calls, struct gmt_idle_cause *cause);

#endif
