/* SPDX-License-Identifier: Apache-2.0 */
/* What the occupancy calculator says of a kernel, as a report shows it. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/model/occupancy.h"
#include "analyzer/summary/summary.h"
#include "libtrace/base/format.h"

enum { WARP_LANES = 32 };

static const char *const names[] = {
#define GMT_ROW(symbol, name, words) name,
    GMT_OCCUPANCY_LIMITERS(GMT_ROW)
#undef GMT_ROW
};

static struct gmt_report_step *steps_of(struct gmt_arena *arena,
                                        const struct gmt_timeline *timeline,
                                        const struct gmt_tl_class *class,
                                        enum gmt_occupancy_axis axis, size_t *count)
{
    struct gmt_occupancy_point points[GMT_OCCUPANCY_POINTS];
    size_t n = gmt_occupancy_curve(timeline, class, axis, points, GMT_OCCUPANCY_POINTS);
    struct gmt_report_step *steps = gmt_arena_alloc(arena, (n + 1) * sizeof(*steps));

    for (size_t i = 0; i < n && steps != NULL; i++) {
        steps[i] = (struct gmt_report_step){points[i].value, points[i].blocks};
    }
    *count = steps != NULL ? n : 0;
    return steps;
}

/* The most blocks that anything but the limiter allows, and that fill the multiprocessor. */
static int64_t wanted_blocks(const struct gmt_occupancy *o, int64_t most_warps)
{
    int64_t block_warps = o->warps / o->blocks, wanted = most_warps / block_warps;

    for (int i = 0; i < GMT_OCCUPANCY_LIMITER_COUNT; i++) {
        if (i != (int)o->limiter && o->limit[i] < wanted) {
            wanted = o->limit[i];
        }
    }
    return wanted > o->blocks ? wanted : o->blocks + 1;
}

static const char *remedy(struct gmt_arena *arena, const struct gmt_timeline *timeline,
                          const struct gmt_tl_class *class, const struct gmt_occupancy *o,
                          const struct gmt_report_occupancy *report)
{
    int64_t wanted = wanted_blocks(o, report->most_warps), value;
    char bytes[GMT_FORMAT_BYTES], now[GMT_FORMAT_BYTES];

    switch (o->limiter) {
    case GMT_OCCUPANCY_SHARED:
        if (o->carveout_percent >= 0) {
            return "a larger carve-out would raise it";
        }
        value = gmt_occupancy_shared_for(timeline, class, wanted);
        if (value <= 0) {
            break;
        }
        return gmt_arena_text(arena, "%s per block instead of %s: %" PRId64 " blocks",
                              gmt_format_bytes(bytes, (double)value),
                              gmt_format_bytes(now, (double)(class->static_shared_bytes +
                                                             class->dynamic_shared_bytes)),
                              wanted);
    case GMT_OCCUPANCY_REGISTERS:
        value = gmt_occupancy_registers_for(timeline, class, wanted);
        if (value <= 0) {
            break;
        }
        return gmt_arena_text(
            arena, "%" PRId64 " registers per thread instead of %" PRId64 ": %" PRId64 " blocks",
            value, class->registers, wanted);
    case GMT_OCCUPANCY_BARRIERS: return "fewer named barriers would raise it";
    default:
        if (report->best_block > 0 && o->without_limiter > o->occupancy) {
            return gmt_arena_text(arena, "blocks of %" PRId64 " threads: %s", report->best_block,
                                  gmt_format_percent(now, 100 * o->without_limiter));
        }
        break;
    }
    return "no other size would raise it";
}

static const char *sentence(struct gmt_arena *arena, const struct gmt_timeline *timeline,
                            const struct gmt_tl_class *class, const struct gmt_occupancy *o,
                            const struct gmt_report_occupancy *report)
{
    char share[GMT_FORMAT_BYTES];

    return gmt_arena_text(arena, "%s of the warps fit (%" PRId64 " block%s), limited by %s; %s",
                          gmt_format_percent(share, 100 * o->occupancy), o->blocks,
                          o->blocks == 1 ? "" : "s", gmt_occupancy_limiter_words(o->limiter),
                          remedy(arena, timeline, class, o, report));
}

const struct gmt_report_occupancy *gmt_occupancy_report(struct gmt_arena *arena,
                                                        const struct gmt_timeline *timeline,
                                                        const struct gmt_tl_class *class)
{
    struct gmt_report_occupancy *report = gmt_arena_alloc(arena, sizeof(*report));
    int64_t *limits = gmt_arena_alloc(arena, sizeof(int64_t) * GMT_OCCUPANCY_LIMITER_COUNT);
    struct gmt_occupancy o = gmt_occupancy_of(timeline, class, NULL);

    if (report == NULL || limits == NULL) {
        return NULL;
    }
    *report = (struct gmt_report_occupancy){
        .unknown = o.unknown, .theoretical = NAN, .without_limiter = NAN};
    if (o.unknown != NULL) {
        return report;
    }
    memcpy(limits, o.limit, sizeof(o.limit));
    report->blocks = o.blocks;
    report->warps = o.warps;
    report->most_warps = timeline->device.max_threads_per_sm / WARP_LANES;
    report->theoretical = o.occupancy;
    report->without_limiter = o.without_limiter;
    report->limiter = o.limited ? gmt_occupancy_limiter_name(o.limiter) : NULL;
    report->limit_names = names;
    report->limits = limits;
    report->limit_count = GMT_OCCUPANCY_LIMITER_COUNT;
    report->carveout_percent = o.carveout_percent;
    report->barriers = o.barriers;
    report->best_block = gmt_occupancy_best_block(timeline, class, &report->best_grid);
    report->cluster_blocks = gmt_occupancy_cluster_blocks(class);
    report->most_clusters = gmt_occupancy_clusters_at_most(timeline, class);
    report->block_sizes = steps_of(arena, timeline, class, GMT_OCCUPANCY_BLOCK_AXIS,
                                   &report->block_size_count);
    report->registers = steps_of(arena, timeline, class, GMT_OCCUPANCY_REGISTER_AXIS,
                                 &report->register_count);
    report->shared_bytes = steps_of(arena, timeline, class, GMT_OCCUPANCY_SHARED_AXIS,
                                    &report->shared_count);
    if (o.limited && o.blocks > 0) {
        report->lift = sentence(arena, timeline, class, &o, report);
    }
    return report;
}
