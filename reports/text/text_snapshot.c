/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report: whose bytes, as allocators and a memory snapshot say, and what other settings of the allocator would do. */
#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/whose.h"
#include "reports/text/text_parts.h"

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
            gmt_text_sized(t, 6, holder->bytes,
                           gmt_arena_text(r->arena, "%s%s%s%s%s, %s", holder->label,
                                          named ? " in " : "", named ? holder->function : "",
                                          holder->name != NULL ? ": " : "",
                                          holder->name != NULL ? holder->name : "",
                                          gmt_whose_count(r->arena, holder->count, what)));
        } else {
            bytes += holder->bytes;
            count += holder->count;
            places += 1;
        }
    }
    if (places > 0) {
        gmt_text_sized(t, 6, bytes,
                       gmt_arena_text(r->arena, "%s, %s",
                                      gmt_whose_count(r->arena, places, "other place"),
                                      gmt_whose_count(r->arena, count, what)));
    }
}

static void rows(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_whose *whose)
{
    for (size_t i = 0; i < whose->row_count; i++) {
        const struct gmt_whose_row *row = &whose->rows[i];

        if (row->what != NULL) {
            gmt_text_sized(t, 2, row->bytes, row->what);
        }
        if (row->holders != NULL) {
            holders(t, r, row->holders, row->unit);
        }
    }
}

static void whose_bytes(struct gmt_text_out *t, const struct gmt_report *r,
                        const struct gmt_whose *whose)
{
    gmt_text_heading(t, gmt_arena_text(r->arena, "Whose bytes: %s", whose->title));
    rows(t, r, whose);
}

static void at_moment(struct gmt_text_out *t, const struct gmt_report *r,
                      const struct gmt_snapshot_moment *m)
{
    struct gmt_whose whose = gmt_whose_at_moment(m);

    rows(t, r, &whose);
    fputc('\n', t->out);
}

static void at_snapshot(struct gmt_text_out *t, const struct gmt_report *r,
                        const struct gmt_snapshot_device *d)
{
    struct gmt_whose whose = gmt_whose_at_snapshot(r->arena, d);
    char bytes[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES];

    whose_bytes(t, r, &whose);
    gmt_text_wrap(t, 2, "", "Not measured: contexts and modules.");
    if (d->unmatched_bytes > 0) {
        gmt_text_wrap(
            t, 2, "",
            gmt_arena_text(r->arena,
                           "%s of its %s in segments are not in the trace: the snapshot is of "
                           "another run or process, or calls were not recorded.",
                           gmt_format_bytes(bytes, d->unmatched_bytes),
                           gmt_format_bytes(held, d->segment_bytes)));
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
    at_moment(t, r, m);
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
        at_moment(t, r, m);
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

        gmt_text_sized(t, 2, p->reserved_bytes,
                       gmt_arena_text(r->arena, "%s%s%s",
                                      p->setting != NULL ? p->setting : "as recorded",
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
    struct gmt_whose whose = gmt_whose_of_heaps(r->arena, d);
    char bytes[GMT_FORMAT_BYTES];

    whose_bytes(t, r, &whose);
    if (d->left_count > 0) {
        gmt_text_wrap(t, 2, "",
                      gmt_arena_text(r->arena, "%s, %s, never ended.",
                                     gmt_whose_count(r->arena, d->left_count, "region"),
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
