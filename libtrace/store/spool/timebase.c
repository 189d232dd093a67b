/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolates between clock pairs. */
#include "libtrace/store/spool/timebase.h"

#include <math.h>

#include "libtrace/record/checked.h"
#include "libtrace/record/clock.h"

#define MIN_DISTANCE_NS UINT64_C(10000000)
#define OWN_RATE_NS UINT64_C(2000000)
#define RATE_TOLERANCE 1e-3
#define PAIR_ERROR_NS 20000.0 /* generous: a pair taken while being preempted */

void gmt_timebase_init(struct gmt_timebase *base, bool ticks_are_ns)
{
    *base = (struct gmt_timebase){.ticks_are_ns = ticks_are_ns};
}

static double rate_between(struct gmt_clock_pair a, struct gmt_clock_pair b)
{
    return (double)(b.monotonic_ns - a.monotonic_ns) / (double)(b.ticks - a.ticks);
}

static void thin_out(struct gmt_timebase *base)
{
    size_t half = base->count / 2, kept = 0;
    for (size_t i = 0; i < base->count; i++) {
        if (i >= half || i % 2 == 0) {
            base->pair[kept++] = base->pair[i];
        }
    }
    base->count = kept;
    base->hint = 0;
}

void gmt_timebase_add(struct gmt_timebase *base, struct gmt_clock_pair pair)
{
    if (base->ticks_are_ns || pair.monotonic_ns == 0) {
        return;
    }
    if (base->count > 0) {
        struct gmt_clock_pair last = base->pair[base->count - 1];
        if (pair.ticks <= last.ticks || pair.monotonic_ns <= last.monotonic_ns) {
            return;
        }
        uint64_t distance_ns = pair.monotonic_ns - last.monotonic_ns;
        if (base->count >= 3 && distance_ns < MIN_DISTANCE_NS) {
            return;
        }
        /* The second of two pairs that are very close says little about the rate: replace it. */
        if (base->count == 2 && last.monotonic_ns - base->pair[0].monotonic_ns < MIN_DISTANCE_NS) {
            base->count = 1;
        }
    }
    if (base->count == GMT_TIMEBASE_PAIRS) {
        thin_out(base);
    }
    base->pair[base->count++] = pair;
    if (base->count > 1) {
        /* Over a second or more if there is as much: one pair may be off by a microsecond. */
        size_t from = base->count - 1;
        while (from > 0 && pair.monotonic_ns - base->pair[from].monotonic_ns < 1000000000u) {
            from--;
        }
        base->rate = rate_between(base->pair[from], pair);
    }
}

void gmt_timebase_add_control(struct gmt_timebase *base, const struct gmt_control *control)
{
    if (base->count == 0) {
        gmt_timebase_add(base, control->first_pair);
    }
    /* A writer that died while it wrote leaves the sequence odd for ever. */
    for (int i = 0; i < 1000; i++) {
        uint32_t before = __atomic_load_n(&control->pair_seq, __ATOMIC_ACQUIRE);
        struct gmt_clock_pair pair = {
            .ticks = __atomic_load_n(&control->last_pair.ticks, __ATOMIC_ACQUIRE),
            .monotonic_ns = __atomic_load_n(&control->last_pair.monotonic_ns, __ATOMIC_ACQUIRE),
        };
        uint32_t after = __atomic_load_n(&control->pair_seq, __ATOMIC_ACQUIRE);
        if (before == after && before % 2 == 0) {
            gmt_timebase_add(base, pair);
            return;
        }
    }
}

/* ns per tick of this machine, measured once over 2 ms. */
static double own_rate(void)
{
    static double rate;
    if (rate == 0) {
        struct gmt_clock_pair a = gmt_clock_read_pair(), b;
        do {
            b = gmt_clock_read_pair();
        } while (b.monotonic_ns - a.monotonic_ns < OWN_RATE_NS);
        rate = b.ticks > a.ticks ? rate_between(a, b) : 1.0;
    }
    return rate;
}

void gmt_timebase_add_now(struct gmt_timebase *base)
{
    if (base->ticks_are_ns || base->count == 0 || !gmt_clock_uses_tsc) {
        return;
    }
    struct gmt_clock_pair now = gmt_clock_read_pair();
    struct gmt_clock_pair first = base->pair[0];
    if (now.ticks <= first.ticks || now.monotonic_ns <= first.monotonic_ns) {
        return;
    }
    double tolerance = RATE_TOLERANCE +
                       PAIR_ERROR_NS / (double)(now.monotonic_ns - first.monotonic_ns);
    if (fabs(rate_between(first, now) / own_rate() - 1.0) < tolerance) {
        gmt_timebase_add(base, now);
    }
}

struct gmt_clock_pair gmt_timebase_latest(const struct gmt_timebase *base)
{
    return base->count > 0 ? base->pair[base->count - 1] : (struct gmt_clock_pair){0};
}

/* The segment [i, i + 1] that holds `ticks`, which lies between the first and the last pair. */
static size_t find_segment(struct gmt_timebase *base, uint64_t ticks)
{
    size_t low = 0, high = base->count - 1, at = base->hint;
    if (at + 1 < base->count && base->pair[at].ticks <= ticks && ticks < base->pair[at + 1].ticks) {
        return at;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (base->pair[middle].ticks <= ticks) {
            low = middle;
        } else {
            high = middle;
        }
    }
    base->hint = low;
    return low;
}

static uint64_t along(struct gmt_clock_pair from, double rate, uint64_t ticks)
{
    bool before = ticks < from.ticks;
    double ns = round((double)(before ? from.ticks - ticks : ticks - from.ticks) * rate);
    /* A damaged spool: beyond all clocks. */
    uint64_t distance = ns < 0x1p63 ? (uint64_t)ns : UINT64_C(1) << 63;
    if (before) {
        return from.monotonic_ns > distance ? from.monotonic_ns - distance : 0;
    }
    return gmt_add_clamped_u64(from.monotonic_ns, distance);
}

uint64_t gmt_timebase_ns(struct gmt_timebase *base, uint64_t ticks)
{
    if (base->ticks_are_ns || base->count == 0) {
        return ticks;
    }
    struct gmt_clock_pair first = base->pair[0], last = base->pair[base->count - 1];
    double rate = base->rate != 0 ? base->rate : own_rate();
    if (ticks >= last.ticks) {
        return along(last, rate, ticks);
    }
    if (ticks < first.ticks) {
        return along(first, rate, ticks);
    }
    size_t i = find_segment(base, ticks);
    return along(base->pair[i], rate_between(base->pair[i], base->pair[i + 1]), ticks);
}
