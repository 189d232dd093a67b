/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of launches, and what is pending in groups. */
#include "libtrace/store/steps/step_launches.h"

#include <stddef.h>

void gmt_step_launches_note(struct gmt_step_launches *launches, uint32_t call, uint32_t thread,
                            uint64_t begin_ns, uint64_t end_ns)
{
    if (call != 0) {
        launches->launch[launches->count++ % GMT_STEP_LAUNCHES] = (struct gmt_step_launch){
            .begin_ns = begin_ns, .end_ns = end_ns, .call = call, .thread = thread};
    }
}

/* A kernel may end before the range does in which it was launched. */
static void name_kernel(const struct gmt_step_launch *launch, struct gmt_step_sums *sums)
{
    if (launch->kernel != 0) {
        gmt_step_sums_name(sums, launch->kernel, launch->operations == 1 ? &launch->of : NULL);
    }
}

/* The launches of that time get the operation; one that gets two, or is not alone there, is of none. */
static void give(struct gmt_step_launches *launches, uint32_t thread, uint64_t begin_ns,
                 uint64_t end_ns, const struct gmt_step_collective *of, uint32_t operations,
                 struct gmt_step_sums *sums)
{
    struct gmt_step_launch *found = NULL;
    unsigned count = launches->count < GMT_STEP_LAUNCHES ? (unsigned)launches->count
                                                         : GMT_STEP_LAUNCHES;
    for (unsigned i = 1; i <= count; i++) {
        struct gmt_step_launch *launch =
            &launches->launch[(launches->count - i) % GMT_STEP_LAUNCHES];
        if (launch->thread == thread && launch->end_ns < begin_ns) {
            break; /* they end one after the other */
        }
        if (launch->thread == thread && launch->begin_ns >= begin_ns && launch->end_ns <= end_ns) {
            launch->operations += found == NULL ? operations : 2;
            launch->of = *of;
            name_kernel(launch, sums);
            if (found != NULL) {
                found->operations = 2;
                name_kernel(found, sums);
            }
            found = launch;
        }
    }
}

static struct gmt_step_pending *pending_of(struct gmt_step_launches *launches, uint32_t thread)
{
    struct gmt_step_pending *empty = NULL;
    for (size_t i = 0; i < GMT_STEP_GROUPS; i++) {
        struct gmt_step_pending *each = &launches->pending[i];
        if (each->operations != 0 && each->thread == thread) {
            return each;
        }
        empty = empty == NULL && each->operations == 0 ? each : empty;
    }
    return empty;
}

void gmt_step_launches_operation(struct gmt_step_launches *launches, uint32_t thread,
                                 const struct gmt_step_collective *of, struct gmt_step_sums *sums)
{
    if (!of->grouped) {
        give(launches, thread, of->begin_ns, of->end_ns, of, 1, sums);
        return;
    }
    struct gmt_step_pending *pending = pending_of(launches, thread);
    if (pending != NULL) {
        pending->thread = thread;
        pending->operations++;
        pending->of = *of;
    }
}

void gmt_step_launches_group(struct gmt_step_launches *launches, uint32_t thread, uint64_t begin_ns,
                             uint64_t end_ns, struct gmt_step_sums *sums)
{
    struct gmt_step_pending *pending = pending_of(launches, thread);
    if (pending != NULL && pending->operations != 0) {
        give(launches, thread, begin_ns, end_ns, &pending->of, pending->operations, sums);
        pending->operations = 0;
    }
}

const struct gmt_step_collective *gmt_step_launches_find(struct gmt_step_launches *launches,
                                                         uint32_t call, uint64_t position)
{
    unsigned count = launches->count < GMT_STEP_LAUNCHES ? (unsigned)launches->count
                                                         : GMT_STEP_LAUNCHES;
    for (unsigned i = 1; call != 0 && i <= count; i++) {
        struct gmt_step_launch *launch =
            &launches->launch[(launches->count - i) % GMT_STEP_LAUNCHES];
        if (launch->call == call) {
            launch->kernel = position;
            return launch->operations == 1 ? &launch->of : NULL;
        }
    }
    return NULL;
}
