/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds steps of a program: ranges that it names; without a name in the option the outermost ranges of each
 * thread; in a program without such ranges what is between two launches of a pattern (launch_pattern.h).
 */
#ifndef GMT_STORE_LIVE_STEP_FINDER_H
#define GMT_STORE_LIVE_STEP_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/live/open_ranges.h"

struct gmt_step_finder;

struct gmt_step_range {
    uint64_t begin_ns, end_ns; /* end_ns 0: it is open */
    uint32_t thread;           /* gmt_thread.id; 0: not known */
    uint16_t depth;
    uint8_t kind; /* enum gmt_user_range_kind */
    const struct gmt_range_names *names;
};

/* name: of the range that is a step, NAME or NAME@DOMAIN; "": any outermost one of the program's own. NULL: no memory. */
struct gmt_step_finder *gmt_step_finder_open(const char *name);
void gmt_step_finder_close(struct gmt_step_finder *finder);

/* Is a range a step? From then on launches are not looked at. */
bool gmt_step_finder_range(struct gmt_step_finder *finder, const struct gmt_step_range *range);

/* What is launched: `what` is gmt_kernel.id, or the handle of a graph. Never 0. */
uint64_t gmt_step_finder_key(uint64_t what, const uint32_t grid[static 3],
                             const uint32_t block[static 3]);

/* A launch of `key` in a thread (gmt_thread.id) that begins at `ns`, in the thread's order. True where a step of this
 * thread ends with it: *step_ns is how long it took. *slot: a number of the thread, below GMT_STEP_THREADS. */
enum { GMT_STEP_THREADS = 16 }; /* further ones are not looked at */
bool gmt_step_finder_launch(struct gmt_step_finder *finder, uint32_t thread, uint64_t key,
                            uint64_t ns, uint64_t *step_ns, unsigned *slot);

#endif
