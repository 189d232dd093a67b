/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of the recording's check of itself means. */
#include "reports/model/coverage.h"

#include <string.h>

bool gmt_coverage_matters(const struct gmt_coverage_line *line)
{
    return line->class == NULL || strcmp(line->class, "other") != 0;
}
