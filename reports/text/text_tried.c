/* SPDX-License-Identifier: Apache-2.0 */
/* What fixes that were tried have gained, in the terminal report: all together, and those that no finding is about. */
#include "libtrace/base/format.h"
#include "reports/model/tried.h"
#include "reports/text/text_parts.h"

/* The first finding that it is for, from 1; 0: none. */
static size_t finding_of(const struct gmt_report *r, const struct gmt_tried *tried)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        if (r->findings[i].tried == tried) {
            return i + 1;
        }
    }
    return 0;
}

void gmt_text_tried(struct gmt_text_out *t, const struct gmt_report *r)
{
    const struct gmt_tried_results *results = r->tried;

    if (results == NULL) {
        return;
    }
    gmt_text_heading(t, gmt_arena_text(r->arena, "Tried on this program: %zu set%s of fixes",
                                       results->count, results->count == 1 ? "" : "s"));
    for (size_t i = 0; i < results->count; i++) {
        const struct gmt_tried *tried = &results->rows[i];
        size_t finding = finding_of(r, tried);

        gmt_text_wrap(t, 2, "- ",
                      finding > 0 ? gmt_arena_text(r->arena, "%s %s; %s (finding %zu)", tried->name,
                                                   gmt_tried_gain_words(r->arena, results, tried),
                                                   gmt_tried_state_name(tried->state), finding)
                                  : gmt_tried_words(r->arena, results, tried));
    }
    gmt_text_wrap(t, 2, "", gmt_tried_compared_words(r->arena, results));
    fputc('\n', t->out);
}
