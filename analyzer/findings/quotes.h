/* SPDX-License-Identifier: Apache-2.0 */
/* The source around the place of each finding, as far as the trace carries it. */
#ifndef GMT_ANALYZER_FINDINGS_QUOTES_H
#define GMT_ANALYZER_FINDINGS_QUOTES_H

#include <sqlite3.h>

#include "reports/model/report.h"

/* Fills in the lines of finding.place. */
void gmt_findings_quote(sqlite3 *db, struct gmt_arena *arena, struct gmt_finding *findings,
                        size_t n);

#endif
