/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI's records cost is learnt from calls with and without them, and when they are on is planned: synthetic programs. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "preload/overhead/device_duty.h"

#define MS UINT64_C(1000000)
#define CALL_NS 3000.0
#define LAUNCH 7

static double noise(void)
{
    return rand() / (double)RAND_MAX;
}

/* Calls of a program, one every `every_ns`; records add `extra_ns`. */
struct program {
    double every_ns, extra_ns, drift, level;
    bool matters, is_blocked; /* the latter: one call of ten waits for a full queue */
    double on_ns, all_ns;     /* found: how long they were on, after the learning */
    uint64_t learnt_ns;       /* when learning ended first */
};

static double call_ns(const struct program *program, bool on, double at_ns)
{
    double ns = CALL_NS * (1 + program->drift * at_ns) + (on ? program->extra_ns : 0);
    ns += 300 * noise();
    return program->is_blocked && rand() % 10 == 0 ? ns + 1e6 * noise() : ns;
}

/* One call of 32 is timed. */
static void run(struct gmt_device_duty *duty, struct program *program, double seconds)
{
    double step_ns = 32 * program->every_ns;
    for (uint64_t i = 0; (double)i * step_ns < seconds * 1e9; i++) {
        double at = (double)i * step_ns;
        uint64_t now_ns = (uint64_t)at;
        gmt_device_cost_note(&duty->cost, LAUNCH, duty->on,
                             (uint64_t)call_ns(program, duty->on, at), 32);
        bool wants = gmt_duty_wants(duty, now_ns, program->level, program->matters, noise());
        if (wants != duty->on) {
            gmt_duty_switched(duty, wants, true, now_ns);
        }
        if (!duty->learning && program->learnt_ns == 0 && duty->tries > 0) {
            program->learnt_ns = now_ns;
        }
        if (!duty->learning) {
            program->on_ns += duty->on ? step_ns : 0;
            program->all_ns += step_ns;
        }
    }
}

static struct gmt_device_estimate learn(struct program *program, struct gmt_device_duty *duty)
{
    srand(1);
    program->matters = true;
    program->level = 1;
    gmt_duty_begin(duty, 0);
    run(duty, program, 20);
    return gmt_device_cost_estimate(&duty->cost);
}

Test(device_cost, is_found_with_an_interval)
{
    static struct gmt_device_duty duty;
    for (unsigned extra = 100; extra < 3000; extra *= 2) {
        double extra_ns = extra;
        struct program program = {.every_ns = 10000, .extra_ns = extra_ns};
        struct gmt_device_estimate found = learn(&program, &duty);
        cr_assert(found.is_certain, "%g: %g +- %g", extra_ns, found.mean_ns, found.error_ns);
        cr_expect_float_eq(found.mean_ns, extra_ns, 2 * found.error_ns + 1, "%g: %g +- %g",
                           extra_ns, found.mean_ns, found.error_ns);
        cr_expect_leq(found.error_ns, 0.1 * extra_ns + 20);
        cr_expect_gt(program.learnt_ns, 0);
        cr_expect_lt(program.learnt_ns, 5000 * MS, "%g: learnt after %llu", extra_ns,
                     (unsigned long long)program.learnt_ns);
    }
}

Test(device_cost, of_nothing_is_not_certain)
{
    static struct gmt_device_duty duty;
    unsigned certain = 0;
    for (unsigned seed = 1; seed <= 100; seed++) {
        struct program program = {.every_ns = 10000, .level = 1, .matters = true};
        srand(seed);
        gmt_duty_begin(&duty, 0);
        run(&duty, &program, 5);
        certain += gmt_device_cost_estimate(&duty.cost).is_certain;
    }
    cr_expect_leq(certain, 8, "%u of 100: 2.5 are expected", certain);
}

/* Calls become slower by half within 10 s: that is no cost of records, as pairs are on first as often as off first. */
Test(device_cost, is_not_mistaken_for_drift)
{
    static struct gmt_device_duty duty;
    struct program program = {.every_ns = 10000, .drift = 0.5 / 10e9};
    struct gmt_device_estimate found = learn(&program, &duty);
    cr_expect_float_eq(found.mean_ns, 0, found.error_ns + 10, "%g +- %g", found.mean_ns,
                       found.error_ns);
    program = (struct program){.every_ns = 10000, .drift = 0.5 / 10e9, .extra_ns = 600};
    found = learn(&program, &duty);
    cr_expect_float_eq(found.mean_ns, 600, 60, "%g +- %g", found.mean_ns, found.error_ns);
}

Test(device_cost, is_not_mistaken_for_a_full_queue)
{
    static struct gmt_device_duty duty;
    struct program program = {.every_ns = 10000, .extra_ns = 600, .is_blocked = true};
    struct gmt_device_estimate found = learn(&program, &duty);
    cr_expect_float_eq(found.mean_ns, 600, 60, "%g +- %g", found.mean_ns, found.error_ns);
}

/* Two functions, of which one costs five times the other, and is called twice as often. */
Test(device_cost, is_that_of_the_mix)
{
    static struct gmt_device_cost cost;
    srand(1);
    gmt_device_cost_begin(&cost);
    for (unsigned pair = 0; pair < 10; pair++) {
        for (unsigned i = 0; i < 300; i++) {
            bool on = i >= 150, launch = i % 3 != 0;
            double ns = (launch ? 3000 : 20000) + (on ? (launch ? 500 : 100) : 0) + 100 * noise();
            gmt_device_cost_note(&cost, launch ? 1 : 2, on, (uint64_t)ns, 32);
        }
        cr_assert(gmt_device_cost_end_pair(&cost));
    }
    struct gmt_device_estimate found = gmt_device_cost_estimate(&cost);
    cr_expect_float_eq(found.mean_ns, 2.0 / 3 * 500 + 1.0 / 3 * 100, 20, "%g", found.mean_ns);
}

Test(device_cost, needs_enough_calls_in_both_halves)
{
    static struct gmt_device_cost cost;
    gmt_device_cost_begin(&cost);
    for (unsigned i = 0; i < 100; i++) {
        gmt_device_cost_note(&cost, 1, true, 1000, 32);
        gmt_device_cost_note(&cost, 1, false, 1000, i < GMT_DEVICE_LEAST - 1 ? 32 : 0);
        if (i == GMT_DEVICE_LEAST - 2) {
            break;
        }
    }
    cr_expect_not(gmt_device_cost_end_pair(&cost));
    cr_expect_not(gmt_device_cost_estimate(&cost).is_known);
    for (uint16_t function = 1; function < 20; function++) {
        gmt_device_cost_note(&cost, function, true, UINT64_MAX,
                             1); /* more than are distinguished */
    }
    cr_expect_eq(gmt_device_cost_noted(&cost, true), GMT_DEVICE_FUNCTIONS);
}

/* Records are on for the share that was asked for, in cycles whose lengths differ. */
Test(device_duty, keeps_its_share)
{
    static struct gmt_device_duty duty;
    static const double levels[] = {0.02, 0.05, 0.1, 0.25, 0.5, 0.9};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct program program = {.every_ns = 10000, .extra_ns = 600, .level = levels[i]};
        srand(1);
        gmt_duty_begin(&duty, 0);
        run(&duty, &program, 120);
        double share = program.on_ns / program.all_ns;
        cr_expect_float_eq(share, levels[i], 0.06 * levels[i] + 0.002, "%g: %g", levels[i], share);
        struct gmt_device_estimate found = gmt_device_cost_estimate(&duty.cost);
        cr_expect(found.is_certain);
        cr_expect_float_eq(found.mean_ns, 600, 60, "%g: %g", levels[i], found.mean_ns);
    }
}

Test(device_duty, leaves_records_on_where_they_cannot_cost_too_much)
{
    static struct gmt_device_duty duty;
    struct program program = {.every_ns = 10000, .level = 1};
    gmt_duty_begin(&duty, 0);
    run(&duty, &program, 40);
    cr_expect_eq(program.on_ns, program.all_ns);
    cr_expect_eq(duty.cost.pairs, 0);
}

/* Of a program that makes few calls nothing can be learnt: it is given up, and tried again after a while. */
Test(device_duty, gives_up_on_few_calls)
{
    static struct gmt_device_duty duty;
    struct program program = {.every_ns = 2e6, .level = 1, .matters = true};
    gmt_duty_begin(&duty, 0);
    run(&duty, &program, 60);
    cr_expect_not(gmt_device_cost_estimate(&duty.cost).is_known);
    cr_expect(duty.on);
    cr_expect_gt(program.all_ns, 20e9);
    cr_expect_eq(program.on_ns, program.all_ns);
}

/* A kernel is measured: they are on at once, and go off when their time comes. */
Test(device_duty, gives_way_to_measuring)
{
    static struct gmt_device_duty duty;
    gmt_duty_begin(&duty, 0);
    uint64_t now_ns = 0;
    while (duty.on) {
        now_ns += MS;
        bool wants = gmt_duty_wants(&duty, now_ns, 0.5, false, 0.5);
        if (wants != duty.on) {
            gmt_duty_switched(&duty, wants, true, now_ns);
        }
    }
    gmt_device_cost_note(&duty.cost, LAUNCH, false, 1000, 32);
    gmt_duty_switched(&duty, true, false, now_ns);
    cr_expect_eq(gmt_device_cost_noted(&duty.cost, false), 0, "a pair that was disturbed counts");
    cr_expect(gmt_duty_wants(&duty, now_ns + MS, 0.5, false, 0.5));
    cr_expect_not(gmt_duty_wants(&duty, now_ns + 400 * MS, 0.5, false, 0.5));
}
