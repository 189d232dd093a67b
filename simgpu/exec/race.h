/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for races in shared memory: two warps of a block touch a byte, one of them storing, and no
 * barrier of the whole block lies between.
 *
 * Every byte remembers, until the next such barrier, who stored it and which two warps read it.
 * Atomics race with plain accesses only, volatile and stronger accesses likewise: they are how threads
 * wait for each other. What is ordered by such waiting, or by barriers of a part of the block, is
 * reported all the same: the check knows barriers of the whole block only. Lanes of one warp are not
 * compared.
 */
#ifndef SIMGPU_EXEC_RACE_H
#define SIMGPU_EXEC_RACE_H

#include "simgpu/exec/access.h"

/* Of one worker: all its blocks. */
struct sim_races;
struct sim_races *sim_races_new(void);
void sim_races_free(struct sim_races *races);

/* An access to shared memory that passed its checks. 0 or -ENOMEM. */
int sim_races_note(struct sim_races *races, const struct sim_warp *warp, const struct sim_op *op,
                   const struct sim_access *access);

/* Adds the races found to `list`, equal pairs as one; 0 or -ENOMEM. */
int sim_races_collect(const struct sim_races *races, struct sim_race **list, size_t *count);

#endif
