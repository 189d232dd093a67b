/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of a program as a tree, for reports. */
#ifndef GMT_ANALYZER_SUMMARY_RANGE_TREE_H
#define GMT_ANALYZER_SUMMARY_RANGE_TREE_H

#include "analyzer/summary/range_paths.h"

/* Leaves as many paths as a report names, the largest; all else is others then. Before calls are added. 0 or -ENOMEM. */
int gmt_range_tree_limit(struct gmt_range_paths *paths);

/* Puts the paths into the report. `rows`: of each group of ranges, in their order; nodes
 * take their labels. 0 or -ENOMEM. */
int gmt_range_tree_report(const struct gmt_range_paths *paths, const struct gmt_range_row *rows,
                          struct gmt_report *report);

#endif
