/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch that is done late leaves behind: which memory the kernel touched, and its counts. */
#include "simgpu/driver/late.h"
#include "simgpu/exec/touch.h"

_Static_assert((int)SIM_TOUCHES_READ == (int)SIM_TOUCH_READ &&
                   (int)SIM_TOUCHES_WRITE == (int)SIM_TOUCH_WRITE &&
                   (int)SIM_TOUCHES_STRONG_READ == (int)SIM_TOUCH_STRONG_READ &&
                   (int)SIM_TOUCHES_STRONG_WRITE == (int)SIM_TOUCH_STRONG_WRITE,
               "uses of the interpreter are those of operations");

_Thread_local struct sim_operation *sim_late_running;

/* The calling thread's last launch, while its counts may be asked for. */
static _Thread_local struct {
    struct sim_operation *operation;
    struct sim_late_counts *counts; /* in the operation's data */
} last_launch;

struct sim_touches *sim_late_touches_begin(const struct sim_map *map)
{
    return sim_late_running != NULL ? sim_touches_new(map) : NULL;
}

static void touch(void *data, uint64_t first, uint64_t bytes, unsigned uses)
{
    sim_operation_touch(data, first, bytes, uses);
}

void sim_late_touches_end(struct sim_touches *touches)
{
    if (touches != NULL) {
        sim_touches_each(touches, touch, sim_late_running);
        sim_touches_free(touches);
    }
}

void sim_late_counts_expect(struct sim_operation *operation, struct sim_late_counts *counts)
{
    sim_late_record_forget();
    atomic_store(&counts->are_wanted, true);
    last_launch.operation = sim_operation_keep(operation);
    last_launch.counts = counts;
}

void sim_late_record_forget(void)
{
    if (last_launch.operation != NULL) {
        atomic_store(&last_launch.counts->are_wanted, false);
        sim_operation_release(last_launch.operation);
        last_launch.operation = NULL;
    }
}

void *sim_late_record(void)
{
    void *taken = NULL;
    if (last_launch.operation != NULL && sim_operation_wait(last_launch.operation, 1000)) {
        taken = last_launch.counts->taken;
        last_launch.counts->taken = NULL;
    }
    sim_late_record_forget();
    return taken;
}
