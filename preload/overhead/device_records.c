/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps account of calls with and without CUPTI's records of devices, and switches these (device_records.h). */
#include "preload/overhead/device_records.h"

#include <stdatomic.h>
#include <stddef.h>

#include "libtrace/record/clock.h"
#include "preload/overhead/device_duty.h"
#include "preload/session/session.h"

#define NEEDED_NS UINT64_C(50000000) /* measuring begins soon after it was said, and is seen then */
#define TRIES 100000u

static bool (*switch_records)(bool on);
static _Atomic bool governed;
static _Atomic bool busy; /* a thread has what follows */
static struct gmt_device_duty duty;
static struct gmt_device_sums sums;
static uint64_t on_since_ns, switched_ticks, needed_until_ns;
static double wanted_level;
static bool could_matter;
static uint32_t random_state;

static bool take(void)
{
    return !atomic_exchange_explicit(&busy, true, memory_order_acquire);
}

/* Whoever has it may be switching, which takes some 10 us. */
static bool take_soon(void)
{
    for (unsigned i = 0; i < TRIES; i++) {
        if (take()) {
            return true;
        }
    }
    return false;
}

static void give(void)
{
    atomic_store_explicit(&busy, false, memory_order_release);
}

void gmt_device_records_start(bool may_switch, bool (*turn)(bool on))
{
    uint64_t now_ns = gmt_clock_monotonic_ns();
    gmt_duty_begin(&duty, now_ns);
    sums = (struct gmt_device_sums){0};
    switch_records = turn;
    on_since_ns = now_ns;
    switched_ticks = needed_until_ns = 0;
    wanted_level = 1;
    could_matter = false;
    atomic_store(&busy, false);
    atomic_store(&governed, may_switch && turn != NULL);
}

bool gmt_device_records_are_governed(void)
{
    return atomic_load_explicit(&governed, memory_order_relaxed);
}

void gmt_device_records_note(uint16_t function, uint64_t begin_ticks, uint64_t ns, uint32_t calls)
{
    if (!gmt_device_records_are_governed() || !take()) {
        return;
    }
    sums.calls += calls;
    sums.recorded += duty.on ? calls : 0;
    if (begin_ticks > switched_ticks) { /* else it was made half with them, half without */
        gmt_device_cost_note(&duty.cost, function, duty.on, ns, calls);
    }
    give();
}

/* With `busy`. */
static bool turn_to(bool on, bool planned, uint64_t now_ns)
{
    if (!switch_records(on)) {
        return false;
    }
    if (duty.on) {
        sums.on_ns += now_ns > on_since_ns ? now_ns - on_since_ns : 0;
    }
    on_since_ns = now_ns;
    gmt_duty_switched(&duty, on, planned, now_ns);
    switched_ticks = gmt_clock_ticks();
    return true;
}

/* No launch of another thread is with the driver, as far as is known, which would have a record or not. */
static bool is_quiet(void)
{
    return atomic_load_explicit(&gmt_launches, memory_order_relaxed) ==
           atomic_load_explicit(&gmt_launches_done, memory_order_relaxed);
}

/* From 0 to 1. With `busy`. */
static double draw(void)
{
    random_state = random_state != 0 ? random_state : (uint32_t)gmt_clock_ticks() | 1;
    random_state ^= random_state << 13; /* xorshift32, Marsaglia 2003 */
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return (double)random_state / (double)UINT32_MAX;
}

bool gmt_device_records_turn(uint64_t now_ns)
{
    bool turned = false;
    if (!gmt_device_records_are_governed() || !take()) {
        return false;
    }
    bool on = gmt_duty_wants(&duty, now_ns, wanted_level, could_matter, draw());
    if (on != duty.on && (on || now_ns >= needed_until_ns) && is_quiet()) {
        turned = turn_to(on, true, now_ns);
    }
    give();
    return turned;
}

void gmt_device_records_need(void)
{
    if (!gmt_device_records_are_governed()) {
        return;
    }
    if (take_soon()) {
        uint64_t now_ns = gmt_clock_monotonic_ns();
        needed_until_ns = now_ns + NEEDED_NS;
        if (!duty.on) {
            (void)turn_to(true, false, now_ns);
        }
        give();
    }
}

bool gmt_device_records_sums(uint64_t now_ns, struct gmt_device_sums *all)
{
    if (!gmt_device_records_are_governed() || !take_soon()) {
        return false;
    }
    *all = sums;
    all->on_ns += duty.on && now_ns > on_since_ns ? now_ns - on_since_ns : 0;
    all->estimate = gmt_device_cost_estimate(&duty.cost);
    all->pairs = duty.cost.pairs;
    give();
    return true;
}

void gmt_device_records_set(double level, bool matters)
{
    if (gmt_device_records_are_governed() && take_soon()) {
        wanted_level = level;
        could_matter = matters;
        give();
    }
}
