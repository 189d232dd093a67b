/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed, in the JSON report. */
#include <jansson.h>

#include "reports/json/json_parts.h"
#include "reports/json/json_values.h"
#include "reports/model/failed_calls.h"

static json_t *of_failed(const void *rows, size_t i)
{
    const struct gmt_failed_call *call = (const struct gmt_failed_call *)rows + i;

    return json_pack("{so, si, so, so, so, sb, so, so}", "where", gmt_json_where(&call->where),
                     "result", call->result, "error", gmt_json_text(call->error), "runtime_error",
                     gmt_json_text(call->runtime_name), "words", gmt_json_text(call->words),
                     "sticky", (int)call->sticky, "calls", gmt_json_number(call->calls), "at_ns",
                     gmt_json_ns(call->at_ns));
}

static json_t *of_handled(const void *rows, size_t i)
{
    const struct gmt_handled_error *error = (const struct gmt_handled_error *)rows + i;

    return json_pack("{si, so, so, so, so}", "result", error->result, "error",
                     gmt_json_text(error->error), "runtime_error",
                     gmt_json_text(error->runtime_name), "words", gmt_json_text(error->words),
                     "calls", gmt_json_number(error->calls));
}

void gmt_json_failed_calls(struct gmt_json_stream *s, const char *key, const struct gmt_report *r)
{
    const struct gmt_failed_calls *failed = r->failed_calls;

    gmt_json_open_object(s, key);
    gmt_json_give(s, "alarm", gmt_json_text(gmt_failed_alarm(r)));
    gmt_json_give_each(s, "rows", failed->row_count, of_failed, failed->rows);
    gmt_json_give(s, "other_calls", gmt_json_number(failed->other_calls));
    gmt_json_give_each(s, "handled", failed->handled_count, of_handled, failed->handled);
    gmt_json_close_object(s);
}
