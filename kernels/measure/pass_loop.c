/* SPDX-License-Identifier: Apache-2.0 */
/* What is long is measured in some passes only, and less often in each. */
#include "kernels/measure/pass_loop.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define WARM_UP 3
#define SAMPLES 3
#define SAMPLES_HURRIED 1
/*
 * Every third pass is a full one. What is short takes a fraction of a second in a pass, and differs
 * from one pass to the next the most: it is measured in all of them.
 */
#define FULL_EVERY 3
/* How many of the full passes, the first of each process among them, measure what is as long as that. */
static const struct {
    size_t bytes;
    unsigned every;
} long_points[] = {
    {(size_t)1 << 20, 1},
    {(size_t)128 << 20, 2},
    {(size_t)512 << 20, 3},
};
#define LARGE_BYTES ((size_t)32 << 20) /* from here on caches hold no part of it */
#define HUGE_BYTES ((size_t)128 << 20) /* and from here on the first turn is as good as the next */

/* Does the pass that goes on measure what is so long? */
static bool is_due(const struct gmt_bench *bench, size_t bytes)
{
    bool due = true;

    for (size_t i = 0; i < COUNT_OF(long_points); i++) {
        if (bytes >= long_points[i].bytes) {
            due = bench->pass % (FULL_EVERY * long_points[i].every) == 0;
        }
    }
    return due;
}

struct gmt_sample_loop gmt_bench_sample_loop(struct gmt_bench *bench, size_t bytes)
{
    unsigned samples = gmt_bench_samples(bench) < bench->sample_count ? SAMPLES_HURRIED : SAMPLES;

    if (!is_due(bench, bytes)) {
        return (struct gmt_sample_loop){.samples = 0};
    }
    if (bytes >= HUGE_BYTES) {
        return (struct gmt_sample_loop){.samples = 1};
    }
    return (struct gmt_sample_loop){.warm_up = bytes >= LARGE_BYTES ? 1 : WARM_UP,
                                    .samples = samples};
}
