/* SPDX-License-Identifier: Apache-2.0 */
/* Fixes that are mechanical, as what they change in the source that the trace carries. */
#ifndef GMT_ANALYZER_FINDINGS_PATCHES_H
#define GMT_ANALYZER_FINDINGS_PATCHES_H

#include <sqlite3.h>

#include "reports/model/report.h"

/*
 * Fills in finding.edit and finding.patch of those whose fix is the change of one line, after gmt_answer_fill. Files are
 * named relative to `folder` (NULL: none) where they lie in it, as `git apply` and `patch -p1` take them.
 */
void gmt_findings_patch(sqlite3 *db, struct gmt_arena *arena, const char *folder,
                        struct gmt_finding *findings, size_t n);

#endif
