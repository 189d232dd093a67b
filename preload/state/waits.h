/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in streams that may wait for the host: host functions, waits on values, external semaphores, and
 * kernels that are given memory which the host can change.
 *
 * Measuring a launch waits for all that is under way in its context. If some of that waits for something
 * that the launching thread does later (it sets a flag, or holds a lock that a host function wants), the
 * program would wait for itself. So no launch is measured until all of these are over. The stream is asked, when a
 * launch is to be measured; where it is busy, an event of ours is put behind, for the next who asks.
 */
#ifndef GMT_PRELOAD_STATE_WAITS_H
#define GMT_PRELOAD_STATE_WAITS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct gmt_hook_call;

/* Whether launches may be measured at all: nothing is noted else. */
void gmt_waits_want(bool want);

/* Around a call that puts such an operation into the site's stream. The first waits, for a bounded time, for a
 * launch that is being measured. */
void gmt_waits_begin(void);
void gmt_waits_end(const struct gmt_hook_call *call);

/* Some graph has such a node: launches of graphs are such calls from now on. */
void gmt_waits_in_graphs(void);
bool gmt_waits_any_in_graphs(void);

/* True while one may be under way. Asks about streams and events, which breaks captures: not while there is
 * one. */
bool gmt_waits_under_way(void);

/* Polls for at most `within_ns`; false as soon as all are over. A call that is about to put in such an operation, and waits
 * for whoever measures, is not yet one of them. */
bool gmt_waits_under_way_after(uint64_t within_ns);

/* A call of the program that began at `begin_ticks` has waited for all that was under way in the context: what was put into
 * its streams before is over, in streams that cannot be asked (of other threads), or were too many to be tracked, too. */
void gmt_waits_drained(CUcontext context, uint64_t begin_ticks);

/* Before a stream is destroyed: nothing can be recorded in it any more. */
void gmt_waits_stream_going(CUstream stream);

/* The context is gone, and its events with it. NULL: all are, in a forked child. */
void gmt_waits_forget(CUcontext context);

#endif
