/* SPDX-License-Identifier: Apache-2.0 */
/* Times some of the hooks' calls, sums up, and makes the governor's steps (overhead.h). */
#include "preload/overhead/overhead.h"

#include <errno.h>

#include "libtrace/record/spool.h"
#include "preload/overhead/device_records.h"
#include "preload/overhead/govern.h"
#include "preload/overhead/publish.h"

/* A timed call that took longer did not run meanwhile, or did what happens once in thousands of calls: what is beyond
 * counts once, not for all calls that it stands for. */
#define USUAL_NS 50000u
#define STOPPED_NS UINT64_C(1000000) /* and what is beyond this was no work */
/* Of counters: the start allowance that they have in any case (preload/recording/collect.c). */
#define COUNTERS_START_NS UINT64_C(1000000000)
/* CUPTI's records took 0.5 to 0.7 us of a call at full rate, and more in frameworks (docs/cupti-notes.md); no more than this. */
#define DEVICE_MOST_NS 3000.0
#define SQUARE_SHIFT 4 /* of ticks, so that the sum of squares has room */

_Thread_local
    __attribute__((tls_model("initial-exec"))) struct gmt_overhead_thread gmt_overhead_thread;
struct gmt_overhead_levels gmt_overhead_levels = {1, UINT64_MAX, UINT64_MAX};

/* Sums over all threads, of the time since the recording began. */
static struct {
    _Atomic uint64_t calls, timed; /* intercepted calls, by those that were timed; these         */
    _Atomic uint64_t own_ticks;    /* of all calls: without the stacks and fingerprints of these */
    _Atomic uint64_t own_squares;  /* of the timed calls, (ticks >> SQUARE_SHIFT) squared        */
    _Atomic uint64_t stack_ticks, stacks_read, stacks_walked, stacks_taken, taken_squares;
    _Atomic uint64_t hashing_ticks;
} sums;

static struct gmt_govern govern;
static struct gmt_overhead_sums before; /* at the last step */
static struct gmt_device_sums device_before;
static struct gmt_clock_pair began;
static uint64_t own_base_ns; /* of the process that this one was forked from */
static _Atomic uint64_t step_at_ns;
static _Atomic uint64_t usual_ticks; /* USUAL_NS */
static _Atomic bool busy;            /* a thread makes a step */

#define ADD(member, value) atomic_fetch_add_explicit(&(member), (value), memory_order_relaxed)
#define GET(member) atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, to) atomic_store_explicit(&(member), (to), memory_order_relaxed)

uint32_t gmt_overhead_distance(uint32_t mean)
{
    uint32_t random = gmt_overhead_thread.random;
    if (random == 0) {
        random = (uint32_t)gmt_clock_ticks() | 1;
    }
    random ^= random << 13; /* xorshift32, Marsaglia 2003 */
    random ^= random >> 17;
    random ^= random << 5;
    gmt_overhead_thread.random = random;
    /* The bits of xorshift are linear combinations of each other, which preferred one of two calls in turn; those of a product are not. */
    uint32_t drawn = random * UINT32_C(0x9e3779b1);
    return mean < 2 ? mean : mean / 2 + (uint32_t)((drawn * (uint64_t)(mean + 1)) >> 32);
}

void gmt_overhead_time_call(void)
{
    struct gmt_overhead_thread *own = &gmt_overhead_thread;
    own->countdown = (uint8_t)gmt_overhead_distance(GMT_OVERHEAD_ONE_IN);
    own->exact_ns = (uint32_t)gmt_spool_own_total_ns();
    own->apart_ticks = 0;
    own->device_work = 0;
    own->from_ticks = (uint32_t)gmt_clock_ticks() | 1;
}

void gmt_overhead_stack_read(uint64_t ticks, bool all)
{
    struct gmt_overhead_thread *own = &gmt_overhead_thread;
    bool timed = own->from_ticks != 0;
    own->apart_ticks += (uint32_t)ticks;
    if (all) {
        ADD(sums.stack_ticks, ticks);
        ADD(sums.stacks_read, 1);
    } else if (timed) {
        ADD(sums.stack_ticks, ticks * own->interval);
        ADD(sums.stacks_read, own->interval);
    }
}

void gmt_overhead_stack_stands_for(uint32_t calls)
{
    ADD(sums.taken_squares, (uint64_t)calls * calls);
}

void gmt_overhead_hashed(uint64_t ticks)
{
    gmt_overhead_thread.apart_ticks += (uint32_t)ticks;
    ADD(sums.hashing_ticks, ticks);
}

bool gmt_overhead_may_hash(void)
{
    return GET(sums.hashing_ticks) < GET(gmt_overhead_levels.hashing_ticks);
}

static struct gmt_overhead_sums sums_now(uint64_t now_ns)
{
    uint64_t own_ns = gmt_spool_own_total_ns() - own_base_ns;
    return (struct gmt_overhead_sums){
        .at_ns = now_ns,
        .calls = GET(sums.calls),
        .timed = GET(sums.timed),
        .own_ticks = GET(sums.own_ticks),
        .own_squares = GET(sums.own_squares),
        .stack_ticks = GET(sums.stack_ticks),
        .stacks_read = GET(sums.stacks_read),
        .stacks_walked = GET(sums.stacks_walked),
        .stacks_taken = GET(sums.stacks_taken),
        .taken_squares = GET(sums.taken_squares),
        .hashing_ticks = GET(sums.hashing_ticks),
        .counters_ns = own_ns > COUNTERS_START_NS ? own_ns - COUNTERS_START_NS : 0,
    };
}

/* Variance of what all these calls took, ns^2: of a mean, times the calls. */
static double variance_of(const struct gmt_overhead_sums *since, double ns_per_tick)
{
    double n = (double)since->timed, scale = (double)(1 << SQUARE_SHIFT) * ns_per_tick;
    double calls = (double)since->calls;
    double mean = calls > 0 ? (double)since->own_ticks * ns_per_tick / calls : 0;
    double spread = n >= 2 ? (double)since->own_squares * scale * scale / n - mean * mean : 0;
    return spread > 0 ? spread / (n - 1) * calls * calls : 0;
}

/* What has been added since. Counters have a start allowance that is not counted. */
static struct gmt_overhead_sums difference(const struct gmt_overhead_sums *now,
                                           const struct gmt_overhead_sums *then)
{
    return (struct gmt_overhead_sums){
        .calls = now->calls - then->calls,
        .timed = now->timed - then->timed,
        .own_ticks = now->own_ticks - then->own_ticks,
        .own_squares = now->own_squares - then->own_squares,
        .stack_ticks = now->stack_ticks - then->stack_ticks,
        .stacks_read = now->stacks_read - then->stacks_read,
        .stacks_walked = now->stacks_walked - then->stacks_walked,
        .stacks_taken = now->stacks_taken - then->stacks_taken,
        .taken_squares = now->taken_squares - then->taken_squares,
        .hashing_ticks = now->hashing_ticks - then->hashing_ticks,
        .counters_ns = now->counters_ns - then->counters_ns,
    };
}

/* What CUPTI's records took of the program's calls since the last step, as far as that is certain; and what was done of them. */
static uint64_t charge_device(struct gmt_overhead_device *device, uint64_t now_ns)
{
    struct gmt_device_sums now = device_before;
    *device = (struct gmt_overhead_device){.is_governed = gmt_device_records_sums(now_ns, &now)};
    if (!device->is_governed) {
        return 0;
    }
    double calls = (double)(now.calls - device_before.calls);
    double recorded = (double)(now.recorded - device_before.recorded);
    device->calls = now.calls - device_before.calls;
    device->on_ns = now.on_ns - device_before.on_ns;
    device->pairs = now.pairs;
    device->is_known = now.estimate.is_known;
    device_before = now;
    govern.done[GMT_OVERHEAD_DEVICE] = calls > 0 ? recorded / calls : 1;
    if (now.estimate.is_known) {
        double cost_ns = recorded * now.estimate.mean_ns;
        device->cost_ns = cost_ns > 0 ? (uint64_t)cost_ns : 0;
        device->error_ns = (uint64_t)(recorded * now.estimate.error_ns);
    }
    return now.estimate.is_certain ? device->cost_ns : 0;
}

/* Records are switched to learn what they cost only where they could cost too much, and off where they do. */
static void apply_device(const struct gmt_overhead_device *device, uint64_t elapsed_ns)
{
    double others = 0;
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        others += part != GMT_OVERHEAD_DEVICE ? govern.full[part] : 0;
    }
    double most = (double)device->calls * DEVICE_MOST_NS / (double)elapsed_ns;
    gmt_device_records_set(govern.level[GMT_OVERHEAD_DEVICE],
                           govern.share > 0 && others + most > govern.share);
}

static void apply(const struct gmt_overhead_sums *now, double ns_per_tick)
{
    uint32_t one_in = (uint32_t)(1 / govern.level[GMT_OVERHEAD_STACKS] + 0.5);
    double hashing = govern.level[GMT_OVERHEAD_HASHING];
    double counters = govern.level[GMT_OVERHEAD_COUNTERS];
    double step_ns = (double)GMT_OVERHEAD_STEP_NS;
    govern.level[GMT_OVERHEAD_STACKS] = 1.0 / one_in;
    SET(gmt_overhead_levels.stack_one_in, one_in);
    SET(gmt_overhead_levels.hashing_ticks,
        hashing >= 1 ? UINT64_MAX
                     : now->hashing_ticks + (uint64_t)(hashing * govern.full[GMT_OVERHEAD_HASHING] *
                                                       step_ns / ns_per_tick));
    SET(gmt_overhead_levels.counters_ns,
        counters >= 1 ? UINT64_MAX
                      : now->counters_ns +
                            (uint64_t)(counters * govern.full[GMT_OVERHEAD_COUNTERS] * step_ns));
}

static void charge(const struct gmt_overhead_sums *now, double ns_per_tick, bool is_last)
{
    struct gmt_overhead_sums since = difference(now, &before);
    uint64_t elapsed_ns = now->at_ns - before.at_ns;
    struct gmt_overhead_device device;
    uint64_t cost_ns[GMT_OVERHEAD_PARTS] = {
        [GMT_OVERHEAD_HOOKS] = (uint64_t)((double)since.own_ticks * ns_per_tick),
        [GMT_OVERHEAD_STACKS] = (uint64_t)((double)since.stack_ticks * ns_per_tick),
        [GMT_OVERHEAD_HASHING] = (uint64_t)((double)since.hashing_ticks * ns_per_tick),
        [GMT_OVERHEAD_COUNTERS] = since.counters_ns,
        [GMT_OVERHEAD_DEVICE] = charge_device(&device, now->at_ns),
    };
    struct gmt_overhead_period period = {
        .begin_ns = before.at_ns,
        .end_ns = now->at_ns,
        .since = &since,
        .cost_ns = cost_ns,
        .device = &device,
        .variance = variance_of(&since, ns_per_tick),
    };
    gmt_overhead_publish(&period, &govern, is_last);
    gmt_govern_step(&govern, elapsed_ns, cost_ns);
    apply(now, ns_per_tick);
    apply_device(&device, elapsed_ns);
}

static void step(uint64_t now_ns, bool is_last)
{
    uint64_t ticks = gmt_clock_ticks();
    struct gmt_overhead_sums now = sums_now(now_ns);
    double ns_per_tick = ticks > began.ticks
                             ? (double)(now_ns - began.monotonic_ns) / (double)(ticks - began.ticks)
                             : 1;
    SET(usual_ticks, (uint64_t)(USUAL_NS / ns_per_tick));
    if (before.at_ns != 0 && now_ns > before.at_ns) {
        charge(&now, ns_per_tick, is_last);
    } else {
        (void)gmt_device_records_sums(now_ns, &device_before); /* the first second is not counted */
    }
    before = now;
    SET(step_at_ns, now_ns + GMT_OVERHEAD_STEP_NS);
}

static void step_alone(uint64_t now_ns, bool is_last)
{
    if (!atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
        int saved_errno = errno;
        if (now_ns >= GET(step_at_ns) || is_last) {
            step(now_ns, is_last);
        }
        errno = saved_errno;
        atomic_store_explicit(&busy, false, memory_order_release);
    }
}

/* A timed call, in the driver from `begin_ticks` to `end_ticks`; and records are switched where that is due. */
static void account_device(uint64_t begin_ticks, uint64_t end_ticks, uint64_t interval,
                           uint64_t now_ns)
{
    uint64_t usual = GET(usual_ticks);
    uint16_t function = gmt_overhead_thread.device_work;
    if (usual == 0 || !gmt_device_records_are_governed()) {
        return;
    }
    if (function != 0 && interval != 0 && end_ticks > begin_ticks) {
        double ns_per_tick = (double)USUAL_NS / (double)usual;
        gmt_device_records_note(function, begin_ticks,
                                (uint64_t)((double)(end_ticks - begin_ticks) * ns_per_tick),
                                (uint32_t)interval);
    }
    uint64_t began_ticks = gmt_clock_ticks();
    if (gmt_device_records_turn(now_ns)) {
        ADD(sums.own_ticks, gmt_clock_ticks() - began_ticks);
    }
}

void gmt_overhead_account(uint64_t begin_ticks, uint64_t end_ticks)
{
    struct gmt_overhead_thread *own = &gmt_overhead_thread;
    uint64_t now_ns = gmt_clock_monotonic_ns(), now = gmt_clock_ticks();
    uint64_t usual = GET(usual_ticks), interval = own->interval;
    int32_t until_call = (int32_t)((uint32_t)begin_ticks - own->from_ticks);
    uint64_t ticks = until_call > 0 ? (uint64_t)until_call : 0;
    ticks += now > end_ticks ? now - end_ticks : 0;
    uint64_t apart = own->apart_ticks;
    ticks = ticks > apart ? ticks - apart : 0;
    bool is_exact = (uint32_t)gmt_spool_own_total_ns() !=
                    own->exact_ns; /* then most of it is known already */
    if (is_exact && ticks > usual) {
        ticks = usual;
    }
    ADD(sums.stacks_taken, own->stacks_taken);
    ADD(sums.stacks_walked, own->stacks_walked);
    own->stacks_taken = own->stacks_walked = 0;
    if (usual != 0 && interval != 0) {
        uint64_t most = usual * (STOPPED_NS / USUAL_NS);
        uint64_t capped = ticks < usual ? ticks : usual;
        uint64_t rest = (ticks < most ? ticks : most) - capped;
        uint64_t small = capped >> SQUARE_SHIFT;
        ADD(sums.calls, interval);
        ADD(sums.timed, 1);
        ADD(sums.own_ticks, capped * interval + rest);
        ADD(sums.own_squares, small * small);
    }
    own->from_ticks = 0;
    own->interval = (uint8_t)(own->countdown + 1);
    if (now_ns >= GET(step_at_ns)) {
        step_alone(now_ns, false);
    }
    account_device(begin_ticks, end_ticks, interval, now_ns);
}

void gmt_overhead_start(double share, unsigned apart)
{
    static const struct gmt_overhead_sums none;
    began = gmt_clock_read_pair();
    gmt_govern_begin(&govern, share, apart);
    before = none;
    device_before = (struct gmt_device_sums){0};
    own_base_ns = gmt_spool_own_total_ns();
    gmt_overhead_publish_start();
    SET(gmt_overhead_levels.stack_one_in, 1);
    SET(gmt_overhead_levels.hashing_ticks, UINT64_MAX);
    SET(gmt_overhead_levels.counters_ns, UINT64_MAX);
    SET(step_at_ns, began.monotonic_ns + GMT_OVERHEAD_FIRST_NS);
    SET(usual_ticks, 0);
    atomic_store(&busy, false);
}

void gmt_overhead_finish(void)
{
    if (GET(usual_ticks) != 0) {
        step_alone(gmt_clock_monotonic_ns(), true);
    }
}
