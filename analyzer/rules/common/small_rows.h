/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of small independent kernels in one stream: what GM506 is about and others leave to it. */
#ifndef GMT_ANALYZER_RULES_COMMON_SMALL_ROWS_H
#define GMT_ANALYZER_RULES_COMMON_SMALL_ROWS_H

#include "analyzer/findings/rule.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/trace/launch_rows.h"

/* Launches first .. first + n - 1 of rows->order. */
struct gmt_small_row {
    size_t first, n;
    struct gmt_row sizes;
};

/* Calls found for each row of GMT_ROW_MIN_KERNELS kernels and more. */
void gmt_small_rows_find(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                         void (*found)(struct gmt_analysis *analysis,
                                       const struct gmt_launch_rows *rows,
                                       const struct gmt_small_row *row, void *user),
                         void *user);

/*
 * The run of a rule about single grids: `check` is called for each class but those most of whose
 * launches lie in such rows, where streams are the repair and a larger grid is not, or run beside
 * other kernels, so that nothing is idle for want of blocks.
 */
enum gmt_outcome gmt_check_outside_small_rows(struct gmt_analysis *analysis,
                                              void (*check)(struct gmt_analysis *analysis,
                                                            const struct gmt_tl_class *class));

#endif
