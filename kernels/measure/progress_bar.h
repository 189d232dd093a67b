/* SPDX-License-Identifier: Apache-2.0 */
/* A progress bar with the time left, on stderr, shown on a terminal only. */
#ifndef GMT_KERNELS_MEASURE_PROGRESS_BAR_H
#define GMT_KERNELS_MEASURE_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct gmt_progress_bar {
    bool shown;
    bool is_child; /* sent to the process that started this one, and not shown */
    double total;  /* in units of the caller's choice */
    double done;
    double reported; /* of a child: of what is done */
    uint64_t began_ns;
    uint64_t drawn_ns;
};

void gmt_progress_bar_begin(struct gmt_progress_bar *progress, double total);

/* The same in a process that measures for another one (child.h). */
void gmt_progress_bar_begin_child(struct gmt_progress_bar *progress);

/* Adds to what is done and redraws, at most ten times a second. progress may be NULL. */
void gmt_progress_bar_add(struct gmt_progress_bar *progress, double units, const char *what);

/* Takes the bar off the terminal. */
void gmt_progress_bar_end(struct gmt_progress_bar *progress);

#endif
