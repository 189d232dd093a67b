/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of fleets. */
#include "tests/fleet/physics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4, UPDATES = 10, ALLOCATIONS = 8 };

#define US 1e3
#define MS 1e6
#define MIB 1048576.0

/* ---- chance ----------------------------------------------------------------------------------- */

/* splitmix64 (S. Vigna, public domain). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * uniform(state);
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* Of the same variance, with more that lie far out. */
static double laplace(uint64_t *state)
{
    double u = uniform(state) - 0.5;

    return copysign(log(1 - 2 * fabs(u)) / 1.4142135623730951, u);
}

/* The same for the same rank, whatever else was drawn. */
static uint64_t stream_of(const struct physics *physics, int what, int number)
{
    uint64_t state = physics->seed * UINT64_C(1000003) + (uint64_t)what * UINT64_C(7919) +
                     (uint64_t)number;

    next(&state);
    return state;
}

/* ---- the plan --------------------------------------------------------------------------------- */

static double strength_of(enum fault fault, uint64_t *state)
{
    switch (fault) {
    case FAULT_SLOW_HOST: return between(state, 1 * MS, 6 * MS); /* per step of some 20 ms */
    case FAULT_SLOW_KERNELS: return between(state, 1.15, 1.4);   /* times as long */
    case FAULT_EXTRA_COPIES: return floor(between(state, 1, 9)); /* per step, 4 to 16 MiB each */
    case FAULT_SLOW_LINK: return between(state, 1.3, 4);         /* times as long */
    case FAULT_LEAK: return between(state, 0.25 * MIB, 8 * MIB); /* per step */
    case FAULT_DRIVER: return between(state, 1, 1.25);           /* its calls take so much longer */
    case FAULT_CLOCK: return uniform(state) < 0.5 ? -5 * MS : 5 * MS;
    case FAULT_MORE_ALLOCATIONS: return floor(between(state, 2, 60)); /* more per step */
    case FAULT_MORE_MEMORY: return between(state, 1.1, 1.6);          /* times as much */
    default: return 0;
    }
}

void physics_plan(struct physics *physics, uint64_t seed, enum fault fault)
{
    static const int per_host[] = {1, 2, 4, 8};
    uint64_t state;

    *physics = (struct physics){
        .seed = seed, .ranks = 64, .steps = 104, .kernels = 154, .fault = fault};
    state = stream_of(physics, 1, 0);
    physics->ranks_per_host = per_host[next(&state) % 4];
    physics->odd = (int)(next(&state) % (uint64_t)physics->ranks);
    physics->strength = strength_of(fault, &state);
    /* In half of the fleets it is there from the beginning, else it comes in the first half of the run. */
    physics->from_step = uniform(&state) < 0.5 ? 0 : (int)between(&state, 0, physics->steps / 2.0);
    physics->kernel_spread = between(&state, 0.001, 0.01);
    physics->host_spread = between(&state, 0.005, 0.05);
    physics->link_spread = between(&state, 0.002, 0.02);
    physics->clock_spread_ns = between(&state, 20 * US, 300 * US);
    physics->varies = uniform(&state) < 0.5;
    physics->far_out = uniform(&state) < 0.33;
}

/* ---- one rank --------------------------------------------------------------------------------- */

struct rank {
    const struct physics *physics;
    const struct physics_sink *sink;
    uint64_t chance;
    int number;
    double kernel_speed, host_speed,
        link_speed;                /* times as long as usual, as long as the job lasts */
    double warmth;                 /* slow changes of the device's clock */
    double host, compute, network; /* when each of them is free */
    double ready[BUCKETS], joined[BUCKETS], launched[BUCKETS], calls_end[BUCKETS];
    double length; /* of this step's input, relative */
    double held;   /* bytes that are kept from step to step: a cache that grows and shrinks */
    double sizes[ALLOCATIONS]; /* of what the step allocates */
    int small;                 /* and so many small ones */
    bool faulty;               /* in this step */
    int64_t begin;
};

static void give(struct rank *rank, enum event_kind kind, double begin, double end,
                 double device_begin, double device_end, double bytes)
{
    struct event event = {
        kind,          llround(begin), llround(end), llround(device_begin), llround(device_end),
        llround(bytes)};

    rank->sink->event(rank->sink->context, rank->number, &event);
}

static bool has(const struct rank *rank, enum fault fault)
{
    return rank->faulty && rank->physics->fault == fault;
}

/* Host time of a call; now and then the operating system takes the processor away. */
static double call_time(struct rank *rank, double usual)
{
    double time = usual * rank->host_speed * exp(0.15 * normal(&rank->chance));

    if (has(rank, FAULT_DRIVER)) {
        time *= rank->physics->strength;
    }
    if (uniform(&rank->chance) < 0.0002) {
        time += between(&rank->chance, 50 * US, 2 * MS);
    }
    return time;
}

static double kernel_time(struct rank *rank, int index)
{
    /* The same kernel takes the same time on all ranks, but for their speed. */
    uint64_t of_kernel = stream_of(rank->physics, 2, index);
    double time = between(&of_kernel, 30 * US, 180 * US) * rank->kernel_speed * rank->warmth *
                  rank->length * (1 + 0.01 * normal(&rank->chance));

    if (has(rank, FAULT_SLOW_KERNELS)) {
        time *= rank->physics->strength;
    }
    return time;
}

static void launch(struct rank *rank, int index)
{
    double begin = rank->host;

    rank->host += call_time(rank, 4.5 * US);
    double start = fmax(rank->host, rank->compute);
    rank->compute = start + kernel_time(rank, index);
    give(rank, EVENT_KERNEL, begin, rank->host, start, rank->compute, 0);
    rank->host += 1 * US * rank->host_speed;
}

static void copy(struct rank *rank, enum event_kind kind, double bytes)
{
    double begin = rank->host, rate = kind == EVENT_H2D ? 25.0 : 22.0; /* bytes per ns */
    double time = 2 * US +
                  bytes / rate * rank->link_speed * (1 + 0.03 * fabs(normal(&rank->chance)));

    if (has(rank, FAULT_SLOW_LINK)) {
        time *= rank->physics->strength;
    }
    rank->host += call_time(rank, 6 * US);
    double start = fmax(rank->host, rank->compute);
    rank->compute = start + time;
    give(rank, kind, begin, rank->host, start, rank->compute, bytes);
}

static void allocate(struct rank *rank, enum event_kind kind, double bytes)
{
    double begin = rank->host;

    rank->host += call_time(rank, 7 * US);
    give(rank, kind, begin, rank->host, 0, 0, bytes);
}

/* What the step needs for a time: with inputs that vary, so do sizes and numbers. */
static void allocations(struct rank *rank, enum event_kind kind)
{
    double each = 64 * MIB * (has(rank, FAULT_MORE_MEMORY) ? rank->physics->strength * 9 - 8 : 1);

    for (int i = 0; i < ALLOCATIONS && kind == EVENT_ALLOCATE; i++) {
        rank->sizes[i] = floor(each * rank->length);
    }
    if (kind == EVENT_ALLOCATE) {
        rank->small = has(rank, FAULT_MORE_ALLOCATIONS) ? (int)rank->physics->strength : 0;
        rank->small += rank->physics->varies ? (int)between(&rank->chance, 0, 3) : 0;
    }
    for (int i = 0; i < ALLOCATIONS + rank->small; i++) {
        allocate(rank, kind, i < ALLOCATIONS ? rank->sizes[i] : 4096);
    }
}

static void replace_held(struct rank *rank)
{
    double size = floor(32 * MIB * exp(0.2 * normal(&rank->chance)));

    allocate(rank, EVENT_ALLOCATE, size);
    if (rank->held > 0) {
        allocate(rank, EVENT_FREE, rank->held);
    }
    rank->held = size;
}

/* Up to where the last bucket is launched. */
static void compute_gradients(struct rank *rank, int step)
{
    const struct physics *physics = rank->physics;
    int kernels = physics->kernels;

    rank->begin = llround(rank->host);
    rank->faulty = rank->number == physics->odd && step >= physics->from_step;
    rank->length = physics->varies ? 1 + 0.03 * normal(&rank->chance) : 1;
    rank->warmth = 1 + 0.95 * (rank->warmth - 1) + 0.0005 * normal(&rank->chance);
    /* Code of the host: the next batch; sometimes it is not there yet. */
    rank->host += 1.5 * MS * rank->host_speed * exp(0.1 * normal(&rank->chance));
    if (uniform(&rank->chance) < 0.02) {
        rank->host += between(&rank->chance, 1 * MS, 20 * MS);
    }
    if (has(rank, FAULT_SLOW_HOST)) {
        rank->host += physics->strength;
    }
    if (step == 0) {
        allocate(rank, EVENT_ALLOCATE, 4096 * MIB); /* weights */
    }
    allocations(rank, EVENT_ALLOCATE);
    if (rank->physics->varies) {
        replace_held(rank);
    }
    if (has(rank, FAULT_LEAK)) {
        allocate(rank, EVENT_ALLOCATE, floor(physics->strength));
    }
    copy(rank, EVENT_H2D, 24 * MIB);
    copy(rank, EVENT_H2D, 1 * MIB);
    for (int i = 0; has(rank, FAULT_EXTRA_COPIES) && i < physics->strength; i++) {
        copy(rank, EVENT_H2D, floor(between(&rank->chance, 4 * MIB, 16 * MIB)));
    }
    for (int k = 0; k < kernels; k++) {
        launch(rank, k);
        /* The second half is the backward pass, whose gradients leave in buckets. */
        int bucket = (k - kernels / 2) * BUCKETS / (kernels - kernels / 2);
        int after = (k + 1 - kernels / 2) * BUCKETS / (kernels - kernels / 2);

        if (k >= kernels / 2 && after != bucket) {
            rank->launched[bucket] = rank->host;
            rank->host += call_time(rank, 9 * US);
            rank->calls_end[bucket] = rank->host;
            rank->ready[bucket] = fmax(rank->compute, rank->host);
        }
    }
}

/* A collective begins on each rank when its gradients are there, and ends for all when the last has joined and the bytes
 * have passed. */
static void reduce(struct rank *ranks, const struct physics *physics, int bucket, uint64_t *chance)
{
    double last = 0;

    for (int r = 0; r < physics->ranks; r++) {
        ranks[r].joined[bucket] = fmax(ranks[r].ready[bucket], ranks[r].network);
        last = fmax(last, ranks[r].joined[bucket]);
    }
    double end = last + (0.8 + 0.1 * bucket) * MS * (1 + 0.05 * fabs(normal(chance)));
    for (int r = 0; r < physics->ranks; r++) {
        struct rank *rank = &ranks[r];

        rank->network = end + between(&rank->chance, 0, 4 * US);
        give(rank, EVENT_COLLECTIVE, rank->launched[bucket], rank->calls_end[bucket],
             rank->joined[bucket], rank->network, 64 * MIB);
    }
}

static void update_weights(struct rank *rank, int step)
{
    rank->compute = fmax(rank->compute, rank->network);
    for (int k = 0; k < UPDATES; k++) {
        launch(rank, 1000 + k);
    }
    allocations(rank, EVENT_FREE);
    copy(rank, EVENT_D2H, 2 * MIB);
    double begin = rank->host;
    rank->host = fmax(rank->host, rank->compute) + call_time(rank, 5 * US);
    give(rank, EVENT_WAIT, begin, rank->host, 0, 0, 0);
    rank->sink->step(rank->sink->context, rank->number, step, rank->begin, llround(rank->host));
}

void physics_run(const struct physics *physics, const struct physics_sink *sink)
{
    struct rank *ranks = calloc((size_t)physics->ranks, sizeof(*ranks));
    uint64_t chance = stream_of(physics, 3, 0);

    for (int r = 0; r < physics->ranks; r++) {
        uint64_t state = stream_of(physics, 4, r);

        ranks[r] = (struct rank){.physics = physics, .sink = sink, .number = r, .warmth = 1};
        double (*spread)(uint64_t *) = physics->far_out ? laplace : normal;

        ranks[r].kernel_speed = exp(physics->kernel_spread * spread(&state));
        ranks[r].host_speed = exp(physics->host_spread * spread(&state));
        ranks[r].link_speed = exp(physics->link_spread * spread(&state));
        ranks[r].host = between(&state, 0, 50 * MS);
        ranks[r].chance = stream_of(physics, 5, r);
    }
    for (int step = 0; step < physics->steps; step++) {
        /* A checkpoint, or a file system that all wait for. */
        double pause = step % 40 == 39 ? between(&chance, 20 * MS, 60 * MS) : 0;

        for (int r = 0; r < physics->ranks; r++) {
            compute_gradients(&ranks[r], step);
        }
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            reduce(ranks, physics, bucket, &chance);
        }
        for (int r = 0; r < physics->ranks; r++) {
            update_weights(&ranks[r], step);
            ranks[r].host += pause;
        }
    }
    free(ranks);
}

/* ---- what does not change --------------------------------------------------------------------- */

int64_t physics_wall_clock(const struct physics *physics, int rank, int64_t true_ns)
{
    int host = physics_host(physics, rank);
    uint64_t of_host = stream_of(physics, 6, host), of_rank = stream_of(physics, 7, rank);
    double offset = physics->clock_spread_ns * normal(&of_host);
    double drift = 0.3e-6 * normal(&of_host);
    /* Both clocks of the host are read one after the other. */
    double anchor = -2 * US * log(uniform(&of_rank));

    if (physics->fault == FAULT_CLOCK && host == physics_host(physics, physics->odd)) {
        offset += physics->strength;
    }
    return 1700000000000000000LL + true_ns + llround(offset + anchor + drift * (double)true_ns);
}

const char *physics_driver(const struct physics *physics, int rank)
{
    return physics->fault == FAULT_DRIVER && rank == physics->odd ? "570.86.15" : "580.159.04";
}
