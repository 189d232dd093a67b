/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring launches: the collector's begin and end, and the sessions they need.
 *
 * One lock guards the session and the sampling rules. The thread that has a range open holds it from
 * begin to end, so that nothing can end the session under it; nobody ever waits for it on behalf of
 * a launch.
 *
 * No call waits without end for the device (sessions.h). A launch whose kernel has not ended a second later stays
 * begun; it is ended by the next call that finds the device idle. Its values are kept if nothing was launched meanwhile.
 */
#ifndef GMT_CUPTI_MEASURE_MEASURE_H
#define GMT_CUPTI_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/collector.h"

/* `api` and `config` must stay valid for the life of the process. */
void gmt_measure_start(const struct gmt_cupti_api *api, const struct gmt_collector_config *config);

/* End a session that runs in `context` (NULL = any). Waits for an open range at most 0.4 s, for the device 1 s. */
void gmt_measure_drop_context(void *context);

enum gmt_counter_group gmt_measure_want(struct gmt_collector_class *cls);
/* A capture is about to begin: let `count` count it in config->captures, and wait until no session is being
 * started or ended, for that would break it. Bounded. */
void gmt_measure_capture_begins(void (*count)(void));
/* Wait for the end of a launch that is being measured. Bounded. */
void gmt_measure_quiesce(void);
/* gmt_collector_ops.measuring. */
bool gmt_measure_is_busy(void);
enum gmt_counter_group gmt_measure_begin(const struct gmt_launch_call *call);
void gmt_measure_end(const struct gmt_launch_call *call, enum gmt_counter_group group);
/* gmt_collector_ops.waited. A few ns when there is nothing to do. */
void gmt_measure_waited(void);

/* gmt_collector_ops.prepare, repeats, charge and got_ready. */
bool gmt_measure_prepare(const struct gmt_launch_call *call);
void gmt_measure_launched(struct gmt_collector_class *cls, uint64_t count);
bool gmt_measure_lacks(const struct gmt_collector_class *cls);
uint64_t gmt_measure_repeats(struct gmt_collector_class *cls, uint64_t kernel_ns,
                             uint64_t copies_ns);
void gmt_measure_charge(uint64_t ns);
void gmt_measure_got_ready(uint64_t ns, bool in_vain);

/* Another user of CUPTI is about to begin: measure nothing until gmt_measure_resume, and end what runs.
 * False: a launch is being measured, by this very thread or for over 1.6 s; the session ends with it.
 * The caller has made the driver calls of its thread unrecorded (gmt_collector_config.enter).
 * `initialize`: CUPTI's profiler has been taken down meanwhile. */
bool gmt_measure_suspend(void);
void gmt_measure_resume(bool initialize);

/* End everything and write what was not measured, and why. Bounded like gmt_measure_drop_context. */
void gmt_measure_finish(void);

/* Before a fork: a child that ends by exit runs CUPTI's exit handlers, which would go through what is
 * configured in contexts of the parent. Bounded. */
void gmt_measure_forking(void);

/* In a forked child: nothing is measured any more, and no CUPTI function is called. */
void gmt_measure_abandon(void);

/* ---- of measure.c, for measure_stops.c ---- */

/* End a pending launch, if the device gets idle within `ns`. True: none is pending any more. `own`: 1 where the caller's
 * launch is counted in config->launches and not made yet, else 0. With the lock held. */
bool gmt_measure_finish_pending(unsigned own, uint64_t ns);

/* Is this thread between the begin and the end of a measured launch (in a callback of the program's)? */
bool gmt_measure_is_in_launch(void);

#endif
