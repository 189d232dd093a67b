/* SPDX-License-Identifier: Apache-2.0 */
/* The memory snapshot in markdown. */
#include "reports/text/markdown_snapshot.h"

#include "libtrace/base/format.h"
#include "reports/model/report.h"
#include "reports/model/whose.h"
#include "reports/text/markdown_parts.h"

enum { MOST_SHOWN = 5 };

static void row(FILE *out, double bytes, const char *text)
{
    char value[GMT_FORMAT_BYTES];

    fprintf(out, "| %s | ", gmt_format_bytes(value, bytes));
    gmt_markdown_plain(out, text);
    fputs(" |\n", out);
}

static void holders(FILE *out, const struct gmt_snapshot_holders *h)
{
    double rest = h->rest_bytes;
    char value[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < h->count; i++) {
        if (i < MOST_SHOWN) {
            fprintf(out, "| | %s ", gmt_format_bytes(value, h->list[i].bytes));
            gmt_markdown_span(out, h->list[i].label, true);
            fputs(" |\n", out);
        } else {
            rest += h->list[i].bytes;
        }
    }
    if (rest > 0) {
        fprintf(out, "| | %s at other places |\n", gmt_format_bytes(value, rest));
    }
}

static void rows(FILE *out, const struct gmt_whose *whose)
{
    for (size_t i = 0; i < whose->row_count; i++) {
        if (whose->rows[i].what != NULL) {
            row(out, whose->rows[i].bytes, whose->rows[i].what);
        }
        if (whose->rows[i].holders != NULL) {
            holders(out, whose->rows[i].holders);
        }
    }
}

static void whose_bytes(FILE *out, const struct gmt_whose *whose)
{
    fprintf(out, "**Whose bytes** %s\n\n| | |\n|--:|---|\n", whose->title);
    rows(out, whose);
}

static void at_moment(FILE *out, const struct gmt_snapshot_moment *m)
{
    struct gmt_whose whose = gmt_whose_at_moment(m);

    fputs("| | |\n|--:|---|\n", out);
    rows(out, &whose);
    fputc('\n', out);
}

static void device(FILE *out, const struct gmt_report *r, const struct gmt_snapshot_device *d)
{
    char bytes[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES];
    const char *advice = gmt_snapshot_advice(r->arena, d);
    const char *caveats = gmt_snapshot_caveats(r->arena, r->snapshot, d);
    struct gmt_whose whose = gmt_whose_at_snapshot(r->arena, d);

    whose_bytes(out, &whose);
    fputs("\nNot measured: contexts and modules.", out);
    if (d->unmatched_bytes > 0) {
        fprintf(out, " %s of segments are not in the trace.",
                gmt_format_bytes(bytes, d->unmatched_bytes));
    }
    fputs("\n\n", out);
    if (gmt_snapshot_peak_differs(d)) {
        fprintf(out, "**Most tensors** %s, in segments of %s\n\n",
                gmt_format_bytes(bytes, d->peak->requested_bytes),
                gmt_format_bytes(held, d->peak->reserved_bytes));
        at_moment(out, d->peak);
    }
    for (size_t i = 0; i < d->error_count; i++) {
        const struct gmt_snapshot_moment *m = &d->errors[i];

        fprintf(out, "**Out of memory** in PyTorch's allocator: %s asked, ",
                gmt_format_bytes(bytes, m->asked_bytes));
        fprintf(out, "%s free, ", gmt_format_bytes(bytes, m->free_bytes));
        fprintf(out, "segments held %s, tensors in them %s\n\n",
                gmt_format_bytes(held, m->reserved_bytes),
                gmt_format_bytes(bytes, m->requested_bytes));
        at_moment(out, m);
    }
    if (d->replay_count == 0) {
        return;
    }
    fputs("| reserved at the peak | setting of the allocator, replayed |\n|--:|---|\n", out);
    for (size_t i = 0; i < d->replay_count; i++) {
        const struct gmt_snapshot_replay *p = &d->replays[i];

        row(out, p->reserved_bytes, p->setting != NULL ? p->setting : "as recorded");
    }
    fprintf(out, "\nThe program reserved %s: the replay's error is %s.",
            gmt_format_bytes(bytes, d->recorded_peak_bytes),
            gmt_format_percent(error, 100 * gmt_snapshot_replay_error(d)));
    if (caveats != NULL) {
        fprintf(out, " %s", caveats);
    }
    if (advice != NULL) {
        fputc(' ', out);
        gmt_markdown_plain(out, advice);
        fputc('.', out);
    }
    fputs("\n\n", out);
}

void gmt_markdown_heaps(FILE *out, const struct gmt_report *r)
{
    for (size_t i = 0; r->heaps != NULL && i < r->heaps->device_count; i++) {
        struct gmt_whose whose = gmt_whose_of_heaps(r->arena, &r->heaps->devices[i]);

        whose_bytes(out, &whose);
        fputc('\n', out);
    }
}

void gmt_markdown_snapshot(FILE *out, const struct gmt_report *r)
{
    for (size_t i = 0; r->snapshot != NULL && i < r->snapshot->device_count; i++) {
        device(out, r, &r->snapshot->devices[i]);
    }
}
