/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread of one run is which of another. Threads have numbers by who copied first, processes by who made the first call:
 * both may be others in the next run. So a thread is known by all that came back to it, and a process by its command and its
 * threads. Those that are equal are the same. Of the others one is known if it is the only one that is left in both runs; of
 * several that are left nobody knows which is which.
 */
#ifndef GMT_LAUNCHER_TRY_MATCH_H
#define GMT_LAUNCHER_TRY_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "preload/apply/note.h"

/* What came back to a thread, in the order of its calls. */
struct gmt_try_thread {
    struct gmt_try_download *downloads; /* one or more */
    size_t count;
    const struct gmt_try_thread
        *match; /* in the other run; NULL: nobody knows, or it is not there */
};

/* A process that anything came back to. */
struct gmt_try_member {
    char *command;
    struct gmt_try_thread *threads; /* in the order of what came back to them */
    size_t count;
    struct gmt_try_member *match;
};

struct gmt_try_results {
    struct gmt_try_download *downloads; /* of all */
    struct gmt_try_thread *threads;
    size_t count, thread_count;
    struct gmt_try_member members[GMT_TRY_PROCESSES];
    size_t member_count;
};

/* What the run brought to the host. 0 or -ENOMEM; to be freed in both cases. */
int gmt_try_results_make(const struct gmt_try_note *note, struct gmt_try_results *results);
void gmt_try_results_free(struct gmt_try_results *results);
/* Sets `match` in both. */
void gmt_try_results_match(struct gmt_try_results *a, struct gmt_try_results *b);

#endif
