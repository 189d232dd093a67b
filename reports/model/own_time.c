/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a recorded run was gmtrace's own work, in a sentence. */
#include "reports/model/own_time.h"

#include <stdio.h>

#include "libtrace/base/format.h"

const char *gmt_own_time_line(char *line, const struct gmt_report *report)
{
    char recorded[GMT_FORMAT_BYTES], own[GMT_FORMAT_BYTES], program[GMT_FORMAT_BYTES];

    if (!(report->own_ns > 0)) {
        return NULL;
    }
    snprintf(line, GMT_OWN_TIME_BYTES, "recorded %s, gmtrace's own %s, program about %s",
             gmt_format_ns(recorded, report->recorded_ns), gmt_format_ns(own, report->own_ns),
             gmt_format_ns(program, report->wall_ns));
    return line;
}
