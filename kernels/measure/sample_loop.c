/* SPDX-License-Identifier: Apache-2.0 */
/* Decides turn by turn whether a point is taken once more. */
#include "kernels/measure/sample_loop.h"

#include <math.h>

static bool is_over(const struct gmt_sample_loop *loop, unsigned most, uint64_t limit_ns,
                    uint64_t now_ns)
{
    return loop->done >= most || (loop->done > 0 && now_ns - loop->began_ns >= limit_ns);
}

bool gmt_sample_loop_next(struct gmt_sample_loop *loop, uint64_t now_ns)
{
    if (loop->done == 0 && !loop->counts) {
        loop->began_ns = now_ns;
    }
    if (!loop->counts && is_over(loop, loop->warm_up, GMT_SAMPLE_LOOP_WARM_UP_NS, now_ns)) {
        loop->counts = true;
        loop->done = 0;
        loop->began_ns = now_ns;
    }
    if (loop->counts && is_over(loop, loop->samples, GMT_SAMPLE_LOOP_COUNTED_NS, now_ns)) {
        return false;
    }
    loop->done++;
    return true;
}

static double cost_ns(unsigned most, uint64_t limit_ns, double once_ns)
{
    return fmin(most, ceil((double)limit_ns / once_ns)) * once_ns;
}

double gmt_sample_loop_cost_ns(const struct gmt_sample_loop *loop, double once_ns)
{
    return cost_ns(loop->warm_up, GMT_SAMPLE_LOOP_WARM_UP_NS, once_ns) +
           cost_ns(loop->samples, GMT_SAMPLE_LOOP_COUNTED_NS, once_ns);
}
