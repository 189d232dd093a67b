/* SPDX-License-Identifier: Apache-2.0 */
/* Who supplies device times and counters. */
#ifndef GMT_PRELOAD_RECORDING_COLLECT_H
#define GMT_PRELOAD_RECORDING_COLLECT_H

#include <stdbool.h>

#include "libtrace/record/collector.h"

/* The collector that runs from now on, or NULL: the trace says why. `inherited_cupti`: the process was
 * forked from one that used CUPTI, which must not be touched here. */
const struct gmt_collector_ops *gmt_collect_start(bool inherited_cupti);

/* Who may switch records of devices off to keep within --overhead: nobody, unless it was asked for. After gmt_collect_start. */
void gmt_collect_govern(void);

#endif
