/* SPDX-License-Identifier: Apache-2.0 */
/* What steps are summed up of, wherever it comes from: records of a spool, or rows of a trace. */
#ifndef GMT_STORE_STEPS_STEP_EVENT_H
#define GMT_STORE_STEPS_STEP_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/range_payload.h"

enum gmt_step_event_type {
    GMT_STEP_EVENT_CALL,      /* any call; kind, stack, bytes; of a launch `key` and kernel   */
    GMT_STEP_EVENT_ALLOCATED, /* the same, and memory `key` (gmt_alloc.id) is there         */
    GMT_STEP_EVENT_FREED,     /* ... is gone                                                */
    GMT_STEP_EVENT_OP,        /* a device executed something; kind, name, bytes             */
    GMT_STEP_EVENT_RANGE,     /* a range of the program has ended; name, domain             */
};

enum {
    GMT_STEP_COUNTS =
        1, /* of a call: it succeeded and was executed: else only its time is looked at */
    GMT_STEP_BLOCKING = 2,  /* it returns when its work is done                             */
    GMT_STEP_BATCHED = 4,   /* one more copy of a call whose time another event has         */
    GMT_STEP_HOST_SIDE = 8, /* of memory: page-locked                                       */
};

/* All times CLOCK_MONOTONIC, ns. */
struct gmt_step_event {
    uint64_t end_ns, begin_ns;
    uint64_t bytes;
    uint64_t
        key; /* launch: gmt_step_finder_key; memory: gmt_alloc.id; range: its id, where its names are not known;
                        other calls: gmt_api.id */
    uint64_t stream;       /* of a launch, or CUPTI's number; else 0                              */
    uint64_t communicator; /* of a range of NCCL's                                         */
    uint32_t name, domain; /* gmt_step_names, 0: none                                     */
    uint32_t kernel;       /* of a launch: gmt_kernel.id, whose name it has                */
    uint32_t stack, thread;   /* 0: none                                                     */
    uint32_t context, device; /* a call has a gmt_context.id, an operation an ordinal       */
    uint32_t ranks;           /* of a range of NCCL's: of its communicator                   */
    uint32_t call;            /* of a launch, and of what it executed: the same; 0: not known */
    uint16_t depth;           /* of a range                                                  */
    uint8_t type, kind; /* enum gmt_step_event_type, gmt_step_kind; range: gmt_user_range_kind */
    uint8_t flags;
    uint8_t
        said; /* range: which of communicator, bytes and ranks are known, as gmt_range_payload.known */
};

static inline struct gmt_range_payload gmt_step_event_payload(const struct gmt_step_event *range)
{
    return (struct gmt_range_payload){.value = {[GMT_RANGE_COMMUNICATOR] = range->communicator,
                                                [GMT_RANGE_BYTES] = range->bytes,
                                                [GMT_RANGE_RANKS] = range->ranks},
                                      .known = range->said & ~(1u << GMT_RANGE_RANK)};
}

static inline void gmt_step_event_set_payload(struct gmt_step_event *range,
                                              const struct gmt_range_payload *payload)
{
    range->communicator = payload->value[GMT_RANGE_COMMUNICATOR];
    range->bytes = payload->value[GMT_RANGE_BYTES];
    range->ranks = (uint32_t)payload->value[GMT_RANGE_RANKS];
    range->said = (uint8_t)payload->known;
}

#endif
