/* SPDX-License-Identifier: Apache-2.0 */
/* One thing that could not be checked. */
#ifndef GMT_ANALYZER_SUMMARY_GAP_H
#define GMT_ANALYZER_SUMMARY_GAP_H

#include "reports/model/report.h"

/* A line under "could not check"; remedy may be NULL. */
void gmt_gap_add(struct gmt_report *report, const char *what, const char *why, const char *remedy);

#endif
