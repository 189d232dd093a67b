/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed, in the terminal report. */
#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/failed_calls.h"
#include "reports/text/text_parts.h"

void gmt_text_alarm(struct gmt_text_out *t, const struct gmt_report *r)
{
    const char *alarm = gmt_failed_alarm(r);

    if (alarm != NULL) {
        gmt_text_style(t, GMT_STYLE_RED);
        gmt_text_wrap(t, 2, "", alarm);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        fputc('\n', t->out);
    }
}

static void row(struct gmt_text_out *t, const struct gmt_report *r,
                const struct gmt_failed_call *call)
{
    char count[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];
    const char *first = isnan(call->at_ns) ? ""
                                           : gmt_arena_text(r->arena, ", %s %s",
                                                            call->calls > 1 ? "first at" : "at",
                                                            gmt_format_ns(at, call->at_ns));

    gmt_text_wrap(t, 2, gmt_arena_text(r->arena, "%5s x  ", gmt_format_count(count, call->calls)),
                  gmt_arena_text(r->arena, "%s%s", gmt_failed_words(r->arena, call), first));
}

void gmt_text_failed_calls(struct gmt_text_out *t, const struct gmt_report *r)
{
    const struct gmt_failed_calls *failed = r->failed_calls;
    enum { SHORT = 3 };
    size_t shown = 0;
    double left_out = failed != NULL ? failed->other_calls : 0;

    if (failed == NULL) {
        return;
    }
    gmt_text_heading(t, "Failed calls");
    for (size_t i = 0; i < failed->row_count; i++) {
        if (t->detail->only_counts && shown == SHORT) {
            left_out += failed->rows[i].calls;
            continue;
        }
        row(t, r, &failed->rows[i]);
        shown++;
    }
    gmt_text_style(t, GMT_STYLE_DIM);
    if (left_out > 0) {
        gmt_text_wrap(t, 2, "", gmt_failed_others_words(r->arena, left_out));
    }
    if (failed->handled_count > 0) {
        gmt_text_wrap(t, 2, "", gmt_failed_handled_words(r));
    }
    gmt_text_style(t, GMT_STYLE_PLAIN);
    fputc('\n', t->out);
}
