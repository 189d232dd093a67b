/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report: whose bytes, as allocators and a memory snapshot say, and what other settings of the allocator would do. */
#include <inttypes.h>
#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/heaps.h"
#include "reports/model/snapshot.h"
#include "reports/text/text_parts.h"

/* "  1.50 GiB  text" */
static void row(struct gmt_text_out *t, size_t indent, double bytes, const char *text)
{
    char value[GMT_FORMAT_BYTES];

    fprintf(t->out, "%*s", (int)indent, "");
    gmt_text_cell(t, gmt_format_bytes(value, bytes), 11, true);
    fputs("  ", t->out);
    gmt_print_clean(t->out, text, t->columns - indent - 13);
    fputc('\n', t->out);
}

static void part(struct gmt_text_out *t, double bytes, const char *text)
{
    if (bytes > 0) {
        row(t, 2, bytes, text);
    }
}

static const char *counted(const struct gmt_report *r, double count, const char *what)
{
    char text[GMT_FORMAT_BYTES];

    return gmt_arena_text(r->arena, "%s %s%s", gmt_format_count(text, count), what,
                          count > 1 || count < 1 ? "s" : "");
}

static void holders(struct gmt_text_out *t, const struct gmt_report *r,
                    const struct gmt_snapshot_holders *h, const char *what)
{
    enum { SHOWN = 5 };
    size_t shown = t->detail->findings > 0 && h->count > SHOWN ? SHOWN : h->count;
    double bytes = h->rest_bytes, count = h->rest_count, places = h->rest_places;

    for (size_t i = 0; i < h->count; i++) {
        const struct gmt_snapshot_holder *holder = &h->list[i];
        bool named = holder->function != NULL && holder->file != NULL;

        if (i < shown) {
            row(t, 6, holder->bytes,
                gmt_arena_text(r->arena, "%s%s%s%s%s, %s", holder->label, named ? " in " : "",
                               named ? holder->function : "", holder->name != NULL ? ": " : "",
                               holder->name != NULL ? holder->name : "",
                               counted(r, holder->count, what)));
        } else {
            bytes += holder->bytes;
            count += holder->count;
            places += 1;
        }
    }
    if (places > 0) {
        row(t, 6, bytes,
            gmt_arena_text(r->arena, "%s, %s", counted(r, places, "other place"),
                           counted(r, count, what)));
    }
}

/* At a moment of the history, where that has a time in the trace. */
static void outside(struct gmt_text_out *t, const struct gmt_report *r,
                    const struct gmt_snapshot_moment *m)
{
    if (m->other_bytes > 0) {
        row(t, 2, m->other_bytes, "allocated outside of PyTorch's allocator");
        holders(t, r, &m->others, "allocation");
    }
}

static void at_snapshot(struct gmt_text_out *t, const struct gmt_report *r,
                        const struct gmt_snapshot_device *d)
{
    char bytes[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];

    gmt_text_heading(t, gmt_arena_text(r->arena,
                                       "Whose bytes: %s of device %" PRId64
                                       " at the memory snapshot%s%s",
                                       gmt_format_bytes(bytes, d->total_bytes), d->device,
                                       isnan(d->at_ns) ? "" : (d->aligned ? ", " : ", at most "),
                                       isnan(d->at_ns) ? "" : gmt_format_ns(at, d->at_ns)));
    part(t, d->tensor_bytes,
         gmt_arena_text(r->arena, "tensors, %s", counted(r, d->blocks, "block")));
    holders(t, r, &d->tensors, "block");
    part(t, d->pending_bytes, "freed, but a stream may still use it");
    part(t, d->rounding_bytes, "rounding of blocks");
    part(t, d->unused_bytes,
         gmt_arena_text(r->arena, "unused blocks in %s of the allocator",
                        counted(r, d->segments, "segment")));
    part(t, d->other_bytes, "allocated outside of PyTorch's allocator");
    holders(t, r, &d->others, "allocation");
    gmt_text_wrap(t, 2, "", "Not measured: contexts and modules.");
    if (d->unmatched_bytes > 0) {
        gmt_text_wrap(
            t, 2, "",
            gmt_arena_text(r->arena,
                           "%s of its %s in segments are not in the trace: the snapshot is of "
                           "another run or process, or calls were not recorded.",
                           gmt_format_bytes(bytes, d->unmatched_bytes),
                           gmt_format_bytes(at, d->segment_bytes)));
    }
    fputc('\n', t->out);
}

/* Where the snapshot was taken at another moment than that with most tensors. */
static void peak(struct gmt_text_out *t, const struct gmt_report *r,
                 const struct gmt_snapshot_device *d)
{
    char used[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];
    const struct gmt_snapshot_moment *m = d->peak;

    if (!gmt_snapshot_peak_differs(d)) {
        return;
    }
    gmt_text_heading(t, gmt_arena_text(r->arena, "Most tensors: %s%s%s, in segments of %s",
                                       gmt_format_bytes(used, m->requested_bytes),
                                       isnan(m->at_ns) ? "" : " at ",
                                       isnan(m->at_ns) ? "" : gmt_format_ns(at, m->at_ns),
                                       gmt_format_bytes(held, m->reserved_bytes)));
    holders(t, r, &m->holders, "block");
    outside(t, r, m);
    fputc('\n', t->out);
}

static void errors(struct gmt_text_out *t, const struct gmt_report *r,
                   const struct gmt_snapshot_device *d)
{
    for (size_t i = 0; i < d->error_count; i++) {
        const struct gmt_snapshot_moment *m = &d->errors[i];
        char asked[GMT_FORMAT_BYTES], left[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES];
        char used[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];

        gmt_text_heading(t, "Out of memory in PyTorch's allocator");
        gmt_text_wrap(
            t, 2, "",
            gmt_arena_text(r->arena,
                           "%s asked%s%s, %s free on the device; segments held %s, tensors in "
                           "them %s:",
                           gmt_format_bytes(asked, m->asked_bytes), isnan(m->at_ns) ? "" : " at ",
                           isnan(m->at_ns) ? "" : gmt_format_ns(at, m->at_ns),
                           gmt_format_bytes(left, m->free_bytes),
                           gmt_format_bytes(held, m->reserved_bytes),
                           gmt_format_bytes(used, m->requested_bytes)));
        holders(t, r, &m->holders, "block");
        outside(t, r, m);
        fputc('\n', t->out);
    }
}

static void replays(struct gmt_text_out *t, const struct gmt_report *r,
                    const struct gmt_snapshot_device *d)
{
    char recorded[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES], events[GMT_FORMAT_BYTES];
    char needed[GMT_FORMAT_BYTES];
    const char *advice = gmt_snapshot_advice(r->arena, d);
    const char *caveats = gmt_snapshot_caveats(r->arena, r->snapshot, d);

    if (d->replay_count == 0) {
        gmt_text_wrap(
            t, 2, "",
            "No history of the allocator: torch.cuda.memory._record_memory_history() at the "
            "start of the program gives one, and shows what other settings would reserve.");
        fputc('\n', t->out);
        return;
    }
    gmt_text_heading(
        t, gmt_arena_text(
               r->arena,
               "Settings of the allocator: peak of what it reserves, replayed from %s events",
               gmt_format_count(events, d->events)));
    for (size_t i = 0; i < d->replay_count; i++) {
        const struct gmt_snapshot_replay *p = &d->replays[i];
        const char *fits = isnan(p->needed_bytes)
                               ? ""
                               : gmt_arena_text(r->arena, "; the failed request %s (%s)",
                                                p->fits ? "would fit" : "would not fit",
                                                gmt_format_bytes(needed, p->needed_bytes));

        row(t, 2, p->reserved_bytes,
            gmt_arena_text(r->arena, "%s%s%s", p->setting != NULL ? p->setting : "as recorded",
                           isnan(p->reserved_bytes) ? ": too many steps" : "", fits));
    }
    gmt_text_wrap(t, 2, "",
                  gmt_arena_text(r->arena,
                                 "The program reserved %s: the replay's error is %s%s.%s%s",
                                 gmt_format_bytes(recorded, d->recorded_peak_bytes),
                                 gmt_snapshot_replay_error(d) > 0 ? "+" : "",
                                 gmt_format_percent(error, 100 * gmt_snapshot_replay_error(d)),
                                 caveats != NULL ? " " : "", caveats != NULL ? caveats : ""));
    if (advice != NULL) {
        gmt_text_wrap(t, 2, "", gmt_arena_text(r->arena, "%s.", advice));
    }
    fputc('\n', t->out);
}

static void heaps_of(struct gmt_text_out *t, const struct gmt_report *r,
                     const struct gmt_heaps_device *d)
{
    char bytes[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];

    gmt_text_heading(t, gmt_arena_text(r->arena,
                                       "Whose bytes: %s of device %" PRId64
                                       " when its allocators had handed out most%s%s",
                                       gmt_format_bytes(bytes, d->total_bytes), d->device,
                                       isnan(d->at_ns) ? "" : ", ",
                                       isnan(d->at_ns) ? "" : gmt_format_ns(at, d->at_ns)));
    part(t, d->region_bytes,
         gmt_arena_text(r->arena, "in use, %s", counted(r, d->regions, "region")));
    holders(t, r, &d->holders, "region");
    part(t, d->slack_bytes,
         gmt_arena_text(r->arena, "not handed out, in %s", counted(r, d->heaps, "heap")));
    part(t, d->other_bytes, "allocated outside of heaps and regions");
    holders(t, r, &d->others, "allocation");
    if (d->left_count > 0) {
        gmt_text_wrap(t, 2, "",
                      gmt_arena_text(r->arena, "%s, %s, never ended.",
                                     counted(r, d->left_count, "region"),
                                     gmt_format_bytes(bytes, d->left_bytes)));
    }
    fputc('\n', t->out);
}

void gmt_text_heaps(struct gmt_text_out *t, const struct gmt_report *r)
{
    for (size_t i = 0; r->heaps != NULL && i < r->heaps->device_count; i++) {
        heaps_of(t, r, &r->heaps->devices[i]);
    }
}

void gmt_text_snapshot(struct gmt_text_out *t, const struct gmt_report *r)
{
    for (size_t i = 0; r->snapshot != NULL && i < r->snapshot->device_count; i++) {
        const struct gmt_snapshot_device *device = &r->snapshot->devices[i];

        at_snapshot(t, r, device);
        peak(t, r, device);
        errors(t, r, device);
        replays(t, r, device);
    }
}
