/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a recorder write a dump unasked: errors of CUDA, and how the program ended. */
#ifndef GMT_STORE_RECORDING_RING_CAUSES_H
#define GMT_STORE_RECORDING_RING_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/recording/process_watch.h"
#include "libtrace/store/spool/spool_reader.h"

/* Names of the driver's functions, by gmt_api.id; zero-initialization is an empty table. */
struct gmt_ring_apis {
    char *name[1024];
};

void gmt_ring_apis_free(struct gmt_ring_apis *apis);

/* How many dumps slow steps may have: one per window, ten at once, and one more each hour. A server runs for weeks,
 * and its disk is not to be filled. Zero-initialization is a budget that nothing was taken of. */
struct gmt_ring_budget {
    unsigned taken;   /* of the ten, those that have not come back */
    uint64_t last_ns; /* of the latest dump; 0: none               */
    uint64_t back_ns; /* since when the next comes back            */
};

/* At `now_ns` (CLOCK_MONOTONIC), for a window of `window_ns`: true, and it is taken; or there is none now. */
bool gmt_ring_budget_take(struct gmt_ring_budget *budget, uint64_t now_ns, uint64_t window_ns);

/* Look at a record. True where it is a call whose failure is worth a dump; `cause` says which. */
bool gmt_ring_is_failure(struct gmt_ring_apis *apis, const struct gmt_spool_record *record,
                         char cause[static 128]);

/* True where a program that ended like this did not end well; `cause` says how. has_exited: it called exit(). */
bool gmt_ring_is_bad_end(enum gmt_process_fate fate, int exit_status, bool has_exited,
                         char cause[static 128]);

#endif
