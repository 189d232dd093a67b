/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that failed, in the markdown report. */
#include "libtrace/base/format.h"
#include "reports/model/failed_calls.h"
#include "reports/text/markdown_parts.h"

void gmt_markdown_alarm(FILE *out, const struct gmt_report *r)
{
    const char *alarm = gmt_failed_alarm(r);

    if (alarm != NULL) {
        fputs("**", out);
        gmt_markdown_plain(out, alarm);
        fputs(".**\n\n", out);
    }
}

void gmt_markdown_failed_calls(FILE *out, const struct gmt_report *r)
{
    const struct gmt_failed_calls *failed = r->failed_calls;

    if (failed == NULL) {
        return;
    }
    fputs("**Failed calls**\n\n", out);
    for (size_t i = 0; i < failed->row_count; i++) {
        char count[GMT_FORMAT_BYTES];

        fprintf(out, "- %s x ", gmt_format_count(count, failed->rows[i].calls));
        gmt_markdown_plain(out, gmt_failed_words(r->arena, &failed->rows[i]));
        fputc('\n', out);
    }
    const char *more[] = {gmt_failed_others_words(r->arena, failed->other_calls),
                          gmt_failed_handled_words(r)};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        if (more[i] != NULL) {
            fputs("- ", out);
            gmt_markdown_plain(out, more[i]);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
}
