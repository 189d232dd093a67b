/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What share of the GPU time of classes with at least 1 % of it is complete at the end of generated runs: families of programs,
 * each in many sizes and with many lengths of kernels, in the order in which they launch (sampling_process.h). No single run says
 * much: which kernels come first decides. Each family prints its row (ctest -R unit.sampling_families -V).
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "sampling_process.h"

#define RUNS 50u /* of a family in each of four conditions */

/* ---- numbers --------------------------------------------------------------------------------------- */

static uint64_t random_state;

/* Of [0, 1). */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

/* Between the two, evenly by order of magnitude. */
static double between(double least, double most)
{
    return least * pow(most / least, uniform());
}

static unsigned whole(double least, double most)
{
    return (unsigned)between(least, most + 0.999);
}

/* ---- launches -------------------------------------------------------------------------------------- */

struct span {
    unsigned first, end; /* classes */
};

static unsigned used;

/* So many classes more, with kernels between the two times. */
static struct span kernels(unsigned count, double least_us, double most_us)
{
    struct span made = {used, used + count < CLASSES ? used + count : CLASSES};
    for (used = made.first; used < made.end; used++) {
        kernel_ns[used] = (uint64_t)(1000 * between(least_us, most_us));
    }
    return made;
}

static void steps(struct span of, unsigned count)
{
    for (unsigned step = 0; step < count; step++) {
        for (unsigned i = of.first; i < of.end; i++) {
            launch(i);
        }
    }
}

/* Each `least` to `most` times, with pauses now and then. */
static void tried(struct span of, unsigned least, unsigned most)
{
    for (unsigned i = of.first; i < of.end; i++) {
        for (unsigned times = whole(least, most); times > 0; times--) {
            launch(i);
        }
        if (uniform() < 0.1) {
            wait_ms(whole(1, 100));
        }
    }
}

/* ---- families -------------------------------------------------------------------------------------- */

static void loop(void)
{
    steps(kernels(whole(5, 200), 2, 2000), whole(30, 500));
}

static void loop_behind_trials(void)
{
    tried(kernels(whole(20, 400), 5, 500), 1, 3);
    steps(kernels(whole(3, 60), 20, 20000), whole(10, 300));
}

/* XLA compiles between the kernels that it tries. */
static void loop_behind_autotuning(void)
{
    for (unsigned burst = whole(2, 8); burst > 0; burst--) {
        wait_ms(whole(200, 2000));
        tried(kernels(whole(10, 60), 10, 1000), 2, 2);
    }
    wait_ms(whole(100, 1000));
    steps(kernels(whole(10, 80), 5, 5000), whole(20, 300));
}

static void few_long_behind_trials(void)
{
    tried(kernels(whole(100, 500), 5, 200), 1, 2);
    steps(kernels(whole(1, 5), 2000, 100000), whole(2, 20));
}

static void once(void)
{
    steps(kernels(whole(3, 60), 20, 20000), 1);
}

static void once_short(void)
{
    steps(kernels(whole(3, 60), 5, 500), 1);
}

static void once_many(void)
{
    steps(kernels(whole(60, 600), 5, 5000), 1);
}

/* Memory is filled, and tables are made, before the work. */
static void once_behind_short(void)
{
    steps(kernels(whole(5, 40), 1, 4), 1);
    steps(kernels(whole(3, 20), 200, 20000), 1);
}

static void phases(void)
{
    for (unsigned phase = whole(2, 6); phase > 0; phase--) {
        steps(kernels(whole(2, 40), 5, 5000), whole(5, 200));
        wait_ms(whole(1, 300));
    }
}

/* More and more of them, as sizes of input come. */
static void shapes(void)
{
    struct span all = kernels(whole(50, 400), 10, 2000);
    unsigned launches = whole(200, 3000), count = all.end - all.first;
    for (unsigned i = 0; i < launches; i++) {
        double known = 1 + (double)count * i / launches;
        unsigned number = all.first + (unsigned)(uniform() * known);
        launch(number < all.end ? number : all.end - 1);
    }
}

static void long_ones_late(void)
{
    struct span usual = kernels(whole(10, 60), 5, 300);
    steps(usual, whole(20, 200));
    tried(kernels(whole(1, 4), 5000, 400000), 1, 5);
    steps(usual, whole(1, 20));
}

/* Of a language model: the prompt, then tokens. */
static void decoding(void)
{
    steps(kernels(whole(20, 60), 50, 5000), 1);
    steps(kernels(whole(30, 140), 2, 60), whole(30, 500));
}

/* As decoding, with some kernels of their own for each token: their code is made for one length. */
static void decoding_by_length(void)
{
    steps(kernels(whole(20, 60), 50, 5000), 1);
    struct span usual = kernels(whole(15, 60), 2, 60);
    for (unsigned token = whole(30, 500); token > 0; token--) {
        for (unsigned layer = 0; layer < 12; layer++) {
            steps(usual, 1);
        }
        steps(kernels(1, 2, 60), 12);
    }
}

/* Forward, backward and optimizer: kernels are launched once or some times in a step. */
static void training(void)
{
    struct span all = kernels(whole(60, 300), 3, 600);
    unsigned times[CLASSES];
    for (unsigned i = all.first; i < all.end; i++) {
        times[i] = whole(1, 12);
    }
    for (unsigned step = whole(10, 100); step > 0; step--) {
        for (unsigned i = all.first; i < all.end; i++) {
            steps((struct span){i, i + 1}, times[i]);
        }
        clock_ns += step % 8 == 0 ? 5 * MS : 0;
    }
}

/* ---- what becomes of them ---------------------------------------------------------------------------- */

static double longest_ms(void)
{
    uint64_t longest_ns = 0;
    for (unsigned i = 0; i < used; i++) {
        longest_ns = kernel_ns[i] > longest_ns ? kernel_ns[i] : longest_ns;
    }
    return (double)longest_ns / (double)MS;
}

/* Mean over all runs, in percent. What is spent beyond the budget is what a launch takes longer than was expected. */
static double share_of(const char *name, void (*family)(void))
{
    double share = 0, of_all = 0, spent_ms = 0, over_ms = 0, lengthy_ms = 0;
    for (unsigned run = 0; run < 4 * RUNS; run++) {
        random_state = UINT64_C(88172645463325252) + run * UINT64_C(2654435761);
        for (unsigned i = 0; i < 10; i++) {
            (void)uniform();
        }
        used = 0;
        begin(run % 2 == 0, run / 2 % 2 == 0 ? 400 * US : 6 * MS);
        counted_times = (uint64_t)between(20, 120);
        hooks = between(0.003, 0.05); /* 0.1 to 5.3 % in programs of frameworks */
        family();
        share += complete_of(0.01) / (4 * RUNS);
        of_all += complete_of(0) / (4 * RUNS);
        spent_ms += (double)own_ns / (double)MS / (4 * RUNS);
        double beyond_ms = (double)most_over_ns / (double)MS;
        over_ms = beyond_ms > over_ms ? beyond_ms : over_ms;
        cr_expect_leq(beyond_ms, 120 + longest_ms(), "%s, run %u", name, run);
        lengthy_ms = longest_ms() > lengthy_ms ? longest_ms() : lengthy_ms;
    }
    clock_ns = 0;
    printf("%-24s %5.1f %% complete, of all classes %5.1f %%, %5.0f ms spent, at most %3.0f beyond "
           "the budget, kernels up to %3.0f ms\n",
           name, share, of_all, spent_ms, over_ms, lengthy_ms);
    (void)fflush(stdout);
    return share;
}

#define FAMILY(name, least) \
    Test(sampling_families, name, .timeout = 60) \
    { \
        cr_expect_geq(share_of(#name, name), least); \
    }
FAMILY(loop, 87.5)
FAMILY(loop_behind_trials, 46)
FAMILY(loop_behind_autotuning, 61)
FAMILY(few_long_behind_trials, 25)
FAMILY(once, 23)
FAMILY(once_short, 48)
FAMILY(once_many, 4.2)
FAMILY(once_behind_short, 27)
FAMILY(phases, 65.5)
FAMILY(shapes, 68)
FAMILY(long_ones_late, 42)
FAMILY(decoding, 70)
FAMILY(decoding_by_length, 97.5)
FAMILY(training, 93)
