/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing half of a spool (layout.h): one per process, written by many threads without locks.
 *
 * A thread reserves slots in its own chunk, fills them in place and commits them with one release
 * store. Nothing here prints, exits, or waits for the disk; what cannot be written is counted in
 * the control file. Async-signal: a hook that interrupts another hook on the same thread must not
 * write (the caller's re-entry guard sees to it).
 */
#ifndef GMT_RECORD_SPOOL_H
#define GMT_RECORD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

struct gmt_spool_config {
    const char *output;   /* path of trace.db; the spool becomes "<output>.spool" */
    uint64_t bytes_limit; /* of all chunks existing at one time */
    const char *run;      /* what the launcher calls its run; NULL: there is none */
    uint64_t ring_ns;     /* keep the last records only: gmt_control.ring_ns, 0: all */
    uint64_t ring_bytes;
};

/* Make the spool directory and its control file, and begin writing. Returns 0 or negative errno
 * (-EEXIST: there is a spool of that name already; nothing was changed). Of several processes that want
 * the name one gets it. The process has at most
 * one open spool. */
int gmt_spool_open(const struct gmt_spool_config *config);

/* True once gmt_spool_open has succeeded and until gmt_spool_abandon; false in a process that was
 * forked since, however (epoch.h). */
bool gmt_spool_is_open(void);

/* The mapped control page, NULL when no spool is open. Owned by the spool. */
struct gmt_control *gmt_spool_control(void);

/* `<output>.spool`, NULL when none is open. */
const char *gmt_spool_directory(void);

/* Its folder, to make files in (a descriptor for openat() only), or negative errno: it may have been removed,
 * and another be in its place (-ESTALE). */
int gmt_spool_enter(void);

/* Reserve `slots` (1..GMT_MAX_SLOTS) consecutive zeroed slots for this thread; NULL if the spool is
 * full or the disk is (counted in the control file). Must be followed by gmt_spool_commit before
 * this thread reserves again. */
void *gmt_spool_reserve(unsigned slots);

/* Make a reserved record visible to the reader. */
void gmt_spool_commit(void *record, enum gmt_rec_type type, unsigned slots);

/* A record that this thread has reserved and did not live to commit (it was cancelled, or jumped out
 * in between) becomes one that says nothing: readers stop at what is not committed. */
void gmt_spool_void(void);

/* ---- of side.c: what the 64 bytes of a call refer to ---- */

/* Append a side record: `fixed` (its head is filled in here) followed by `count` NUL-terminated
 * strings (NULL counts as ""), truncated to fit. Returns 0 or -ENOSPC. */
int gmt_spool_side(enum gmt_rec_type type, const void *fixed, size_t fixed_bytes,
                   const char *const *texts, size_t count);
/* The same with `tail_bytes` of binary data instead of texts; never truncated (-E2BIG). */
int gmt_spool_side_data(enum gmt_rec_type type, const void *fixed, size_t fixed_bytes,
                        const void *tail, size_t tail_bytes);

/* This thread's gmt_thread.id, from 1; writes the GMT_REC_THREAD record at first use. */
uint32_t gmt_spool_thread_id(void);

/* Ready-made side records. */
void gmt_spool_capability(const char *name, enum gmt_capability_state state, int code,
                          const char *detail, const char *remedy);
void gmt_spool_loss(const char *kind, const char *detail, uint64_t count);

/* gmtrace's own work, from `begin_ns` to now (CLOCK_MONOTONIC), by this thread of the program, which could
 * not go on meanwhile; `launch_seq`: of the launch that was counted, 0 = of none. */
void gmt_spool_own_time(enum gmt_own_work work, uint64_t begin_ns, uint32_t launch_seq);
/* The same around pieces of own time that have their rows already: `total_ns` is what gmt_spool_own_total_ns said at its begin,
 * since when no other thread of the program has waited for us. The sum gets what they leave. */
void gmt_spool_own_time_around(enum gmt_own_work work, uint64_t begin_ns, uint32_t launch_seq,
                               uint64_t total_ns);
/* The same of which budgets are not to count `excused_ns`. */
void gmt_spool_own_time_excused(enum gmt_own_work work, uint64_t begin_ns, uint64_t excused_ns);
/* The same by a thread of gmtrace's, for which none of the program's waited. */
void gmt_spool_own_time_beside(enum gmt_own_work work, uint64_t begin_ns);

/* The sum of it, of all threads of the process: setting up and ending a recording are not in it, nor what no thread of the
 * program waited for, nor what was excused. It never becomes less. */
uint64_t gmt_spool_own_total_ns(void);

/* exit() was reached: note it (GMT_REC_EXIT). Hooks may go on writing afterwards. */
void gmt_spool_note_exit(void);

/* ---- the end ---- */

/* In a forked child, however it was made: forget the parent's spool without touching its files. */
void gmt_spool_abandon(void);

/* Close a spool that nothing was written into, and remove it. */
void gmt_spool_withdraw(void);

#endif
