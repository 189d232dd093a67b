/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data-parallel job by its physics: each rank reads its batch, copies it, launches the kernels of a step, joins
 * collectives that end when the last rank has come and the bytes have passed, updates its weights, copies a number back and
 * waits. Faults are planted by their cause (a link of half the rate), never by what is to be found. Knows nothing of
 * the analyzer.
 */
#ifndef TESTS_FLEET_PHYSICS_H
#define TESTS_FLEET_PHYSICS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_NONE,
    FAULT_SLOW_HOST,    /* a straggler: its host thread sleeps in each step */
    FAULT_SLOW_KERNELS, /* a straggler: its device runs at a lower clock */
    FAULT_EXTRA_COPIES, /* a straggler: it copies more than the others */
    FAULT_SLOW_LINK,
    FAULT_LEAK,
    FAULT_DRIVER,
    FAULT_CLOCK, /* of all ranks of one host: 5 ms */
    FAULT_MORE_ALLOCATIONS,
    FAULT_MORE_MEMORY,
    FAULTS
};

enum event_kind {
    EVENT_KERNEL,
    EVENT_COLLECTIVE,
    EVENT_H2D,
    EVENT_D2H,
    EVENT_ALLOCATE,
    EVENT_FREE,
    EVENT_WAIT
};

/* Times are true ns since the job began; device times are 0 where there is nothing on the device. */
struct event {
    enum event_kind kind;
    int64_t begin, end, device_begin, device_end;
    int64_t bytes;
};

struct physics {
    uint64_t seed;
    int ranks, steps, kernels; /* kernels of a step */
    int ranks_per_host;
    enum fault fault;
    /* What physics_plan draws from the seed. */
    int odd;                                        /* the rank with the fault */
    double strength;                                /* of it, in units of its kind */
    int from_step;                                  /* it begins */
    double kernel_spread, host_spread, link_spread; /* of ranks, as a share */
    double clock_spread_ns;                         /* of hosts */
    bool varies;  /* lengths of inputs differ from rank to rank and step to step */
    bool far_out; /* some ranks lie far from the others, with no fault */
};

/* Draws what a fleet is like, and where its fault lies. */
void physics_plan(struct physics *physics, uint64_t seed, enum fault fault);

struct physics_sink {
    void (*event)(void *context, int rank, const struct event *event);
    /* The step's first and last moment on the host of that rank. */
    void (*step)(void *context, int rank, int step, int64_t begin, int64_t end);
    void *context;
};
void physics_run(const struct physics *physics, const struct physics_sink *sink);

/* Wall clock of the rank's host at a true time, as its trace would have it. */
int64_t physics_wall_clock(const struct physics *physics, int rank, int64_t true_ns);
const char *physics_driver(const struct physics *physics, int rank);
#define physics_host(physics, rank) ((rank) / (physics)->ranks_per_host)

#endif
