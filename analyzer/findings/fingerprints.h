/* SPDX-License-Identifier: Apache-2.0 */
/* What findings are known by in later runs and builds: what each is about, not how many there are. */
#ifndef GMT_ANALYZER_FINDINGS_FINGERPRINTS_H
#define GMT_ANALYZER_FINDINGS_FINGERPRINTS_H

#include "reports/model/report.h"

/*
 * The first form, which numbered the findings of a rule in a function: a new finding took the number of another. SARIF
 * still has it, so that alerts of then are found again.
 */
void gmt_finding_number(const struct gmt_report *report, struct gmt_finding *finding);

/*
 * Gives all findings and notes of a report their fingerprints: of the rule and the kernel; else of the rule, the function,
 * the file's name, the call, and the text of its line without blanks. Only findings that are equal in all of these are
 * numbered, in the order of their lines. Needs their quotes. 0 or -ENOMEM.
 */
int gmt_findings_identify(struct gmt_report *report);

#endif
