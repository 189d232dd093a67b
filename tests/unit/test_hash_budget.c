/* SPDX-License-Identifier: Apache-2.0 */
/* The governor of fingerprints, driven by a clock of the test's own. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "preload/fingerprint/hash_budget.h"

#define LIMIT ((size_t)1 << 20)

/* `calls` copies of 1 MiB, `gap` ticks apart; hashing takes `cost` ticks each. Returns how many were
 * hashed, and counts the longest series of neighbours. */
static unsigned drive(struct gmt_hash_budget *budget, unsigned calls, uint64_t gap, uint64_t cost,
                      unsigned *series)
{
    uint64_t now = budget->began, before = atomic_load(&budget->spent);
    uint64_t reserved;
    unsigned hashed = 0, run = 0;
    *series = 0;
    for (unsigned i = 0; i < calls; i++) {
        now += gap;
        if (gmt_hash_budget_reserve(budget, LIMIT, now, &reserved)) {
            now += cost;
            gmt_hash_budget_settle(budget, LIMIT, reserved, cost);
            hashed++;
            *series = ++run > *series ? run : *series;
        } else {
            run = 0;
        }
        cr_assert_leq((double)atomic_load(&budget->spent),
                      budget->share * (double)(now - budget->began) + (double)(cost + before),
                      "call %u", i);
    }
    return hashed;
}

Test(hash_budget, hashes_everything_that_it_covers)
{
    struct gmt_hash_budget budget;
    unsigned series;
    gmt_hash_budget_begin(&budget, 0.03, 1000);
    /* 1 % of the time, after a start that pays for the first, cautious guess. */
    unsigned hashed = drive(&budget, 1000, 100 * 300000, 300000, &series);
    cr_expect_geq(hashed, 990, "%u", hashed);
}

Test(hash_budget, keeps_the_share_and_hashes_in_series)
{
    struct gmt_hash_budget budget;
    unsigned series;
    gmt_hash_budget_begin(&budget, 0.03, 1000);
    /* All of them would take half of the time. */
    unsigned hashed = drive(&budget, 100000, 300000, 300000, &series);
    cr_expect_geq(hashed, 2100, "%u", hashed);
    cr_expect_leq(hashed, 3200, "%u", hashed);
    cr_expect_geq(series, 10, "%u", series);
}

Test(hash_budget, does_not_stop_for_good_after_one_slow_hash)
{
    struct gmt_hash_budget budget;
    unsigned series;
    gmt_hash_budget_begin(&budget, 0.03, 0);
    gmt_hash_budget_settle(&budget, 64, 0, UINT64_C(40000000)); /* it was not running for 10 ms */
    cr_expect_geq(drive(&budget, 1000, UINT64_C(30000000), 300000, &series), 900);
}

Test(hash_budget, hashes_nothing_without_a_share_and_all_without_limit)
{
    struct gmt_hash_budget budget;
    uint64_t reserved;
    unsigned series;
    gmt_hash_budget_begin(&budget, 0, 0);
    cr_expect_eq(drive(&budget, 100, 1000000, 1, &series), 0);
    gmt_hash_budget_begin(&budget, 1, 0);
    cr_expect(gmt_hash_budget_reserve(&budget, UINT64_MAX / 2, 0, &reserved));
}

/* A hundred threads that ask before the first of them is done get what one thread would get. */
Test(hash_budget, gives_the_same_credit_to_one_thread_only)
{
    struct gmt_hash_budget budget;
    uint64_t reserved = 0, now = UINT64_C(1000000000), sum = 0;
    unsigned granted = 0;
    gmt_hash_budget_begin(&budget, 0.03, 0);
    while (granted < 100 && gmt_hash_budget_reserve(&budget, LIMIT, now, &reserved)) {
        sum += reserved;
        granted++;
    }
    cr_expect_gt(granted, 0);
    cr_expect_lt(granted, 100);
    cr_expect_leq((double)sum, 0.03 * (double)now);
    cr_expect_eq(atomic_load(&budget.spent), sum);
    for (unsigned i = 0; i < granted; i++) {
        gmt_hash_budget_settle(&budget, 0, reserved, 0); /* nothing could be read */
    }
    cr_expect_eq(atomic_load(&budget.spent),
                 sum - granted * (reserved - GMT_HASH_UNSEEN_TICKS)); /* but for the asking */
}

/* Stopped for an hour inside a hash: fingerprints go on within a minute. */
Test(hash_budget, takes_a_stop_for_no_work)
{
    const uint64_t hour = UINT64_C(3600000000000), second = UINT64_C(1000000000);
    struct gmt_hash_budget budget;
    uint64_t reserved, now = 10 * second;
    gmt_hash_budget_begin(&budget, 0.03, 0);
    cr_assert(gmt_hash_budget_reserve(&budget, LIMIT, now, &reserved));
    gmt_hash_budget_settle(&budget, LIMIT, reserved, hour);
    now += hour;
    unsigned tries = 0;
    while (!gmt_hash_budget_reserve(&budget, LIMIT, now, &reserved)) {
        now += second;
        cr_assert_lt(++tries, 60);
    }
}

/* ---- a program with a clock: what hashing really takes, and when ------------------------------ */

struct program {
    struct gmt_hash_budget budget;
    uint64_t now, hashing; /* in ticks; `hashing` with what nobody measures */
    uint64_t hashed;
    uint32_t random;
};

static uint32_t draw(struct program *program, uint32_t below)
{
    program->random = program->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)program->random * below >> 32);
}

static struct program begun(double share)
{
    struct program program = {.now = 5000, .random = 1};
    gmt_hash_budget_begin(&program.budget, share, program.now);
    return program;
}

/* A copy that takes `copying` ticks; hashing runs at 250 ticks per KiB, now and then a fifth slower. */
static bool copy(struct program *program, uint64_t bytes, uint64_t copying)
{
    uint64_t reserved;
    program->now += copying;
    if (!gmt_hash_budget_reserve(&program->budget, bytes, program->now, &reserved)) {
        return false;
    }
    uint64_t ticks = bytes * (250 + draw(program, 50)) / 1024 + 100;
    uint64_t unseen = ticks / 5 + 50; /* as on the H200 */
    program->now += ticks + unseen;
    program->hashing += ticks + unseen;
    program->hashed++;
    gmt_hash_budget_settle(&program->budget, bytes, reserved, ticks);
    return true;
}

Test(hash_budget, is_never_exceeded_at_any_time_of_a_run)
{
    static const double shares[] = {0.001, 0.03, 0.25};
    for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
        struct program program = begun(shares[s]);
        uint64_t began = program.now;
        for (unsigned i = 0; i < 200000; i++) {
            uint64_t bytes = UINT64_C(64) << draw(&program, 15); /* to 1 MiB */
            (void)copy(&program, bytes, 1000 + bytes / 4 + draw(&program, 5000));
            double allowed = shares[s] * (double)(program.now - began);
            /* One may turn out slower than those before it. */
            cr_assert_leq((double)program.hashing, allowed + 0.25 * 300 * 1024, "copy %u", i);
        }
        double used = (double)program.hashing / (double)(program.now - began);
        cr_expect_geq(used, 0.6 * shares[s], "%g of %g", used, shares[s]); /* a rest may be on */
        cr_expect_leq(used, shares[s], "%g of %g", used, shares[s]);
    }
}

/* What a phase of copies costs of that phase, whatever came before it. */
Test(hash_budget, saves_up_a_series_and_no_more)
{
    const uint64_t idle = UINT64_C(1000000000000), sample = 262144, copying = 1000000;
    struct program program = begun(0.03);
    uint64_t saved[] = {3 * GMT_HASH_SAVED_KIB, GMT_HASH_SERIES_KIB};
    for (unsigned phase = 0; phase < 2; phase++) {
        program.now += idle;
        uint64_t from = program.now, before = program.hashing;
        for (unsigned i = 0; i < 20000; i++) {
            (void)copy(&program, sample, copying);
        }
        double spent = (double)(program.hashing - before);
        double share = 0.03 * (double)(program.now - from);
        cr_expect_leq(spent, share + (double)(saved[phase] * 330), "phase %u", phase);
        cr_expect_geq(spent, 0.85 * share, "phase %u", phase);
    }
}

Test(hash_budget, saves_up_for_what_is_larger_than_a_series)
{
    const uint64_t large = UINT64_C(1) << 30;
    struct program program = begun(0.03);
    unsigned hashed = 0;
    for (unsigned i = 0; i < 100000; i++) {
        (void)copy(&program, 4096, 1000000);
        hashed += i % 1000 == 0 && copy(&program, large, 100000000);
    }
    cr_expect_geq(hashed, 4, "%u", hashed);
}
