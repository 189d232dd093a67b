/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the JSON report; each that is returned is a new reference. */
#ifndef GMT_REPORTS_JSON_JSON_PARTS_H
#define GMT_REPORTS_JSON_JSON_PARTS_H

#include <jansson.h>

#include "reports/json/json_stream.h"
#include "reports/model/report.h"

json_t *gmt_json_saving(const struct gmt_saving *saving);
json_t *gmt_json_where(const struct gmt_where *where);
/* What the recorded time went to; null where that is not known. */
json_t *gmt_json_time(const struct gmt_report *report);
json_t *gmt_json_coverage(const struct gmt_coverage *coverage);
void gmt_json_memory(struct gmt_json_stream *stream, const char *key,
                     const struct gmt_report *report);
/* Only where calls failed. */
void gmt_json_failed_calls(struct gmt_json_stream *stream, const char *key,
                           const struct gmt_report *report);

/* What allocators have registered, and the snapshot: these must be there. */
json_t *gmt_json_heaps(const struct gmt_report *report);
json_t *gmt_json_snapshot(const struct gmt_report *report);

/* Each piece of evidence by its name. */
json_t *gmt_json_evidence(const struct gmt_finding *finding);
/* What came of a set of fixes, and of all that were tried. */
json_t *gmt_json_tried(const struct gmt_tried *tried);
json_t *gmt_json_tried_results(const struct gmt_tried_results *results);

/* For gmt_json_give_each: one of an array of findings, races, transfer rows or kernel rows. */
json_t *gmt_json_finding(const void *findings, size_t i);
json_t *gmt_json_race(const void *races, size_t i);
json_t *gmt_json_transfer(const void *rows, size_t i);
json_t *gmt_json_kernel(const void *rows, size_t i);
json_t *gmt_json_call(const void *rows, size_t i);

#endif
