/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks have enough of the steps that are compared. */
#ifndef GMT_ANALYZER_FLEET_PRESENCE_H
#define GMT_ANALYZER_FLEET_PRESENCE_H

#include "analyzer/fleet/detect.h"

/* The whole of a run, and its quarters. */
enum { GMT_FLEET_WINDOWS_MOST = 5 };

/* Steps begin to end - 1, from the first common one. */
struct gmt_fleet_window {
    size_t begin, end;
};

/* How many windows so many steps have: the whole is the first; with few steps there are no quarters. */
size_t gmt_fleet_window_count(size_t steps);
struct gmt_fleet_window gmt_fleet_window_at(size_t steps, size_t index);

/* Has the rank half of these steps? With fewer it has no level there (residuals.h). */
bool gmt_fleet_is_present(const struct gmt_fleet_rank *rank, size_t first_step, size_t steps);

/* Have fewer ranks than GMT_OUTLIERS_LEAST enough of the window? Then its steps are the spread. */
bool gmt_fleet_is_few(const struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                      struct gmt_fleet_window window);
/* The same of what grows through the whole run: between its first and its last quarter. */
bool gmt_fleet_is_few_for_growth(const struct gmt_fleet *fleet,
                                 const struct gmt_fleet_result *result);

/* Remarks on ranks that some window does not compare, as they lack its steps. Text is the arena's. */
void gmt_fleet_remark_short(struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                            struct gmt_arena *arena);

#endif
