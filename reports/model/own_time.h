/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GMT_REPORTS_MODEL_OWN_TIME_H
#define GMT_REPORTS_MODEL_OWN_TIME_H

#include "reports/model/report.h"

enum { GMT_OWN_TIME_BYTES = 128 };

/* "recorded 1.73 s, gmtrace's own 740 ms, program about 990 ms" into line (GMT_OWN_TIME_BYTES), which is
 * returned; NULL where the trace does not know, or there is none. */
const char *gmt_own_time_line(char *line, const struct gmt_report *report);

#endif
