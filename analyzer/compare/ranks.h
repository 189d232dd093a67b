/* SPDX-License-Identifier: Apache-2.0 */
/* Sums several traces of one program up, and finds the odd one out. */
#ifndef GMT_ANALYZER_COMPARE_RANKS_H
#define GMT_ANALYZER_COMPARE_RANKS_H

#include "reports/model/ranks.h"

/* The summaries must live as long as the ranks, whose memory is the arena's. */
void gmt_ranks_fill(struct gmt_ranks *ranks, const struct gmt_summary *traces, size_t n,
                    struct gmt_arena *arena);

#endif
