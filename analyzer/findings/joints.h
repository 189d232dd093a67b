/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with several problems: one saving for all fixes together, and what each adds to it. */
#ifndef GMT_ANALYZER_FINDINGS_JOINTS_H
#define GMT_ANALYZER_FINDINGS_JOINTS_H

#include "reports/model/report.h"

/*
 * Fills joints of the report from its ranked findings: one for each kernel that several priced ones are
 * about, by gmt_findings_combine of these; each has a part in proportion to its own saving. 0 or -ENOMEM.
 */
int gmt_joints_fill(struct gmt_report *report);

#endif
