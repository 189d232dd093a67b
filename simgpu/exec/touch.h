/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of the memory in a launch's map it reads and writes, exactly: a bit per byte and use.
 *
 * Made before a launch, filled by all its workers at once, read when it has ended.
 */
#ifndef SIMGPU_EXEC_TOUCH_H
#define SIMGPU_EXEC_TOUCH_H

#include "simgpu/exec/exec.h"

struct sim_touches;
struct sim_access;

/* NULL: no memory. `map` must last as long. */
struct sim_touches *sim_touches_new(const struct sim_map *map);
void sim_touches_free(struct sim_touches *touches);

/* An access that has passed its checks. False: no memory. */
bool sim_touches_note(struct sim_touches *touches, const struct sim_access *access);

/* Bit set of how [first, first + bytes) was accessed. Strong: atomics, volatile and stronger ones. */
enum sim_touches_use {
    SIM_TOUCHES_READ = 1,
    SIM_TOUCHES_WRITE = 2,
    SIM_TOUCHES_STRONG_READ = 4,
    SIM_TOUCHES_STRONG_WRITE = 8,
};
/* Calls `extent` for each run of bytes with equal uses, in the order of addresses. */
void sim_touches_each(const struct sim_touches *touches,
                      void (*extent)(void *data, uint64_t first, uint64_t bytes, unsigned uses),
                      void *data);

#endif
