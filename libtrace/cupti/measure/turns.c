/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several threads measures its launch (turns.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/measure/turns.h"

#include <sched.h>
#include <stdatomic.h>

#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool.h"

#define ALONE_WAIT_NS UINT64_C(20000) /* for other threads' launches to get through */
/* ... and to be measured, where the class has no sample yet: it may not be launched again. */
#define TURN_NS UINT64_C(2000000)

static struct gmt_measuring *const m = &gmt_measuring;

/* Launches that are counted and wait for the one that is being measured, and those that went on without that. */
static _Atomic uint64_t in_turn, gave_up;

/* When the launch began that is being measured. */
static struct {
    uint64_t launches; /* of the process until then */
    uint64_t in_turn, gave_up;
} current;

/* How long others may be waited for, for a launch of `cls`. What is waited for in vain has a limit of its own. */
static uint64_t turn_ns(const struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    return gmt_sampling_count(cls, group) == 0 && !atomic_load(&m->opening) &&
                   gmt_sampling_may_hold(&m->sampling, gmt_clock_monotonic_ns())
               ? TURN_NS
               : 0;
}

static void note_turn(uint64_t began_ns, bool in_vain)
{
    uint64_t ns = gmt_clock_monotonic_ns() - began_ns;
    if (in_vain) {
        gmt_sampling_held_in_vain(&m->sampling, ns);
    } else {
        gmt_sampling_charge(&m->sampling, ns);
    }
    gmt_spool_own_time(GMT_OWN_WAIT, began_ns, 0);
}

bool gmt_turn_is_alone(const struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    uint64_t began_ns = 0, within_ns = 0;
    bool alone = m->config->launches_done == NULL;
    for (;;) {
        /* In this order: one that goes on is not counted among those that wait before it is noted. */
        current.gave_up = atomic_load(&gave_up);
        current.in_turn = atomic_load(&in_turn);
        current.launches = atomic_load(m->config->launches);
        alone = alone ||
                atomic_load(m->config->launches_done) + 1 + current.in_turn >= current.launches;
        uint64_t now_ns = gmt_clock_monotonic_ns();
        if (began_ns == 0 && !alone) {
            uint64_t turn = turn_ns(cls, group);
            began_ns = now_ns;
            within_ns = turn > ALONE_WAIT_NS ? turn : ALONE_WAIT_NS;
        }
        if (alone || now_ns - began_ns >= within_ns) {
            break;
        }
    }
    if (began_ns != 0 && gmt_clock_monotonic_ns() - began_ns > ALONE_WAIT_NS) {
        note_turn(began_ns, !alone);
    }
    return alone;
}

bool gmt_turn_take(const struct gmt_collector_class *cls, enum gmt_counter_group group)
{
    bool taken = gmt_mutex_try(&m->lock);
    uint64_t within_ns = taken ? 0 : turn_ns(cls, group);
    if (within_ns == 0) {
        return taken;
    }
    uint64_t began_ns = gmt_clock_monotonic_ns();
    atomic_fetch_add(&in_turn, 1);
    while (!taken && !atomic_load(&m->opening) && !gmt_session_capturing() &&
           gmt_clock_monotonic_ns() - began_ns < within_ns) {
        (void)sched_yield();
        taken = gmt_mutex_try(&m->lock);
    }
    atomic_fetch_sub(&in_turn, 1);
    if (!taken) {
        atomic_fetch_add(&gave_up, 1);
    }
    note_turn(began_ns, !taken);
    return taken;
}

bool gmt_turn_was_alone(unsigned own)
{
    uint64_t since = atomic_load(m->config->launches) - own - current.launches;
    return since == atomic_load(&in_turn) - current.in_turn &&
           atomic_load(&gave_up) == current.gave_up;
}
