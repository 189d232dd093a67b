/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps of a program are slow: planted ones, and none in programs that are steady. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/settings/dump_on.h"
#include "libtrace/store/live/launch_pattern.h"
#include "libtrace/store/live/step_watch.h"
#include "libtrace/store/live/step_window.h"
#include "libtrace/store/recording/ring_causes.h"

enum { US = 1000, MS = 1000000 };

static uint64_t seed;

static void setup(void)
{
    seed = 12345;
}

TestSuite(steps, .init = setup, .timeout = 60);

/* From 0 to 1, neither of both. */
static double draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(draw())) * cos(2 * 3.14159265358979 * draw());
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Against sorting, with values that come again, at each step. */
Test(steps, quantiles_are_those_of_the_last_steps)
{
    static struct gmt_step_window window;
    static uint64_t all[5000], last[GMT_STEP_WINDOW];
    cr_expect_eq(gmt_step_window_quantile(&window, 99), 0);
    for (size_t i = 0; i < 5000; i++) {
        all[i] = (uint64_t)(draw() * 300);
        (void)gmt_step_window_add(&window, all[i]);
        size_t count = i + 1 < GMT_STEP_WINDOW ? i + 1 : GMT_STEP_WINDOW;
        if (i % 7 != 0) {
            continue;
        }
        memcpy(last, &all[i + 1 - count], count * sizeof(last[0]));
        qsort(last, count, sizeof(last[0]), by_value);
        for (unsigned percent = 1; percent <= 100; percent += 49) {
            size_t rank = (size_t)ceil((double)percent * (double)count / 100 - 1e-9);
            cr_assert_eq(gmt_step_window_quantile(&window, percent), last[rank - 1]);
        }
        cr_assert_eq(gmt_step_window_quantile(&window, 99),
                     last[(size_t)ceil(0.99 * (double)count - 1e-9) - 1]);
    }
}

/* How many of so many steps are slow, by a jitter of 0 to 1 and its scale. */
static unsigned slow_of(unsigned steps, double (*jitter)(void), double scale_ns)
{
    struct gmt_step_window *window = calloc(1, sizeof(*window));
    unsigned slow = 0;
    for (unsigned i = 0; i < steps; i++) {
        double ns = 20 * MS + scale_ns * jitter();
        slow += gmt_step_window_add(window, (uint64_t)(ns > 0 ? ns : 0));
    }
    free(window);
    return slow;
}

static double exponential(void)
{
    return -log(draw());
}

static double steady(void)
{
    return 0;
}

/* The rates that step_window.h states. */
Test(steps, programs_that_are_steady)
{
    cr_expect_eq(slow_of(300000, steady, 0), 0);
    cr_expect_eq(slow_of(300000, draw, 10 * MS), 0, "evenly distributed");
    cr_expect_eq(slow_of(300000, draw, 10), 0, "ns: no step of a program is slow by 0.1 ms");
    unsigned bell = slow_of(1000000, normal, 3 * MS);
    cr_expect_leq(bell, 10, "%u of a million that are normally distributed", bell);
    unsigned tail = slow_of(300000, exponential, 3 * MS);
    cr_expect_leq(tail, 120, "%u of 300,000 with exponential jitter, more than 4 of 10,000", tail);
    cr_expect_geq(tail, 20, "%u: so strict that nothing is slow", tail);
}

Test(steps, none_before_the_warm_up)
{
    static struct gmt_step_window window;
    for (unsigned i = 0; i < GMT_STEP_WARM_UP; i++) {
        cr_expect_not(gmt_step_window_add(&window, i == 50 ? 1000 * MS : 20 * MS));
    }
    cr_expect(gmt_step_window_add(&window, 1000 * MS), "one of the first hundred is no p99");
}

/* A program that becomes slower for good: some steps, and then that is how long they take. */
Test(steps, a_change_for_good_is_learnt)
{
    static struct gmt_step_window window;
    unsigned slow = 0;
    for (unsigned i = 0; i < 3000; i++) {
        slow += gmt_step_window_add(&window, (uint64_t)((i < 1000 ? 20 : 40) * MS + draw() * MS));
    }
    cr_expect_geq(slow, 5);
    cr_expect_leq(slow, 15, "%u", slow);
}

/* ---- from records ----------------------------------------------------------------------------- */

static struct gmt_timebase timebase;
static char cause[128];

static bool look(struct gmt_step_watch *watch, enum gmt_rec_type type, const void *fixed,
                 size_t bytes, const char *texts, size_t texts_bytes)
{
    uint8_t slots[16 * GMT_SLOT_BYTES] = {0};
    memcpy(slots, fixed, bytes);
    memcpy(slots + bytes, texts, texts_bytes);
    return gmt_step_watch_record(
        watch, &timebase,
        &(struct gmt_spool_record){
            .data = slots,
            .type = type,
            .slots = (unsigned)((bytes + texts_bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES)},
        cause);
}

/* name, domain: as one text with a NUL in between. */
static bool range(struct gmt_step_watch *watch, uint32_t id, uint16_t depth, uint64_t begin_ns,
                  uint64_t end_ns, const char *name, const char *domain)
{
    char texts[128] = "";
    size_t length = strlen(name) + 1;
    const struct gmt_user_range record = {.id = id,
                                          .depth = depth,
                                          .kind = GMT_RANGE_PUSH,
                                          .begin_ticks = begin_ns,
                                          .end_ticks = end_ns};
    memcpy(texts, name, length);
    memcpy(texts + length, domain, strlen(domain) + 1);
    return look(watch, GMT_REC_RANGE, &record, sizeof(record), texts, length + strlen(domain) + 1);
}

static bool launch(struct gmt_step_watch *watch, uint32_t thread, uint32_t kernel, uint64_t ns)
{
    const struct {
        struct gmt_call call;
        struct gmt_launch launch;
    } record = {.call = {.thread = thread, .begin_ticks = ns, .end_ticks = ns + US},
                .launch = {.kernel = kernel, .kind = GMT_LAUNCH_KERNEL, .grid = {1, 1, 1}}};
    return look(watch, GMT_REC_LAUNCH, &record, sizeof(record), "", 1);
}

/* Of each kind of record that a range has; planted slow steps are found, and no other. */
Test(steps, ranges_that_are_slow)
{
    enum { STEPS = 3000 };
    struct gmt_step_watch *watch = gmt_step_watch_open("");
    uint64_t ns = MS;
    unsigned found = 0, planted = 0;
    gmt_timebase_init(&timebase, true);
    for (uint32_t i = 1; i <= STEPS; i++) {
        bool is_planted = i > 500 && i % 250 == 0;
        uint64_t step_ns = (uint64_t)(10 * MS + draw() * MS) + (is_planted ? 15 * MS : 0);
        bool was_open = i % 2 == 0; /* a call was recorded inside */
        if (was_open) {
            cr_expect_not(range(watch, i, 0, ns, 0, "step", ""));
        }
        /* Deeper ones, of which one takes long each time: they are no steps. */
        cr_expect_not(
            range(watch, 100000 + i, 1, ns, ns + (i % 97 == 0 ? 9 * MS : US), "part", ""));
        bool is_slow = range(watch, i, 0, ns, ns + step_ns, was_open ? "" : "step", "");
        cr_expect_eq(is_slow, is_planted, "step %u", i);
        found += is_slow;
        planted += is_planted;
        ns += step_ns + MS;
    }
    cr_expect_eq(found, planted);
    cr_expect_gt(planted, 8);
    cr_expect_eq(gmt_step_watch_steps(watch)->count, STEPS);
    cr_expect_eq(gmt_step_watch_steps(watch)->slow, planted);
    cr_expect(strncmp(cause, "slow step: step took 25", 23) == 0, "%s", cause);
    gmt_step_watch_close(watch);
}

Test(steps, the_range_that_was_named)
{
    struct gmt_step_watch *watch = gmt_step_watch_open("train@model");
    gmt_timebase_init(&timebase, true);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t ns = (uint64_t)i * 100 * MS + MS;
        uint64_t long_ns = i % 50 == 49 ? 60 * MS : 10 * MS;
        cr_expect_not(range(watch, 3 * i + 1, 0, ns, ns + long_ns, "train", "other"));
        cr_expect_not(range(watch, 3 * i + 2, 0, ns, ns + long_ns, "load", "model"));
        bool is_slow = range(watch, 3 * i + 3, 3, ns, ns + (i == 200 ? 60u : 10u) * MS, "train",
                             "model");
        cr_expect_eq(is_slow, i == 200);
        cr_expect_not(launch(watch, 1, 1, ns));
    }
    cr_expect_eq(gmt_step_watch_steps(watch)->count, 300);
    gmt_step_watch_close(watch);
}

/* What gmtrace.torch names: several are the outermost of a step, and none of them is one. */
Test(steps, ranges_of_libraries_are_none)
{
    static const char *const domains[] = {"NCCL", "CCCL", "torch"};
    for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
        struct gmt_step_watch *watch = gmt_step_watch_open("");
        gmt_timebase_init(&timebase, true);
        for (uint32_t k = 1; k <= 300; k++) {
            uint64_t ns = k * 10 * MS;
            cr_expect_not(
                range(watch, k, 0, ns, ns + (k == 200 ? 9u : 1u) * MS, "Net", domains[i]));
        }
        cr_expect_eq(gmt_step_watch_steps(watch)->count, 0, "%s", domains[i]);
        gmt_step_watch_close(watch);
    }
}

/* Two kernels and a loop of a third per step, and one that comes at odd times: the step is found without a name. Another
 * thread makes one launch after the other, each of which is a step. */
Test(steps, launches_that_form_a_pattern)
{
    struct gmt_step_watch *watch = gmt_step_watch_open("");
    uint64_t ns = MS;
    unsigned found = 0, found_beside = 0, planted = 0;
    gmt_timebase_init(&timebase, true);
    for (unsigned step = 0; step < 2000; step++) {
        bool is_planted = step > 1000 && step % 200 == 0;
        for (unsigned i = 0; i < 12; i++) {
            bool is_slow = launch(watch, 7, i == 0 ? 1 : i == 11 ? 2 : 3, ns);
            cr_expect_eq(is_slow, i == 0 && step > 1001 && step % 200 == 1, "step %u, launch %u",
                         step, i);
            found += is_slow;
            found_beside += launch(watch, 8, 5, ns);
            ns += 400 * US + (uint64_t)(draw() * 20 * US) + (is_planted && i == 5 ? 8 * MS : 0);
        }
        planted += is_planted;
        if (draw() < 0.02) {
            cr_expect_not(launch(watch, 7, 4, ns));
        }
    }
    cr_expect_gt(planted, 3);
    cr_expect_eq(found, planted);
    cr_expect_eq(found_beside, planted);
    cr_expect_str_eq(gmt_step_watch_steps(watch)->name, "launch pattern");
    gmt_step_watch_close(watch);
}

/* The period is that of what comes once per step, whatever that is. */
Test(steps, the_rarest_launch_begins_the_step)
{
    struct gmt_launch_pattern pattern = {0};
    uint64_t step_ns = 0, ns = 0, found = 0;
    for (unsigned step = 0; step < 600; step++) {
        for (unsigned i = 0; i < 10; i++) {
            ns += MS;
            if (gmt_launch_pattern_add(&pattern, i == 3 ? 77 : 1 + i % 2, ns, &step_ns)) {
                cr_expect_eq(step_ns, 10 * MS);
                found++;
            }
        }
    }
    cr_expect_eq(pattern.anchor, 77);
    cr_expect_gt(found, 300);
    /* Then the program does something else, which is learnt anew. */
    for (unsigned i = 0; i < 6000; i++) {
        ns += MS;
        (void)gmt_launch_pattern_add(&pattern, 100 + i % 5, ns, &step_ns);
    }
    cr_expect_eq(pattern.distance, 5);
    cr_expect_eq(step_ns, 5 * MS);
    gmt_launch_pattern_free(&pattern);
}

Test(steps, launches_without_a_pattern)
{
    struct gmt_launch_pattern pattern = {0};
    uint64_t step_ns = 0;
    for (unsigned i = 0; i < 50000; i++) {
        cr_expect_not(gmt_launch_pattern_add(&pattern, 1 + (uint64_t)(draw() * 50), i, &step_ns));
    }
    cr_expect_leq(pattern.capacity, GMT_PATTERN_MOST);
    gmt_launch_pattern_free(&pattern);
}

/* Nothing in a record is trusted: names without end, ends without begin, more names and open ranges than there is room for. */
Test(steps, damaged_records)
{
    struct gmt_step_watch *watch = gmt_step_watch_open("");
    gmt_timebase_init(&timebase, true);
    for (unsigned i = 0; i < 300000; i++) {
        uint64_t slots[4 * GMT_SLOT_BYTES / 8];
        for (size_t j = 0; j < sizeof(slots) / sizeof(slots[0]); j++) {
            (void)draw();
            slots[j] = i % 3 == 0 ? seed : seed | UINT64_C(0x4141414141414141);
        }
        struct gmt_spool_record record = {.data = slots,
                                          .type = i % 2 == 0 ? GMT_REC_RANGE : GMT_REC_LAUNCH,
                                          .slots = 1 + (unsigned)(draw() * 4)};
        struct gmt_user_range *head = (void *)slots;
        head->kind = GMT_RANGE_START;
        head->end_ticks = i % 5 == 0 ? 0 : head->end_ticks;
        (void)gmt_step_watch_record(watch, &timebase, &record, cause);
    }
    gmt_step_watch_close(watch);
}

/* ---- what comes of a slow step ---------------------------------------------------------------- */

Test(steps, dumps_that_they_may_have)
{
    const uint64_t second = UINT64_C(1000000000), hour = 3600 * second;
    struct gmt_ring_budget budget = {0};
    uint64_t now = 5 * second;
    cr_expect(gmt_ring_budget_take(&budget, now, 30 * second));
    cr_expect_not(gmt_ring_budget_take(&budget, now + 29 * second, 30 * second), "one per window");
    for (int i = 1; i < 10; i++) {
        now += 30 * second;
        cr_expect(gmt_ring_budget_take(&budget, now, 30 * second), "%d", i);
    }
    cr_expect_not(gmt_ring_budget_take(&budget, now + 60 * second, 30 * second), "ten at once");
    cr_expect(gmt_ring_budget_take(&budget, 5 * second + hour, 30 * second), "one comes back");
    cr_expect_not(gmt_ring_budget_take(&budget, 6 * second + hour + 30 * second, 30 * second));
    unsigned taken = 0;
    for (uint64_t at = 2 * hour; at < 100 * hour; at += 30 * second) {
        taken += gmt_ring_budget_take(&budget, at, 30 * second);
    }
    cr_expect_geq(taken, 97);
    cr_expect_leq(taken, 99, "%u in 98 hours", taken);
}

Test(steps, values_of_the_option)
{
    char step[GMT_SETTINGS_STEP_BYTES], text[400] = "slow-step=";
    cr_expect_eq(gmt_dump_on_read("slow-step", step), 0);
    cr_expect_str_eq(step, "");
    cr_expect_eq(gmt_dump_on_read("slow-step=train step@model", step), 0);
    cr_expect_str_eq(step, "train step@model");
    cr_expect_eq(gmt_dump_on_read("slow-step=", step), -EINVAL);
    cr_expect_eq(gmt_dump_on_read("slow-steps", step), -EINVAL);
    cr_expect_eq(gmt_dump_on_read("", step), -EINVAL);
    memset(text + 10, 'x', 300);
    cr_expect_eq(gmt_dump_on_read(text, step), -ENAMETOOLONG);
}
