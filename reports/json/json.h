/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: what --format json prints, and what the page carries. */
#ifndef GMT_REPORTS_JSON_JSON_H
#define GMT_REPORTS_JSON_JSON_H

#include "reports/json/json_stream.h"
#include "reports/model/report.h"
#include "reports/model/writer.h"

/* docs/json.md documents the shape. `key` as gmt_json_give has it. */
void gmt_json_report(struct gmt_json_stream *stream, const char *key,
                     const struct gmt_report *report);

extern const struct gmt_writer gmt_writer_json;

#endif
