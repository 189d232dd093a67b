/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators of a process, by what its ranges say: how many ranks they have, and how many operations they had. */
#ifndef GMT_STORE_STEPS_STEP_COMMUNICATORS_H
#define GMT_STORE_STEPS_STEP_COMMUNICATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/range_payload.h"

enum {
    GMT_STEP_COMMUNICATORS = 256, /* further ones are not counted */
    GMT_STEP_GROUPS = 64          /* threads that have one open; further ones are not known */
};

struct gmt_step_communicators {
    struct gmt_step_communicator {
        uint64_t id, operations;
        uint32_t ranks; /* 0: not known */
    } item[GMT_STEP_COMMUNICATORS];
    unsigned count;
    struct gmt_step_group {
        uint32_t thread, depth; /* 0: none is open */
    } group[GMT_STEP_GROUPS];
};

/* Is a range of NCCL's domain an operation on data? Others make communicators, or begin and end groups. */
bool gmt_step_is_operation(const char *name, const struct gmt_range_payload *payload);

/* A range of NCCL's domain. Returns its communicator, in which it is counted where all ranks take part in it: then *number is
 * its number from 1, else 0. NULL: none that is known. */
const struct gmt_step_communicator *
gmt_step_communicators_take(struct gmt_step_communicators *communicators, const char *name,
                            const struct gmt_range_payload *payload, uint64_t *number);

/* A range of NCCL's domain has ended, as they end: is the thread inside of a group? */
bool gmt_step_communicators_group(struct gmt_step_communicators *communicators, const char *name,
                                  uint32_t thread);

#endif
