/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the records of a spool say, one after the other, and writes the sums into its file `live` (live_page.h). */
#ifndef GMT_STORE_LIVE_LIVE_H
#define GMT_STORE_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/live/live_page.h"
#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/store/spool/timebase.h"

struct gmt_live;

/* NULL: no memory. For a spool whose folder is open, which stays the caller's: with a page in it already, what was
 * read before is not counted (is_partial). */
struct gmt_live *gmt_live_open(int folder, const struct gmt_control *control);
void gmt_live_close(struct gmt_live *live);

/* Count a record. Where memory is short, sums go on and what needs a table stops (is_partial). */
void gmt_live_record(struct gmt_live *live, struct gmt_timebase *time,
                     const struct gmt_spool_record *record);

/* The reader has come to the end of what there was at `now_ns` (CLOCK_MONOTONIC): the page is written, at most ten times a
 * second unless is_last. */
void gmt_live_pass(struct gmt_live *live, uint64_t now_ns, bool is_last);

/* The page as it was last written; the caller may set what the files of the recorder know: dumps, steps,
 * metrics_error. */
struct gmt_live_page *gmt_live_page(struct gmt_live *live);

#endif
