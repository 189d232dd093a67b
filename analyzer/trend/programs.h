/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of many programs, put in order. */
#ifndef GMT_ANALYZER_TREND_PROGRAMS_H
#define GMT_ANALYZER_TREND_PROGRAMS_H

#include "analyzer/trend/trend.h"

/* Fills trend->programs from trend->runs, which it sorts. 0 or -ENOMEM. */
int gmt_trend_programs(struct gmt_trend *trend, struct gmt_arena *arena);

#endif
