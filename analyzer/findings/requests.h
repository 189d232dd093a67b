/* SPDX-License-Identifier: Apache-2.0 */
/* What the user can do about a call that no line of the user's asked for. */
#ifndef GMT_ANALYZER_FINDINGS_REQUESTS_H
#define GMT_ANALYZER_FINDINGS_REQUESTS_H

#include "analyzer/findings/rule.h"

/*
 * Of a finding whose rule is about what a call asks for: gives it the fix where an operation of PyTorch, or a package of
 * Python, asked, and makes it a note where a library did, for itself. false: neither, it is as before.
 */
bool gmt_finding_advise_request(struct gmt_analysis *analysis, struct gmt_finding *finding,
                                const struct gmt_where *where);

#endif
