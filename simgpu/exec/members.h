/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions in which lanes of a warp see one another: who takes part.
 *
 * `.sync` forms name their members in a mask, an operand with a value per lane: at one instruction
 * there may be several groups, lanes 0-15 with one mask and 16-31 with another. Forms without it are
 * for the active lanes.
 */
#ifndef SIMGPU_EXEC_MEMBERS_H
#define SIMGPU_EXEC_MEMBERS_H

#include "simgpu/exec/form.h"
#include "simgpu/exec/warp.h"

#define SIM_SYNC SIM_FLAGS_END /* op->d is the mask of members */

enum sim_decode_result sim_decode_shuffle(struct sim_decoder *decoder,
                                          const struct ptx_instruction *instruction,
                                          struct sim_op *op);

/* Waits for the members; false: the handler returns NULL. */
static inline bool sim_members_come(struct sim_warp *warp, const struct sim_op *op, uint32_t mask)
{
    if (!(op->flags & SIM_SYNC)) {
        return true;
    }
    const uint32_t *named = SIM_AT(warp->frame, op->d, const uint32_t);
    uint32_t members = 0;
    SIM_FOR_LANES(mask, i, members |= named[i]);
    return sim_warp_gather(warp, op, mask, members) != NULL;
}

struct sim_group {
    uint32_t lanes;   /* those that named the same members: they get the result */
    uint32_t members; /* those of them that are here: they give values */
};

/* The first group of the lanes `rest`; `mask` are all lanes that are here. */
static inline struct sim_group sim_first_group(const struct sim_warp *warp, const struct sim_op *op,
                                               uint32_t rest, uint32_t mask)
{
    if (!(op->flags & SIM_SYNC)) {
        return (struct sim_group){rest, mask};
    }
    const uint32_t *named = SIM_AT(warp->frame, op->d, const uint32_t);
    const uint32_t members = named[__builtin_ctz(rest)];
    uint32_t lanes = 0;
    SIM_FOR_LANES(rest, i, lanes |= (uint32_t)(named[i] == members) << i);
    return (struct sim_group){lanes, members & mask};
}

#endif
