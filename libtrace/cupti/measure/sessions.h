/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session of the range profiler, and what measuring shares: sampling rules, budget, one lock.
 *
 * CUPTI's calls that begin or end a range or a session block until the context is idle, some with the driver's locks
 * held. A kernel may spin on what its own thread does next (a copy that sets a flag, one more launch): a deadlock. So
 * these calls are made where all streams are idle, by a thread that launches or has just synchronized. One exception:
 * if another CUPTI client takes over during a capture, or while the device is at work, the watch thread ends the session when
 * that is over.
 */
#ifndef GMT_CUPTI_MEASURE_SESSIONS_H
#define GMT_CUPTI_MEASURE_SESSIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/measure/ranges.h"
#include "libtrace/cupti/measure/sampling.h"
#include "libtrace/record/collector.h"
#include "libtrace/threads/mutex.h"

#define GMT_LOCK_TRIES 400u /* of 1 ms */

struct gmt_measuring {
    const struct gmt_cupti_api *api;
    const struct gmt_collector_config *config;
    struct gmt_sampling sampling;
    struct gmt_ranges ranges;
    struct gmt_mutex lock;  /* for the session and the rules */
    _Atomic bool counting;  /* started, and not refused or finished */
    _Atomic bool suspended; /* another user of CUPTI is at work: no range begins, no session runs */
    /* The kernel of a measured launch still ran at the timeout: its range or counting is to be ended later. The lock is
     * free meanwhile, but nothing else is begun or ended. */
    _Atomic bool pending;
    _Atomic bool opening;         /* a session is being begun, which takes long */
    _Atomic int captures_waiting; /* of those that are counted: for the end of a measured launch */
    _Atomic bool end_wanted;      /* the session has measured nothing for a while */
    bool any_session;             /* one has run in this process */
};

extern struct gmt_measuring gmt_measuring;

/* Around calls into CUPTI (gmt_collector_config.enter). */
void gmt_session_enter(void);
void gmt_session_leave(void);

/* Take the lock within that many milliseconds. */
bool gmt_session_lock(unsigned tries);

/* Starting or ending a session during a capture, by any thread, breaks the capture. */
bool gmt_session_capturing(void);

/* True once nothing is under way in the current context, false after `ns`. After a timeout nobody waits again until the
 * device has been idle. Not during captures. */
bool gmt_session_idle_within(uint64_t ns);
/* What is under way in the current context was waited for in vain, and still is. */
bool gmt_session_is_late(void);

/* The profiler's libraries. Their files are read into memory when recording begins, which takes 0.1 to 0.5 s from disk: meanwhile
 * the program makes its context. They are loaded before the first session, and without the lock, which whoever begins a capture
 * waits for only so long. That takes 0.1 s, for one kernel as for a thousand, and no budget is charged for it. False: another
 * thread is at it. */
void gmt_session_read_profiler(void);
bool gmt_session_load_profiler(void);

/* ---- with the lock held ---- */

/* Does work that may wait for the host run on? Most of it does not (host functions that only note something, kernels that
 * are given memory of the host): it is waited for a little. */
bool gmt_session_host_waits(void);

/* The session that a launch needs runs, and has room for it. */
bool gmt_session_runs(const void *context, enum gmt_counter_group group);
/* What opening it is expected to take off the budget, ns; 0 of the first one of the process. */
uint64_t gmt_session_cost_ns(void *context, enum gmt_counter_group group);

/* Begin the session for `group` in the context at that place (contexts.h), which is current, and charge for it what has
 * passed since `began_ns`. False: refused. */
bool gmt_session_open(uint32_t at, enum gmt_counter_group group, uint64_t began_ns);

/* Nothing is under way in its context, or there is none, within `ns`; false in a capture. Whoever ends it without having been asked
 * to measure asks this first: the end would wait, with the driver's locks held, for a kernel that may wait for this thread. */
bool gmt_session_may_close(uint64_t ns);
/* End it, and give the profiler back. */
void gmt_session_close(void);

/* End the one that has measured nothing for a while. */
void gmt_session_end_idle(void);

/* A refusal that will not go away ends all measuring, one of a single group takes that group out. */
void gmt_session_refused(CUptiResult result, enum gmt_counter_group group);

#endif
