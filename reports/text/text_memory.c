/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report's memory: who made the peak, and who held it when there was none left. */
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/text/text_parts.h"

/* "main.cu:42 in f() · cudaMalloc" */
static const char *place(const struct gmt_report *r, const struct gmt_where *w)
{
    return gmt_arena_text(r->arena, "%s%s%s", w->label, w->function != NULL ? " in " : "",
                          w->function != NULL ? w->function : "");
}

static void holder(struct gmt_text_out *t, const struct gmt_report *r,
                   const struct gmt_memory_holder *h, size_t indent)
{
    char idle[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    const char *what = h->segments ? "segment" : "allocation";
    const char *unused = h->idle_bytes > 0 ? gmt_arena_text(r->arena, ", %s of it not in use",
                                                            gmt_format_bytes(idle, h->idle_bytes))
                                           : "";

    gmt_text_sized(t, indent, h->bytes,
                   gmt_arena_text(r->arena, "%s, %s %s%s%s", place(r, &h->where),
                                  gmt_format_count(count, h->allocations), what,
                                  h->allocations == 1 ? "" : "s", unused));
}

void gmt_text_failures(struct gmt_text_out *t, const struct gmt_report *r)
{
    for (size_t i = 0; i < r->failure_count; i++) {
        const struct gmt_memory_failure *f = &r->failures[i];
        char asked[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];
        char count[GMT_FORMAT_BYTES];

        gmt_text_heading(t, f->host ? "Out of page-locked memory" : "Out of memory");
        gmt_text_wrap(
            t, 2, "",
            gmt_arena_text(
                r->arena, "%s asked for %s%s%s%s, while the program held %s%s", place(r, &f->where),
                isnan(f->asked_bytes) ? "memory" : gmt_format_bytes(asked, f->asked_bytes),
                isnan(f->at_ns) ? "" : " at ", isnan(f->at_ns) ? "" : gmt_format_ns(at, f->at_ns),
                f->failures > 1 ? gmt_arena_text(r->arena, " (the last of %s such failures)",
                                                 gmt_format_count(count, f->failures))
                                : "",
                gmt_format_bytes(held, f->held_bytes), f->holder_count > 0 ? ":" : "."));
        for (size_t k = 0; k < f->holder_count; k++) {
            holder(t, r, &f->holders[k], 2);
        }
        fputc('\n', t->out);
    }
}

void gmt_text_memory(struct gmt_text_out *t, const struct gmt_report *r)
{
    size_t top = t->detail->findings;
    enum { SHOWN = 3 };
    size_t most = t->detail->only_counts ? 0 : SHOWN;
    size_t shown = top > 0 && r->peak_holder_count > most ? most : r->peak_holder_count;
    char peak[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES], needed[GMT_FORMAT_BYTES];

    if (r->peak_holder_count == 0) {
        return;
    }
    /* What differs in no digit that is shown is no news. */
    bool lower = r->peak_needed_bytes < 0.995 * r->peak_device_bytes;
    gmt_text_heading(t,
                     gmt_arena_text(r->arena, "Peak of device memory: %s%s%s%s%s",
                                    gmt_format_bytes(peak, r->peak_device_bytes),
                                    isnan(r->peak_at_ns) ? "" : " at ",
                                    isnan(r->peak_at_ns) ? "" : gmt_format_ns(at, r->peak_at_ns),
                                    lower ? "; kept only while in use: " : "",
                                    lower ? gmt_format_bytes(needed, r->peak_needed_bytes) : ""));
    for (size_t i = 0; i < shown; i++) {
        holder(t, r, &r->peak_holders[i], 2);
    }
    fputc('\n', t->out);
}
