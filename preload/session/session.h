/* SPDX-License-Identifier: Apache-2.0 */
/* What every part asks of the recording: whether it has begun, who measures, and counts of the whole process. */
#ifndef GMT_PRELOAD_SESSION_SESSION_H
#define GMT_PRELOAD_SESSION_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

/* Recording has begun. */
extern _Atomic bool gmt_started;

/* The collector at work, or NULL. */
extern const struct gmt_collector_ops *gmt_collector;

/* Launches issued by all threads so far; a launch's number is what it was incremented to. */
extern _Atomic uint64_t gmt_launches;
/* Those of them that the driver has returned from. */
extern _Atomic uint64_t gmt_launches_done;

/* Calls while another thread was starting, and would not finish. */
extern _Atomic uint64_t gmt_missed_calls;

#endif
