/* SPDX-License-Identifier: Apache-2.0 */
/* The occupancy calculator's part of the JSON report. */
#ifndef GMT_REPORTS_JSON_JSON_OCCUPANCY_H
#define GMT_REPORTS_JSON_JSON_OCCUPANCY_H

#include <jansson.h>

#include "reports/model/report.h"

/* kernels[].occupancy, as docs/json.md has it; a new reference. */
json_t *gmt_json_occupancy(const struct gmt_report_occupancy *occupancy);

#endif
