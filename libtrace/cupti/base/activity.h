/* SPDX-License-Identifier: Apache-2.0 */
/* Device timestamps: CUPTI's activity records of kernels, copies and memsets, into the spool. */
#ifndef GMT_CUPTI_BASE_ACTIVITY_H
#define GMT_CUPTI_BASE_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/fetch_thread.h"
#include "libtrace/cupti/base/loader.h"

/* Start, or take up again. `api` must stay valid for the life of the process. *failed names the CUPTI
 * function that refused. */
CUptiResult gmt_activity_start(const struct gmt_cupti_api *api, const char **failed);

/* Stand back for another user of CUPTI in this process, in two steps: record nothing new; then have
 * what was recorded delivered, which takes 0.25 s at most, and leave CUPTI with that flush period (0:
 * its own) and clock (NULL: its own). False: not all of our buffers have come back yet; they will come to
 * us when they do. */
void gmt_activity_disable(void);
bool gmt_activity_hand_over(uint32_t flush_period_ms, CUpti_TimestampCallbackFunc clock);
/* CUPTI's own clock: of records and of cuptiGetTimestamp. */
uint64_t gmt_activity_default_clock_ns(void);

/* gmt_context.id of CUPTI's context id. */
void gmt_activity_add_context(uint32_t cupti_context, uint32_t id);

/* Kernel records on or off (copies and memsets stay on); see ranges.h for why. */
void gmt_activity_set_kernels(bool on);
bool gmt_activity_kernels_on(void);

/* All records off, or on again; what is said of kernels meanwhile is heeded afterwards. */
void gmt_activity_rest(bool rests);

/* All records off until it is over, whatever is said of kernels meanwhile: for work of gmtrace's own on the device. One
 * thread at a time. */
void gmt_activity_own_work(bool begins);

/* CUPTI's worker thread, see fetch_thread.h. For its pause records of kernels have to be off. */
void gmt_activity_find_fetching(void);
bool gmt_activity_may_pause_fetching(void);
enum gmt_fetch_thread gmt_activity_pause_fetching(void);
void gmt_activity_resume_fetching(void);

/* Deliver what is complete; with `forced` also what is not (its times are 0). At the end only: after it the first launch of a
 * graph can end the program (docs/cupti-notes.md). */
void gmt_activity_flush(bool forced);

/* In a forked child: CUPTI's callbacks write nothing any more. */
void gmt_activity_abandon(void);

#endif
