/* SPDX-License-Identifier: Apache-2.0 */
/* Decides turn by turn whether a point is taken once more. */
#include "kernels/measure/turns.h"

#include <math.h>

static bool is_over(const struct gmt_turns *turns, unsigned most, uint64_t limit_ns,
                    uint64_t now_ns)
{
    return turns->done >= most || (turns->done > 0 && now_ns - turns->began_ns >= limit_ns);
}

bool gmt_turns_next(struct gmt_turns *turns, uint64_t now_ns)
{
    if (turns->done == 0 && !turns->counts) {
        turns->began_ns = now_ns;
    }
    if (!turns->counts && is_over(turns, turns->warm_up, GMT_TURNS_WARM_UP_NS, now_ns)) {
        turns->counts = true;
        turns->done = 0;
        turns->began_ns = now_ns;
    }
    if (turns->counts && is_over(turns, turns->samples, GMT_TURNS_COUNTED_NS, now_ns)) {
        return false;
    }
    turns->done++;
    return true;
}

static double cost_ns(unsigned most, uint64_t limit_ns, double once_ns)
{
    return fmin(most, ceil((double)limit_ns / once_ns)) * once_ns;
}

double gmt_turns_cost_ns(const struct gmt_turns *turns, double once_ns)
{
    return cost_ns(turns->warm_up, GMT_TURNS_WARM_UP_NS, once_ns) +
           cost_ns(turns->samples, GMT_TURNS_COUNTED_NS, once_ns);
}
