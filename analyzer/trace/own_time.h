/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a recorded run was gmtrace's own work, and so how long the program would have taken.
 *
 * Table own_time says when a thread of the program waited for gmtrace. Not all of that time is lost to
 * the program: while the host waits, the device goes on with what it has; and a kernel that is counted runs
 * its own time in any case. What counts is when the host next waits for the device (a synchronization, a
 * blocking copy, the end). Of all held time H since the wait before, let D be the part in which the device
 * had nothing to do, less the own time of the kernels that were counted meanwhile, and S the time from the
 * device's last operation to the begin of the wait. Without gmtrace the host gets there H earlier, and the
 * device is done S + D earlier: the program gains the smaller of both.
 *
 * Hashing (fingerprint.hash_ns) is added as it is: of the thread that did most of it.
 */
#ifndef GMT_ANALYZER_TRACE_OWN_TIME_H
#define GMT_ANALYZER_TRACE_OWN_TIME_H

#include "analyzer/trace/timeline.h"

/* Fills own, own_count and own_ns of a timeline whose other parts are complete (price/cycle_times.h too). Traces of versions that did
 * not record it, and those of the software device, have own_ns NAN. 0, -ENOMEM or -EIO. */
int gmt_own_time_load(struct gmt_timeline *timeline);

/*
 * Time of the kernels of launches that were measured, ns: median_ns of its class for each. They are in
 * no activity record, and ran alone, so that they add to gmt_timeline.busy.
 */
double gmt_measured_kernels_ns(const struct gmt_timeline *timeline);

#endif
