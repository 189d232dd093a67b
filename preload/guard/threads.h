/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that use CUDA, from the first call of each to its end. */
#ifndef GMT_PRELOAD_GUARD_THREADS_H
#define GMT_PRELOAD_GUARD_THREADS_H

/* Recording has begun: threads that end inside are counted from now on. */
void gmt_guard_start(void);
/* In a forked child. */
void gmt_guard_forked(void);

/* This thread's first call in this epoch. */
void gmt_guard_note_thread(void);
/* A call of this thread never ended. */
void gmt_guard_count_left_call(void);

#endif
