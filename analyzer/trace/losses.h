/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of a recording, by what they leave unknown. */
#ifndef GMT_ANALYZER_TRACE_LOSSES_H
#define GMT_ANALYZER_TRACE_LOSSES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/base/arena.h"

/* Kinds of loss, for SQL's IN. By these calls are missing; others are about times, counters and names. */
#define GMT_LOSSES_OF_CALLS \
    "'record dropped', 'corrupt record', 'truncated chunk', 'chunk lost', " \
    "'unknown record type', 'row refused', 'call not recorded'"
/* By these it is not known what calls used. */
#define GMT_LOSSES_OF_USES \
    "'allocation not tracked', 'graph nodes not read', 'graph not followed', " \
    "'graph update not followed'"

struct gmt_largest_loss {
    const char *kind; /* NULL: nothing was lost */
    const char *detail;
    int64_t count;
};

/* The largest loss of these kinds, with what may be shown of its detail (a report may be redacted; the trace
 * decides); the texts are the arena's. What cannot be read is noted (gmt_guard_noted). */
struct gmt_largest_loss gmt_loss_largest(sqlite3 *db, const char *kinds, struct gmt_arena *arena);

/* How a kind of loss reads. */
struct gmt_loss_wording {
    const char *kind;
    const char *what; /* is incomplete: the column on the left */
    const char *one, *many;
};

/* NULL: the kind has none. */
const struct gmt_loss_wording *gmt_loss_wording(const char *kind);
/* For so many of them, "records were dropped"; `wording` may be NULL. */
const char *gmt_loss_phrase(const struct gmt_loss_wording *wording, int64_t count);

/* Calls that a recording lost. text: the largest of its losses, "46,304 records were dropped: File too
 * large"; "" where it lost none. all: no call is left, so that a report would describe an empty run. */
struct gmt_lost_calls {
    char text[200];
    bool all;
};
struct gmt_lost_calls gmt_lost_calls(sqlite3 *db);

#endif
