/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a table of whose bytes, in words. */
#include "reports/model/whose.h"

#include <inttypes.h>
#include <math.h>

#include "libtrace/base/format.h"

#define OUTSIDE "allocated outside of PyTorch's allocator"

const char *gmt_whose_count(struct gmt_arena *arena, double count, const char *what)
{
    char text[GMT_FORMAT_BYTES];

    return gmt_arena_text(arena, "%s %s%s", gmt_format_count(text, count), what,
                          count > 1 || count < 1 ? "s" : "");
}

/* "1.50 GiB of device 0 when, 3.00 ms" */
static const char *title(struct gmt_arena *arena, double bytes, int64_t device, const char *when,
                         const char *before, double at_ns)
{
    char size[GMT_FORMAT_BYTES], at[GMT_FORMAT_BYTES];

    return gmt_arena_text(arena, "%s of device %" PRId64 " %s%s%s", gmt_format_bytes(size, bytes),
                          device, when, isnan(at_ns) ? "" : before,
                          isnan(at_ns) ? "" : gmt_format_ns(at, at_ns));
}

static void add(struct gmt_whose *whose, double bytes, const char *what,
                const struct gmt_snapshot_holders *holders, const char *unit)
{
    if (bytes > 0) {
        whose->rows[whose->row_count++] = (struct gmt_whose_row){bytes, what, holders, unit};
    }
}

struct gmt_whose gmt_whose_of_heaps(struct gmt_arena *arena, const struct gmt_heaps_device *d)
{
    struct gmt_whose whose = {.title = title(arena, d->total_bytes, d->device,
                                             "when its allocators had handed out most", ", ",
                                             d->at_ns)};

    add(&whose, d->region_bytes,
        gmt_arena_text(arena, "in use, %s", gmt_whose_count(arena, d->regions, "region")),
        &d->holders, "region");
    add(&whose, d->slack_bytes,
        gmt_arena_text(arena, "not handed out, in %s", gmt_whose_count(arena, d->heaps, "heap")),
        NULL, NULL);
    add(&whose, d->other_bytes, "allocated outside of heaps and regions", &d->others, "allocation");
    return whose;
}

struct gmt_whose gmt_whose_at_snapshot(struct gmt_arena *arena, const struct gmt_snapshot_device *d)
{
    struct gmt_whose whose = {.title = title(arena, d->total_bytes, d->device,
                                             "at the memory snapshot",
                                             d->aligned ? ", " : ", at most ", d->at_ns)};

    add(&whose, d->tensor_bytes,
        gmt_arena_text(arena, "tensors, %s", gmt_whose_count(arena, d->blocks, "block")),
        &d->tensors, "block");
    add(&whose, d->pending_bytes, "freed, but a stream may still use it", NULL, NULL);
    add(&whose, d->rounding_bytes, "rounding of blocks", NULL, NULL);
    add(&whose, d->unused_bytes,
        gmt_arena_text(arena, "unused blocks in %s of the allocator",
                       gmt_whose_count(arena, d->segments, "segment")),
        NULL, NULL);
    add(&whose, d->other_bytes, OUTSIDE, &d->others, "allocation");
    return whose;
}

struct gmt_whose gmt_whose_at_moment(const struct gmt_snapshot_moment *m)
{
    struct gmt_whose whose = {.title = NULL};

    add(&whose, m->requested_bytes, NULL, &m->holders, "block");
    add(&whose, m->other_bytes, OUTSIDE, &m->others, "allocation");
    return whose;
}
