/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a trace among its events. */
#ifndef GMT_ANALYZER_COMMANDS_EXPORT_FINDINGS_H
#define GMT_ANALYZER_COMMANDS_EXPORT_FINDINGS_H

#include "analyzer/export/trace_events.h"

/* Behind those of all devices. */
enum { GMT_EXPORT_FINDINGS_PID = (1 << 20) + 16 };

/*
 * Analyses the trace, and writes what it finds: of each finding the times that it would shorten, the 1000 longest at most; without
 * such times a mark. Of a trace that cannot be analysed nothing is written, and standard error has the reason. 0 or -ENOMEM.
 */
int gmt_export_findings(struct gmt_events *events, const char *trace);

#endif
