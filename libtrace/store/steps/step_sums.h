/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of one step, in bounded memory. */
#ifndef GMT_STORE_STEPS_STEP_SUMS_H
#define GMT_STORE_STEPS_STEP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/live/live_page.h"
#include "libtrace/store/steps/step_event.h"
#include "libtrace/store/steps/step_kinds.h"
#include "libtrace/store/steps/step_names.h"

enum {
    GMT_STEP_OF_KERNEL =
        GMT_STEP_KIND_COUNT, /* in place of a kind: by the kernel's name          */
    GMT_STEP_CELLS = 4096,   /* further places and kernels of a step are the rest */
    GMT_STEP_WORK_KINDS = GMT_STEP_MEMSET + 1
};

/* Calls of one kind from one place; launches and operations of one kernel; operations of one kind. */
struct gmt_step_cell {
    uint32_t kind; /* enum gmt_step_kind, GMT_STEP_OF_KERNEL */
    uint32_t id;   /* gmt_stack.id, gmt_step_names; 0: the rest */
    uint64_t calls, bytes;
    uint64_t operations; /* of a kernel, on devices */
    uint64_t ns, longest_ns, blocking_ns;
};

struct gmt_step_slow {
    uint32_t name, device;
    uint64_t start_ns, ns;
};

struct gmt_step_collective {
    uint64_t position, begin_ns, end_ns, stream;
    uint32_t name, device; /* UINT32_MAX: none */
    /* As in table step_collective, NULL where `said` (gmt_range_payload.known) has no bit, or the value is 0. */
    uint64_t communicator, number, bytes;
    uint32_t ranks, said;
    bool grouped;
};

struct gmt_step_sums {
    uint64_t events; /* 0: nothing happened */
    struct gmt_step_cell *cells;
    uint32_t *place; /* by hash: index + 1 */
    size_t count;
    struct gmt_step_cell rest[GMT_STEP_KIND_COUNT + 1];
    struct gmt_step_cell work[GMT_STEP_DEVICES][GMT_STEP_WORK_KINDS];
    unsigned devices; /* that had work: those below this */
    struct gmt_step_slow slowest[GMT_STEP_SLOWEST];
    struct gmt_step_collective *collective[GMT_COLLECTIVE_SOURCES]; /* of collectives_most each */
    unsigned collectives_most;
    unsigned collectives[GMT_COLLECTIVE_SOURCES];
    unsigned
        halvings[GMT_COLLECTIVE_SOURCES]; /* kept are those whose number 2 to that power divides */
};

/* collectives_most: that are kept of a step and source. 0 or -ENOMEM. */
int gmt_step_sums_open(struct gmt_step_sums *sums, unsigned collectives_most);
void gmt_step_sums_close(struct gmt_step_sums *sums);

/* Nothing has happened again. */
void gmt_step_sums_clear(struct gmt_step_sums *sums);

/* A call that counts. name: of a kernel that it launches, or 0. */
void gmt_step_sums_call(struct gmt_step_sums *sums, const struct gmt_step_event *call);

/* An operation of a device. */
void gmt_step_sums_op(struct gmt_step_sums *sums, const struct gmt_step_event *op);

/* Writes down what an operation says of itself, for its kernel. */
void gmt_step_collective_say(struct gmt_step_collective *kernel,
                             const struct gmt_step_collective *of);

/*
 * A collective operation. Where there are too many those are kept whose number in their communicator (position, where they have none)
 * a power of two divides, the least that leaves few enough: rows of other ranks, which begin and end elsewhere, keep the same.
 */
void gmt_step_sums_collective(struct gmt_step_sums *sums, enum gmt_collective_source source,
                              const struct gmt_step_collective *collective);

/* The kernel of that position turns out to be of the operation `of`; NULL: of none. Nothing where the step has no such kernel. */
void gmt_step_sums_name(struct gmt_step_sums *sums, uint64_t position,
                        const struct gmt_step_collective *of);

/*
 * Put the cells that have rows of their own in front, the ones with most time first, and add the others to the rest. Returns
 * how many calls, then how many kernels have rows: *kernels of them behind the calls.
 */
size_t gmt_step_sums_rank(struct gmt_step_sums *sums, const struct gmt_step_names *names,
                          size_t *kernels);

#endif
