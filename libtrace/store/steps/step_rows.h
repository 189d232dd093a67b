/* SPDX-License-Identifier: Apache-2.0 */
/* Writes steps into the tables of a database, and keeps these small. */
#ifndef GMT_STORE_STEPS_STEP_ROWS_H
#define GMT_STORE_STEPS_STEP_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "libtrace/store/live/live_page.h"
#include "libtrace/store/steps/step_names.h"
#include "libtrace/store/steps/step_sums.h"

/* Beyond so many rows of `step`, the older half is merged in pairs. */
#define GMT_STEP_ROWS 8192

struct gmt_step_device {
    uint64_t busy_ns, idle_ns[GMT_LIVE_CAUSE_COUNT];
};

struct gmt_step_memory {
    uint64_t live_bytes, peak_bytes, live_count;
};

/* A step that has ended. */
struct gmt_step {
    enum gmt_step_source source;
    uint32_t name; /* gmt_step_names, 0: none */
    uint64_t begin_ns, end_ns;
    uint64_t range_ns;          /* 0: no range ends it */
    uint64_t count, longest_ns; /* steps in it, the longest of them */
    struct gmt_step_sums *sums;
    struct gmt_step_names *names;
    struct gmt_step_device time[GMT_STEP_DEVICES];
    struct gmt_step_memory
        memory[GMT_STEP_DEVICES + 1]; /* the last: page-locked memory of the host */
};

/* What the database needs besides; `stack` may be NULL. Each returns 0 or negative errno. */
struct gmt_step_sink {
    void *context;
    int (*string)(void *context, const char *text, int64_t *id); /* string.id of a name     */
    int (*stack)(void *context, uint32_t stack); /* a row refers to it; 1: it is not known */
};

struct gmt_step_writer;

/* schema: of the tables, "main" or "temp". most: rows of `step` to be kept, 0: all. Goes on behind the steps that are there. All
 * must outlive the writer. 0 or negative errno. */
int gmt_step_writer_open(sqlite3 *db, const char *schema, int64_t most,
                         const struct gmt_step_sink *sink, struct gmt_step_writer **out);
void gmt_step_writer_close(struct gmt_step_writer *writer);

/* Within a transaction of the caller's. The step's sums are used up. 0 or negative errno. */
int gmt_step_writer_put(struct gmt_step_writer *writer, struct gmt_step *step);

/* Merge the older half of the rows in pairs (step_merge.c). 0 or negative errno. */
int gmt_step_merge(sqlite3 *db, const char *schema);

#endif
