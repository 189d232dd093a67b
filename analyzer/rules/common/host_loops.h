/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the program whose launches come one by one with code of the host between them: what GM507 leaves to GM512. */
#ifndef GMT_ANALYZER_RULES_COMMON_HOST_LOOPS_H
#define GMT_ANALYZER_RULES_COMMON_HOST_LOOPS_H

#include "analyzer/rules/common/host_stretches.h"

/*
 * All stretches with the same innermost function around all of their launches, in which launches are further apart than
 * gmt_host_bare_period_ns. Sums of struct gmt_host_stretch.
 */
struct gmt_host_loop {
    uint64_t key;
    bool has_place;
    size_t first, position; /* a launch, and that function in its stack */
    double stretches, launches, links, late;
    double kernel_ns, idle_ns, period_ns, code_ns, best_ns, low_ns;
    struct gmt_interval *waits,
        *spans; /* when the device waited; from the first call of each stretch to its last */
    size_t wait_count, wait_room, span_count, span_room;
};

struct gmt_host_loops {
    struct gmt_host_loop *rows;
    size_t count, room, last;
    const struct gmt_analysis *analysis;
    int rc;
};

/* Found when a rule first asks for them; the analysis frees them. NULL: they could not be. */
const struct gmt_host_loops *gmt_analysis_host_loops(struct gmt_analysis *analysis);
void gmt_host_loops_free(struct gmt_host_loops *loops);

/* Does the device wait for the host there, and long enough to be worth a word? */
bool gmt_host_loop_waits(const struct gmt_host_loop *loop);

#endif
