/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report over several traces goes: standard output, and the files of -o. */
#ifndef GMT_ANALYZER_COMMANDS_SEVERAL_OUTPUT_H
#define GMT_ANALYZER_COMMANDS_SEVERAL_OUTPUT_H

#include "analyzer/commands/options.h"
#include "reports/several/several.h"

/* 0 or negative errno, reported on standard error. */
int gmt_several_output(const struct gmt_analyze_options *options,
                       const struct gmt_several *several);

#endif
