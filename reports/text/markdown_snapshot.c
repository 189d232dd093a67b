/* SPDX-License-Identifier: Apache-2.0 */
/* The memory snapshot in markdown. */
#include "reports/text/markdown_snapshot.h"

#include <inttypes.h>
#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/heaps.h"
#include "reports/model/report.h"
#include "reports/model/snapshot.h"
#include "reports/text/markdown_parts.h"

enum { MOST_SHOWN = 5 };

static void row(FILE *out, double bytes, const char *text)
{
    char value[GMT_FORMAT_BYTES];

    fprintf(out, "| %s | ", gmt_format_bytes(value, bytes));
    gmt_markdown_plain(out, text);
    fputs(" |\n", out);
}

static void part(FILE *out, double bytes, const char *text)
{
    if (bytes > 0) {
        row(out, bytes, text);
    }
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

static void device(FILE *out, const struct gmt_report *r, const struct gmt_snapshot_device *d)
{
    char bytes[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES];
    const char *advice = gmt_snapshot_advice(r->arena, d);
    const char *caveats = gmt_snapshot_caveats(r->arena, r->snapshot, d);

    fprintf(out,
            "**Whose bytes** %s of device %" PRId64 " at the memory snapshot\n\n| | |\n|--:|---|\n",
            gmt_format_bytes(bytes, d->total_bytes), d->device);
    part(out, d->tensor_bytes, "tensors");
    holders(out, &d->tensors);
    part(out, d->pending_bytes, "freed, but a stream may still use it");
    part(out, d->rounding_bytes, "rounding of blocks");
    part(out, d->unused_bytes, "unused blocks in segments of the allocator");
    part(out, d->other_bytes, "allocated outside of PyTorch's allocator");
    holders(out, &d->others);
    fputs("\nNot measured: contexts and modules.", out);
    if (d->unmatched_bytes > 0) {
        fprintf(out, " %s of segments are not in the trace.",
                gmt_format_bytes(bytes, d->unmatched_bytes));
    }
    fputs("\n\n", out);
    if (gmt_snapshot_peak_differs(d)) {
        fprintf(out, "**Most tensors** %s, in segments of %s\n\n| | |\n|--:|---|\n",
                gmt_format_bytes(bytes, d->peak->requested_bytes),
                gmt_format_bytes(held, d->peak->reserved_bytes));
        holders(out, &d->peak->holders);
        fputc('\n', out);
    }
    for (size_t i = 0; i < d->error_count; i++) {
        const struct gmt_snapshot_moment *m = &d->errors[i];

        fprintf(out, "**Out of memory** in PyTorch's allocator: %s asked, ",
                gmt_format_bytes(bytes, m->asked_bytes));
        fprintf(out, "%s free, ", gmt_format_bytes(bytes, m->free_bytes));
        fprintf(out, "segments held %s, tensors in them %s\n\n| | |\n|--:|---|\n",
                gmt_format_bytes(held, m->reserved_bytes),
                gmt_format_bytes(bytes, m->requested_bytes));
        holders(out, &m->holders);
        if (m->other_bytes > 0) {
            row(out, m->other_bytes, "allocated outside of PyTorch's allocator");
            holders(out, &m->others);
        }
        fputc('\n', out);
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
    char bytes[GMT_FORMAT_BYTES];

    for (size_t i = 0; r->heaps != NULL && i < r->heaps->device_count; i++) {
        const struct gmt_heaps_device *d = &r->heaps->devices[i];

        fprintf(out,
                "**Whose bytes** %s of device %" PRId64
                " when its allocators had handed out most\n\n| | |\n|--:|---|\n",
                gmt_format_bytes(bytes, d->total_bytes), d->device);
        part(out, d->region_bytes, "in use: regions");
        holders(out, &d->holders);
        part(out, d->slack_bytes, "not handed out");
        part(out, d->other_bytes, "allocated outside of heaps and regions");
        holders(out, &d->others);
        fputc('\n', out);
    }
}

void gmt_markdown_snapshot(FILE *out, const struct gmt_report *r)
{
    for (size_t i = 0; r->snapshot != NULL && i < r->snapshot->device_count; i++) {
        device(out, r, &r->snapshot->devices[i]);
    }
}
