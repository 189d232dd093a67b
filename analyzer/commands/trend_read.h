/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a trend, each analysed in a process of its own. */
#ifndef GMT_ANALYZER_COMMANDS_TREND_READ_H
#define GMT_ANALYZER_COMMANDS_TREND_READ_H

#include "analyzer/trend/trend.h"

/*
 * Fills in runs of which only `trace` is known, several at a time. What cannot be read costs only itself: it becomes
 * run->trouble. model: as option --model, or NULL. 0 or -ENOMEM.
 */
int gmt_trend_read(struct gmt_trend_run *runs, size_t count, const char *model,
                   struct gmt_arena *arena);

#endif
