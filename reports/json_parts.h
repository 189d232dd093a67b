/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the JSON report; each a new reference. */
#ifndef GMT_REPORTS_JSON_PARTS_H
#define GMT_REPORTS_JSON_PARTS_H

#include <jansson.h>

#include "reports/report.h"

json_t *gmt_json_saving(const struct gmt_saving *saving);
json_t *gmt_json_findings(const struct gmt_finding *findings, size_t n);
json_t *gmt_json_races(const struct gmt_report *report);
json_t *gmt_json_transfers(const struct gmt_transfer_row *rows, size_t n);
json_t *gmt_json_memory(const struct gmt_report *report);
json_t *gmt_json_where(const struct gmt_where *where);
json_t *gmt_json_kernels(const struct gmt_report *report);
json_t *gmt_json_coverage(const struct gmt_coverage *coverage);

#endif
