/* SPDX-License-Identifier: Apache-2.0 */
/* Whose bytes the device's memory is: by places of the program and by libraries. */
#ifndef GMT_ANALYZER_HOLDERS_HOLDERS_H
#define GMT_ANALYZER_HOLDERS_HOLDERS_H

#include "analyzer/findings/rule_context.h"

/* Whose bytes allocators hold that register what they hand out. 0, -ENOMEM or -EIO. */
int gmt_heaps_report(struct gmt_analysis *analysis);

/* Whose bytes a memory snapshot shows, where one was given. 0 or -ENOMEM. */
int gmt_snapshot_report(struct gmt_analysis *analysis);

#endif
