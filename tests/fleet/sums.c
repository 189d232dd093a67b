/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over steps, by the definitions of gmtrace.db(5). */
#include "tests/fleet/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 2048 };

struct span {
    int64_t begin, end;
};

struct open_step {
    double values[GMT_FLEET_MEASURES];
    double h2d_bytes, d2h_bytes, h2d_ns, d2h_ns;
    struct span calls[EVENTS_MOST], streams[2][EVENTS_MOST]; /* each in order */
    size_t call_count, counts[2];
    double live, peak;
};

struct sums {
    struct gmt_fleet *fleet;
    const struct physics *physics;
    struct open_step *open;
};

static double calls_of_all;

static void add_span(struct span *spans, size_t *count, int64_t begin, int64_t end)
{
    if (*count < EVENTS_MOST) {
        spans[(*count)++] = (struct span){begin, end};
    } else {
        abort(); /* the generator's job is larger than this test is made for */
    }
}

static void on_device(struct open_step *step, const struct event *event)
{
    double ns = (double)(event->device_end - event->device_begin), bytes = (double)event->bytes;
    int stream = event->kind == EVENT_COLLECTIVE;

    if (event->device_end == 0) {
        return;
    }
    add_span(step->streams[stream], &step->counts[stream], event->device_begin, event->device_end);
    switch (event->kind) {
    case EVENT_KERNEL: step->values[GMT_FLEET_KERNELS] += ns; break;
    case EVENT_COLLECTIVE: step->values[GMT_FLEET_COLLECTIVES] += ns; break;
    case EVENT_H2D:
        step->h2d_bytes += bytes;
        step->h2d_ns += ns;
        break;
    case EVENT_D2H:
        step->d2h_bytes += bytes;
        step->d2h_ns += ns;
        break;
    default: break;
    }
}

static void add_collective(struct sums *sums, int rank, const struct event *event)
{
    struct gmt_fleet_rank *of = &sums->fleet->ranks[rank];

    of->collectives[of->collective_count] = (struct gmt_fleet_collective){
        .key = 1,
        .position = (int64_t)of->collective_count + 1,
        .end_ns = physics_wall_clock(sums->physics, rank, event->device_end)};
    of->collective_count++;
}

static void take_event(void *context, int rank, const struct event *event)
{
    struct sums *sums = context;
    struct open_step *step = &sums->open[rank];
    double host_ns = (double)(event->end - event->begin), bytes = (double)event->bytes;

    calls_of_all++;
    add_span(step->calls, &step->call_count, event->begin, event->end);
    on_device(step, event);
    switch (event->kind) {
    case EVENT_KERNEL:
        step->values[GMT_FLEET_LAUNCHES]++;
        step->values[GMT_FLEET_CALLS] += host_ns;
        break;
    case EVENT_COLLECTIVE: add_collective(sums, rank, event); break;
    case EVENT_H2D:
    case EVENT_D2H:
        step->values[GMT_FLEET_COPIES]++;
        step->values[GMT_FLEET_COPY_BYTES] += bytes;
        break;
    case EVENT_ALLOCATE:
    case EVENT_FREE:
        step->values[GMT_FLEET_ALLOC_CALLS]++;
        step->values[GMT_FLEET_ALLOC_NS] += host_ns;
        step->live += event->kind == EVENT_ALLOCATE ? bytes : -bytes;
        step->peak = fmax(step->peak, step->live);
        break;
    case EVENT_WAIT: break;
    }
}

/* Of the time from begin to end, what no span covers; both lists are in order of their begins, and end in that order. */
static int64_t outside(const struct span *spans, size_t n, size_t *at, int64_t begin, int64_t end)
{
    int64_t covered = 0;

    while (*at < n && spans[*at].end <= begin) {
        (*at)++;
    }
    for (size_t i = *at; i < n && spans[i].begin < end; i++) {
        int64_t from = spans[i].begin > begin ? spans[i].begin : begin;
        int64_t to = spans[i].end < end ? spans[i].end : end;

        covered += to - from;
    }
    return end - begin - covered;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Time in which the device does nothing and the host is in no call. */
static double host_code(struct open_step *step, int64_t begin, int64_t end)
{
    size_t i = 0, j = 0, call = 0;
    int64_t busy_to = begin, idle = 0;

    /* A collective's call is known when it has ended, so it comes behind later ones. */
    qsort(step->calls, step->call_count, sizeof(*step->calls), by_begin);
    while (i < step->counts[0] || j < step->counts[1]) {
        bool first = j == step->counts[1] || (i < step->counts[0] && step->streams[0][i].begin <=
                                                                         step->streams[1][j].begin);
        struct span span = first ? step->streams[0][i++] : step->streams[1][j++];

        if (span.begin > busy_to) {
            idle += outside(step->calls, step->call_count, &call, busy_to, span.begin);
        }
        busy_to = span.end > busy_to ? span.end : busy_to;
    }
    return (double)(end > busy_to
                        ? idle + outside(step->calls, step->call_count, &call, busy_to, end)
                        : idle);
}

static void end_step(void *context, int rank, int number, int64_t begin, int64_t end)
{
    struct sums *sums = context;
    struct open_step *step = &sums->open[rank];
    struct gmt_fleet_rank *of = &sums->fleet->ranks[rank];
    double *values = step->values;

    values[GMT_FLEET_STEP] = (double)(end - begin);
    values[GMT_FLEET_HOST] = host_code(step, begin, end);
    values[GMT_FLEET_LEAK] = step->live;
    values[GMT_FLEET_PEAK] = step->peak;
    values[GMT_FLEET_H2D] = step->h2d_bytes > 0 ? step->h2d_ns / step->h2d_bytes * 1e6 : NAN;
    values[GMT_FLEET_D2H] = step->d2h_bytes > 0 ? step->d2h_ns / step->d2h_bytes * 1e6 : NAN;
    memcpy(of->values + (size_t)number * GMT_FLEET_MEASURES, values, sizeof(step->values));
    of->step_count = (size_t)number + 1;
    memset(values, 0, sizeof(step->values));
    step->h2d_bytes = step->d2h_bytes = step->h2d_ns = step->d2h_ns = 0;
    step->call_count = step->counts[0] = step->counts[1] = 0;
    step->peak = step->live;
}

void sums_make(struct gmt_fleet *fleet, const struct physics *physics)
{
    size_t ranks = (size_t)physics->ranks, steps = (size_t)physics->steps;
    struct sums sums = {.fleet = fleet, .physics = physics};
    struct physics_sink sink = {.event = take_event, .step = end_step, .context = &sums};

    calls_of_all = 0;
    *fleet = (struct gmt_fleet){.ranks = calloc(ranks, sizeof(*fleet->ranks)), .count = ranks};
    sums.open = calloc(ranks, sizeof(*sums.open));
    for (size_t r = 0; r < ranks; r++) {
        struct gmt_fleet_rank *rank = &fleet->ranks[r];
        char name[24], host[24];

        snprintf(name, sizeof(name), "%zu", r);
        snprintf(host, sizeof(host), "node-%d", physics_host(physics, (int)r));
        rank->trace = rank->rank = strdup(name);
        rank->host = strdup(host);
        rank->traits[GMT_FLEET_DRIVER] = physics_driver(physics, (int)r);
        rank->values = calloc(steps * GMT_FLEET_MEASURES, sizeof(double));
        rank->collectives = calloc(steps * 8, sizeof(*rank->collectives));
        rank->has_wall_clock = true;
    }
    physics_run(physics, &sink);
    free(sums.open);
    calls_of_all /= (double)ranks;
}

double sums_calls_per_rank(void)
{
    return calls_of_all;
}

void sums_free(struct gmt_fleet *fleet)
{
    for (size_t r = 0; r < fleet->count; r++) {
        free((void *)fleet->ranks[r].rank);
        free((void *)fleet->ranks[r].host);
        free(fleet->ranks[r].values);
        free(fleet->ranks[r].collectives);
    }
    free(fleet->ranks);
}
