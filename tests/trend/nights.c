/* SPDX-License-Identifier: Apache-2.0 */
/* Makes nights of many programs. */
#include "nights.h"

#include <math.h>
#include <stdlib.h>

#define DAY_S 86400.0

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double draw_uniform(uint64_t *state, double least, double most)
{
    return least + (most - least) * ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    double u = draw_uniform(state, 0, 1);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * draw_uniform(state, 0, 1));
}

static double whole(uint64_t *state, double least, double most)
{
    return floor(draw_uniform(state, least, most + 1));
}

/* What a program is by nature. */
struct program {
    double steps, copies, bytes, launches, kernel_ns, host_ns, allocations, peak_bytes;
    double host_noise, device_noise; /* standard deviations of the logarithm */
    double memory;                   /* how much of tonight's load is last night's */
    double busy_share;               /* of nights, on which the machine does something else */
    bool data;                       /* steps depend on data               */
    double retries;                  /* share of nights with one copy more */
    double pauses;                   /* share of nights on which it is not run */
    bool has[NIGHT_MISTAKES];
    double gains[NIGHT_MISTAKES]; /* shares of the device's time */
};

static struct program draw_program(uint64_t *state)
{
    struct program p = {.steps = whole(state, 20, 2000),
                        .copies = whole(state, 1, 12),
                        .bytes = whole(state, 1, 4096) * 4096,
                        .launches = whole(state, 2, 40),
                        .kernel_ns = exp(draw_uniform(state, log(5e3), log(5e6))),
                        .host_ns = exp(draw_uniform(state, log(1e4), log(1e7))),
                        .allocations = whole(state, 4, 400),
                        .peak_bytes = whole(state, 16, 40000) * 1048576,
                        .host_noise = exp(draw_uniform(state, log(0.005), log(0.06))),
                        .device_noise = exp(draw_uniform(state, log(0.001), log(0.01))),
                        .busy_share = draw_uniform(state, 0, 0.06)};

    p.memory = draw_uniform(state, 0, 1) < 0.2 ? 0.3 : 0;
    p.data = draw_uniform(state, 0, 1) < 0.1;
    p.retries = draw_uniform(state, 0, 1) < 0.05 ? draw_uniform(state, 0.05, 0.5) : 0;
    p.pauses = draw_uniform(state, 0, 1) < 0.1 ? 0.1 : 0;
    for (int i = 0; i < NIGHT_MISTAKES; i++) {
        p.has[i] = i > 0 && draw_uniform(state, 0, 1) < 0.4; /* the first is what a fault brings */
        p.gains[i] = draw_uniform(state, 0.01, 0.2);
    }
    return p;
}

static void change(struct program *p, enum regression fault, double strength)
{
    switch (fault) {
    case REGRESSION_COPIES: p->copies = ceil(p->copies * strength + 0.5); break;
    case REGRESSION_KERNELS: p->kernel_ns *= strength; break;
    case REGRESSION_HOST: p->host_ns *= strength; break;
    case REGRESSION_MEMORY: p->peak_bytes *= strength; break;
    case REGRESSION_LAUNCHES: p->launches = ceil(p->launches * strength + 0.5); break;
    case REGRESSION_MISTAKE: p->has[0] = true; break;
    case REGRESSION_NONE:
    case REGRESSIONS: break;
    }
}

static struct night run(const struct program *p, double load, unsigned machine, uint64_t *state)
{
    double steps = p->data ? floor(p->steps * exp(0.1 * normal(state))) + 1 : p->steps;
    double slow = machine == 1 ? 1.07 : 1; /* another driver */
    bool busy = draw_uniform(state, 0, 1) < p->busy_share;
    double retry = draw_uniform(state, 0, 1) < p->retries ? 1 : 0;
    struct night night = {.machine = machine};

    night.copies = steps * p->copies + retry;
    night.copy_bytes = night.copies * p->bytes;
    night.launches = steps * p->launches;
    night.allocations = p->allocations;
    night.peak_bytes = p->peak_bytes;
    night.calls = night.copies + night.launches + 2 * p->allocations + steps;
    night.kernel_ns = night.launches * p->kernel_ns * exp(p->device_noise * normal(state)) * slow;
    night.copy_ns = (night.copies * 1e4 + night.copy_bytes / 25) *
                    exp(2 * p->device_noise * normal(state));
    double host = (steps * p->host_ns + night.calls * 3e3 * slow) * exp(p->host_noise * load);
    if (busy) {
        host *= draw_uniform(state, 1.1, 5);
        night.copy_ns *= draw_uniform(state, 1, 2);
    }
    night.busy_ns = night.kernel_ns + night.copy_ns;
    night.program_ns = host + 0.8 * night.busy_ns;
    for (int i = 0; i < NIGHT_MISTAKES; i++) {
        night.has[i] = p->has[i];
        night.gain_ns[i] = p->gains[i] * night.busy_ns;
    }
    return night;
}

struct nights make_nights(uint64_t seed, enum regression fault, double strength)
{
    uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    struct nights nights = {.programs = (size_t)whole(&state, 2, 40),
                            .count = (size_t)whole(&state, 10, 60)};
    /* In a quarter of the histories another driver is installed one day. */
    size_t driver = draw_uniform(&state, 0, 1) < 0.25
                        ? (size_t)whole(&state, 1, (double)nights.count - 1)
                        : nights.count;

    nights.program = (size_t)whole(&state, 0, (double)nights.programs - 1);
    nights.night = (size_t)whole(&state, 5, (double)nights.count - 5);
    if (fault != REGRESSION_NONE && driver < nights.count) {
        /* Enough nights with the same driver at each side of the fault, or nobody could know. */
        driver = nights.night >= nights.count - nights.night
                     ? (nights.night >= 10 ? 1 : nights.count)
                     : (nights.count - nights.night >= 10 ? nights.count - 1 : nights.count);
    }
    nights.all = calloc(nights.programs * nights.count, sizeof(*nights.all));
    for (size_t p = 0; p < nights.programs; p++) {
        struct program program = draw_program(&state);
        double load = normal(&state);
        bool is_hit = fault != REGRESSION_NONE && p == nights.program;

        if (is_hit) {
            program.data = false;
            program.retries = program.pauses = 0;
            program.host_noise = fmin(program.host_noise, 0.02);
            program.busy_share = fault == REGRESSION_HOST ? 0 : program.busy_share;
            program.host_ns = fmax(program.host_ns, program.launches * program.kernel_ns);
        }
        for (size_t n = 0; n < nights.count; n++) {
            struct night *night = &nights.all[p * nights.count + n];

            if (is_hit && n == nights.night) {
                change(&program, fault, strength);
            }
            load = program.memory * load +
                   sqrt(1 - program.memory * program.memory) * normal(&state);
            *night = run(&program, load, n >= driver, &state);
            night->start_s = 1.7e9 + (double)n * DAY_S + (double)p * 60 +
                             draw_uniform(&state, 0, 50);
            if (draw_uniform(&state, 0, 1) < program.pauses) {
                night->start_s = 0; /* it was not run */
            }
        }
    }
    return nights;
}
