/* SPDX-License-Identifier: Apache-2.0 */
/* The governor of gmtrace's own work, driven by synthetic programs: no clock, no threads. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "preload/overhead/govern.h"

#define STEP_NS UINT64_C(250000000)
#define HOOKS GMT_OVERHEAD_HOOKS
#define STACKS GMT_OVERHEAD_STACKS
#define HASHING GMT_OVERHEAD_HASHING
#define COUNTERS GMT_OVERHEAD_COUNTERS
#define DEVICE GMT_OVERHEAD_DEVICE

/* What a program asks for in a step: the share of the time that each part would take if all of it were done. */
typedef void demand_of(unsigned step, double full[GMT_OVERHEAD_PARTS]);

struct outcome {
    double spent_ns, elapsed_ns;
    double lowest[GMT_OVERHEAD_PARTS]; /* levels */
    double worst_window;               /* share, of any 10 s but the first two */
    unsigned beyond;                   /* steps */
};

static void expect_sane(const struct gmt_govern *govern, unsigned step)
{
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        cr_assert(govern->level[part] >= 0 && govern->level[part] <= 1, "step %u part %d: %g", step,
                  part, govern->level[part]);
        cr_assert(govern->full[part] >= 0, "step %u part %d: %g", step, part, govern->full[part]);
    }
    cr_assert_geq(govern->level[STACKS], GMT_GOVERN_LEAST_STACKS);
}

static struct outcome drive_apart(struct gmt_govern *govern, double share, unsigned apart,
                                  unsigned steps, demand_of *demand)
{
    enum { WINDOW = 40 };
    struct outcome outcome = {.lowest = {1, 1, 1, 1, 1}};
    double *spent = calloc(steps, sizeof(*spent));
    gmt_govern_begin(govern, share, apart);
    for (unsigned i = 0; i < steps; i++) {
        double full[GMT_OVERHEAD_PARTS] = {0}, sum = 0;
        uint64_t cost_ns[GMT_OVERHEAD_PARTS];
        demand(i, full);
        for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
            double level = part == HOOKS ? 1 : govern->level[part];
            cost_ns[part] = (uint64_t)(full[part] * level * (double)STEP_NS);
            sum += (double)cost_ns[part];
            outcome.lowest[part] = level < outcome.lowest[part] ? level : outcome.lowest[part];
        }
        gmt_govern_step(govern, STEP_NS, cost_ns);
        expect_sane(govern, i);
        outcome.beyond += govern->is_beyond;
        outcome.spent_ns += sum;
        outcome.elapsed_ns += (double)STEP_NS;
        spent[i] = sum;
    }
    for (unsigned i = 8; i + WINDOW <= steps; i++) {
        double window = 0;
        for (unsigned j = 0; j < WINDOW; j++) {
            window += spent[i + j] / (WINDOW * (double)STEP_NS);
        }
        outcome.worst_window = window > outcome.worst_window ? window : outcome.worst_window;
    }
    free(spent);
    return outcome;
}

static struct outcome drive(struct gmt_govern *govern, double share, unsigned steps,
                            demand_of *demand)
{
    return drive_apart(govern, share, 0, steps, demand);
}

static double share_of(const struct outcome *outcome)
{
    return outcome->spent_ns / outcome->elapsed_ns;
}

static void cheap(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.005;
    full[STACKS] = 0.01;
    full[HASHING] = 0.01;
    full[COUNTERS] = 0.004;
}

Test(govern, leaves_alone_what_is_below_the_budget)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 400, cheap);
    for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
        cr_expect_eq(outcome.lowest[part], 1);
    }
    cr_expect_not(gmt_govern_sheds(&govern));
    cr_expect_eq(outcome.beyond, 0);
}

static void launch_bound(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.01;
    full[STACKS] = 0.25;
}

Test(govern, keeps_a_launch_bound_loop_within_its_share)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 400, launch_bound);
    cr_expect_leq(share_of(&outcome), 0.0301);
    cr_expect_leq(outcome.worst_window, 0.0303);
    cr_expect(gmt_govern_sheds(&govern));
    cr_expect_gt(govern.level[STACKS], 0.06, "%g: what there is shall be used",
                 govern.level[STACKS]);
}

Test(govern, has_no_limit_where_none_is_wanted)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0, 100, launch_bound);
    cr_expect_eq(outcome.lowest[STACKS], 1);
}

static void all_dear(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.005;
    full[STACKS] = 0.08;
    full[HASHING] = 0.03;
    full[COUNTERS] = 0.004;
}

static void three_dear(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.005;
    full[STACKS] = full[HASHING] = full[COUNTERS] = 0.2;
}

Test(govern, sheds_the_dearest_first)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.05, 400, all_dear);
    cr_expect_leq(share_of(&outcome), 0.0501);
    cr_expect_geq(govern.level[HASHING], 0.5);
    cr_expect_lt(govern.level[STACKS], govern.level[HASHING]);
    cr_expect_eq(govern.level[COUNTERS], 1);
}

/* Parts with limits of their own are done whole, whatever they cost; the others have what they had without those, and keep
 * within it. */
Test(govern, leaves_parts_alone_that_have_limits_of_their_own)
{
    const unsigned sets[] = {1u << HASHING, 1u << COUNTERS, 1u << HASHING | 1u << COUNTERS};
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct gmt_govern govern;
        struct outcome outcome = drive_apart(&govern, 0.03, sets[i], 400, three_dear);
        double apart = 0;
        for (int part = 0; part < GMT_OVERHEAD_PARTS; part++) {
            bool is_apart = (sets[i] & (1u << part)) != 0;
            apart += is_apart ? 0.2 : 0;
            cr_expect_eq(outcome.lowest[part] < 1, part != HOOKS && part != DEVICE && !is_apart,
                         "set %#x, part %d: %g", sets[i], part, outcome.lowest[part]);
        }
        cr_expect_leq(share_of(&outcome), apart + 0.0301, "set %#x", sets[i]);
        cr_expect_geq(share_of(&outcome), apart + 0.028, "set %#x: what there is shall be used",
                      sets[i]);
        cr_expect_eq(outcome.beyond, 0);
    }
}

/* CUPTI's records are the dearest part of a launch-bound loop of a framework. */
static void framework(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.006;
    full[STACKS] = 0.01;
    full[DEVICE] = 0.1;
}

Test(govern, sheds_device_records_and_reads_all_stacks)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 400, framework);
    cr_expect_leq(share_of(&outcome), 0.0301);
    cr_expect_eq(govern.level[STACKS], 1, "%g", govern.level[STACKS]);
    cr_expect_leq(govern.level[DEVICE], 0.14 + 1e-3);
    cr_expect_geq(govern.level[DEVICE], 0.12);
}

static void records_alone(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[DEVICE] = 2;
}

Test(govern, keeps_some_device_records_and_says_that_it_does)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 400, records_alone);
    cr_expect_eq(govern.level[DEVICE], GMT_GOVERN_LEAST_DEVICE);
    cr_expect_gt(outcome.beyond, 390);
}

/* While their cost is learnt half of the records are off, whatever the level is. */
Test(govern, learns_from_what_was_done)
{
    struct gmt_govern govern;
    gmt_govern_begin(&govern, 0.03, 0);
    uint64_t cost_ns[GMT_OVERHEAD_PARTS] = {0};
    cost_ns[DEVICE] = STEP_NS / 20;
    govern.done[DEVICE] = 0.5;
    gmt_govern_step(&govern, STEP_NS, cost_ns);
    cr_expect_float_eq(govern.full[DEVICE], 0.1, 1e-9);
    cr_expect_eq(govern.done[DEVICE], govern.level[DEVICE]);
}

static void hooks_alone(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.05;
    full[STACKS] = 0.1;
    full[HASHING] = 0.1;
}

Test(govern, says_what_it_cannot_keep)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 200, hooks_alone);
    cr_expect_geq(outcome.beyond, 199);
    cr_expect_eq(govern.level[STACKS], GMT_GOVERN_LEAST_STACKS);
    cr_expect_lt(govern.level[HASHING], 0.002);
    cr_expect_leq(share_of(&outcome), 0.055);
}

/* 10 s of nothing, then 1 s of launches as fast as they go. */
static void bursts(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    if (step % 44 >= 40) {
        full[HOOKS] = 0.012;
        full[STACKS] = 0.3;
        full[HASHING] = 0.1;
    }
}

Test(govern, saves_nothing_up_for_bursts)
{
    struct gmt_govern govern;
    struct outcome outcome = drive(&govern, 0.03, 44 * 20, bursts);
    /* Over all it is far below the share; of the bursts themselves no more than the saved second is added, and the step
     * that shows the burst. */
    cr_expect_leq(share_of(&outcome), 0.03);
    double in_bursts = outcome.spent_ns / (outcome.elapsed_ns / 11);
    cr_expect_leq(in_bursts, 0.03 + 0.03 + 0.412 / 4, "%g", in_bursts);
}

/* As an opponent would choose: cheap until all is allowed again, then dear for one step. */
static const struct gmt_govern *watched;
static void opponent(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.002;
    full[STACKS] = watched->level[STACKS] == 1 ? 0.5 : 0.001;
    full[HASHING] = watched->level[HASHING] == 1 ? 0.5 : 0.001;
}

Test(govern, keeps_its_share_against_an_opponent)
{
    struct gmt_govern govern;
    watched = &govern;
    struct outcome outcome = drive(&govern, 0.03, 4000, opponent);
    cr_expect_leq(share_of(&outcome), 0.031, "%g", share_of(&outcome));
}

/* Measured costs jump by a factor of ten both ways. */
static void noise(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    (void)step;
    full[HOOKS] = 0.01;
    full[STACKS] = 0.02 + 0.2 * (rand() / (double)RAND_MAX);
    full[HASHING] = rand() % 10 == 0 ? 0.2 : 0;
    full[COUNTERS] = rand() % 50 == 0 ? 0.5 : 0;
}

Test(govern, keeps_its_share_under_noise)
{
    struct gmt_govern govern;
    for (unsigned seed = 1; seed <= 20; seed++) {
        srand(seed);
        struct outcome outcome = drive(&govern, 0.03, 2000, noise);
        cr_expect_leq(share_of(&outcome), 0.0305, "seed %u: %g", seed, share_of(&outcome));
    }
}

static void dear_then_cheap(unsigned step, double full[GMT_OVERHEAD_PARTS])
{
    full[HOOKS] = 0.004;
    full[STACKS] = step < 100 ? 0.4 : 0.005;
    full[HASHING] = step < 100 ? 0.4 : 0.005;
}

Test(govern, does_all_again_when_the_program_has_become_cheap)
{
    struct gmt_govern govern;
    (void)drive(&govern, 0.03, 100, dear_then_cheap);
    cr_expect(gmt_govern_sheds(&govern));
    (void)drive(&govern, 0.03, 100 + 4 * 60, dear_then_cheap);
    cr_expect_eq(govern.level[STACKS], 1, "%g", govern.level[STACKS]);
    cr_expect_eq(govern.level[HASHING], 1, "%g", govern.level[HASHING]);
}

Test(govern, takes_steps_of_any_length)
{
    struct gmt_govern govern;
    const uint64_t nothing[GMT_OVERHEAD_PARTS] = {0},
                   all[GMT_OVERHEAD_PARTS] = {UINT64_MAX / 8, UINT64_MAX / 8, UINT64_MAX / 8,
                                              UINT64_MAX / 8};
    gmt_govern_begin(&govern, 0.03, 0);
    gmt_govern_step(&govern, 0, all);
    cr_expect_not(gmt_govern_sheds(&govern), "no time has passed: nothing is known");
    gmt_govern_step(&govern, 1, all);
    expect_sane(&govern, 1);
    gmt_govern_step(&govern, UINT64_MAX / 2, nothing);
    expect_sane(&govern, 2);
    cr_expect_leq(govern.credit_ns, 0.03 * GMT_GOVERN_SAVED_NS);
}
