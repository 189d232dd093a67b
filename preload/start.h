/* SPDX-License-Identifier: Apache-2.0 */
/* When recording starts and stops (gmt_start is declared in hook.h). */
#ifndef GMT_PRELOAD_START_H
#define GMT_PRELOAD_START_H

#include <stdint.h>

#include "libtrace/record/collector.h"

/* The collector at work, or NULL. */
extern const struct gmt_collector_ops *gmt_collector;

/* Launches issued by all threads so far; a launch's number is what it was incremented to. */
extern _Atomic uint64_t gmt_launches;
/* Those of them that the driver has returned from. */
extern _Atomic uint64_t gmt_launches_done;

#endif
