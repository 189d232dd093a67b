/* SPDX-License-Identifier: Apache-2.0 */
/* What came of fixes that were tried, in the JSON report. */
#include <jansson.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/tried.h"

static json_t *of_counts(const struct gmt_tried_counts *counts)
{
    json_t *refused = json_array();

    for (size_t i = 0; i < counts->refusal_count; i++) {
        const struct gmt_tried_refusal *refusal = &counts->refusals[i];

        json_array_append_new(refused,
                              json_pack("{so, so, so}", "reason", gmt_json_text(refusal->reason),
                                        "calls", gmt_json_number(refusal->calls), "bytes",
                                        gmt_json_number(refusal->bytes)));
    }
    return json_pack("{so, so, so, so, so, so}", "fix", gmt_json_text(counts->fix), "rules",
                     gmt_json_text(counts->rules), "calls", gmt_json_number(counts->calls), "bytes",
                     gmt_json_number(counts->bytes), "left_bytes",
                     gmt_json_number(counts->left_bytes), "refused", refused);
}

json_t *gmt_json_tried(const struct gmt_tried *tried)
{
    json_t *fixes = json_array(), *gain = json_null();

    for (size_t i = 0; i < tried->count; i++) {
        json_array_append_new(fixes, of_counts(&tried->counts[i]));
    }
    if (tried->pairs > 0) {
        gain = json_pack("{so, so, so, so, so, so}", "low_ns", gmt_json_ns(tried->gain.low_ns),
                         "best_ns", gmt_json_ns(tried->gain.best_ns), "high_ns",
                         gmt_json_ns(tried->gain.high_ns), "share_of_run",
                         gmt_json_number(tried->gain.share), "coverage",
                         gmt_json_number(tried->coverage), "pairs", gmt_json_number(tried->pairs));
    }
    return json_pack(
        "{so, ss, so, so, so, s{so, so, so, so}, so, sI, so}", "name", gmt_json_text(tried->name),
        "state", gmt_tried_state_name(tried->state), "why", gmt_json_text(tried->why), "difference",
        gmt_json_text(tried->difference), "gain", gain, "predicted", "low_ns",
        gmt_json_ns(tried->predicted.low_ns), "best_ns", gmt_json_ns(tried->predicted.best_ns),
        "high_ns", gmt_json_ns(tried->predicted.high_ns), "share_of_run",
        gmt_json_number(tried->predicted.share), "points", gmt_json_number(tried->points),
        "findings", (json_int_t)tried->findings, "fixes", fixes);
}

json_t *gmt_json_tried_results(const struct gmt_tried_results *results)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < results->count; i++) {
        json_array_append_new(rows, gmt_json_tried(&results->rows[i]));
    }
    return json_pack("{so, so, s{so, so, so, so}, so}", "file", gmt_json_text(results->file),
                     "run_ns", gmt_json_ns(results->untouched_ns), "compared", "calls",
                     gmt_json_number(results->calls), "bytes", gmt_json_number(results->bytes),
                     "unchecked_calls", gmt_json_number(results->unchecked_calls),
                     "unchecked_bytes", gmt_json_number(results->unchecked_bytes), "sets", rows);
}
