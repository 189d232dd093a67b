/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report as an object: what --format json prints, and what the page carries. */
#ifndef GMT_REPORTS_JSON_H
#define GMT_REPORTS_JSON_H

#include <jansson.h>

#include "reports/report.h"

/* A new reference; NULL: no memory. docs/json.md documents the shape. */
json_t *gmt_json_report(const struct gmt_report *report);

#endif
