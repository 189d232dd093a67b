/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches are worth repeating, and what that took (gmt_collector_ops.repeats, charge, got_ready). */
#define _GNU_SOURCE
#include "libtrace/cupti/code/instructions.h"
#include "libtrace/cupti/measure/measure.h"
#include "libtrace/cupti/measure/sessions.h"
#include "libtrace/record/clock.h"

static struct gmt_measuring *const m = &gmt_measuring;

uint64_t gmt_measure_repeats(struct gmt_collector_class *cls, uint64_t kernel_ns,
                             uint64_t copies_ns)
{
    if (atomic_load_explicit(&cls->launches, memory_order_relaxed) > 1 &&
        !m->sampling.repeat_always) {
        return 0;
    }
    /* Repeated work would be in the records of a program that profiles itself. */
    if (!atomic_load(&m->counting) || atomic_load(&m->suspended) || !gmt_instructions_free()) {
        return 0;
    }
    return gmt_sampling_repeats(&m->sampling, cls, kernel_ns, copies_ns, gmt_clock_monotonic_ns());
}

void gmt_measure_charge(uint64_t ns)
{
    gmt_sampling_charge(&m->sampling, ns);
}

void gmt_measure_got_ready(uint64_t ns, bool in_vain)
{
    gmt_sampling_got_ready(&m->sampling, ns, in_vain);
}
