/* SPDX-License-Identifier: Apache-2.0 */
/* The stack that was read last at each place. */
#include <criterion/criterion.h>
#include <math.h>

#include "preload/overhead/overhead.h"
#include "preload/unwind/places.h"

/* Distances are of the clock's making otherwise: of 315 tries at four standard deviations one fails in 40 runs. */
static void same_distances(void)
{
    gmt_overhead_thread.random = 1;
}

TestSuite(places, .init = same_distances);

static struct gmt_place place(uint64_t caller, uint64_t kind, uint64_t thread)
{
    return (struct gmt_place){.caller = caller,
                              .frame = 0x7ffff000,
                              .outer = 0x7ffff100,
                              .kind = kind,
                              .thread_and_api = thread << 32 | 5};
}

/* All of its first calls are read, until one in `one_in` is. */
static void warm_up(const struct gmt_place *place, uint32_t stack, uint32_t one_in)
{
    uint32_t found;
    for (int i = 0; i < 10000; i++) {
        if (!gmt_places_take(place, &found)) {
            (void)gmt_places_put(place, stack, one_in);
        }
    }
    while (gmt_places_take(place, &found)) {
    }
}

Test(places, give_a_stack_to_so_many_calls)
{
    struct gmt_place here = place(1, 2, 3);
    uint32_t stack = 0;
    cr_expect_not(gmt_places_take(&here, &stack));
    warm_up(&here, 7, 64);
    for (int i = 0; i < 100; i++) {
        uint32_t calls = gmt_places_put(&here, 8, 64);
        cr_expect(calls >= 31 && calls <= 95, "%u", calls);
        for (uint32_t j = 0; j < calls; j++) {
            cr_expect(gmt_places_take(&here, &stack));
            cr_expect_eq(stack, 8);
        }
        cr_expect_not(gmt_places_take(&here, &stack), "the next one is to be read");
    }
}

Test(places, are_read_at_all_of_their_first_calls)
{
    struct gmt_place here = place(1, 2, 3);
    for (uint32_t i = 0; i < 8; i++) {
        cr_expect_eq(gmt_places_put(&here, 7, 64), 0, "call %u", i);
    }
}

Test(places, are_distinguished_by_all_that_is_known)
{
    struct gmt_place here = place(1, 2, 3), frame = here, outer = here, python = here;
    struct gmt_place others[] = {place(2, 2, 3), place(1, 3, 3), place(1, 2, 4)};
    uint32_t stack;
    warm_up(&here, 7, 64);
    (void)gmt_places_put(&here, 7, 64);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_expect_not(gmt_places_take(&others[i], &stack));
    }
    frame.frame += 16;
    outer.outer += 16;
    python.python += 2;
    cr_expect_not(gmt_places_take(&frame, &stack));
    cr_expect_not(gmt_places_take(&outer, &stack));
    cr_expect_not(gmt_places_take(&python, &stack));
    cr_expect(gmt_places_take(&here, &stack));
}

/* More of them than the table holds: what is found is the place's own. */
Test(places, never_give_the_stack_of_another)
{
    uint32_t stack, found = 0;
    for (uint32_t i = 1; i <= 20000; i++) {
        struct gmt_place each = place(i, 2, 3);
        for (int j = 0; j < 12; j++) { /* until one call takes it */
            (void)gmt_places_put(&each, i, 64);
        }
    }
    for (uint32_t i = 1; i <= 20000; i++) {
        struct gmt_place each = place(i, 2, 3);
        if (gmt_places_take(&each, &stack)) {
            cr_expect_eq(stack, i);
            found++;
        }
    }
    cr_expect_gt(found, 1000);
}

/* A step of a training loop has a thousand stacks. */
Test(places, keep_as_many_as_a_program_has_at_once)
{
    uint32_t stack, lost = 0;
    for (uint32_t i = 1; i <= 2000; i++) {
        struct gmt_place each = place(i, 2, 3);
        for (int j = 0; j < 40; j++) { /* until some calls take it */
            (void)gmt_places_put(&each, i, 64);
        }
    }
    for (uint32_t i = 1; i <= 2000; i++) {
        struct gmt_place each = place(i, 2, 3);
        lost += !gmt_places_take(&each, &stack);
    }
    cr_expect_lt(lost, 2000 / 50, "%u of 2000", lost);
}

/* Calls of so many lines, `turns` times in turns, as hooks make them. Returns how many were read. */
static uint32_t call_lines(uint32_t lines, uint32_t turns)
{
    uint32_t stack, read = 0;
    for (uint32_t i = 0; i < lines * turns; i++) {
        struct gmt_place each = place(1, 2, 3);
        each.python = gmt_places_have_python() ? 2 * (i % lines) + 1 : 0;
        if (!gmt_places_take(&each, &stack)) {
            (void)gmt_places_put(&each, 7, 64);
            read++;
        }
    }
    return read;
}

Test(places, are_of_lines_while_these_come_back)
{
    (void)call_lines(4000, 200);
    cr_expect(gmt_places_have_python(), "4000 lines, of which all were new at first");
    cr_expect_lt(call_lines(4000, 20), 4000 * 20 / 8);
}

/* A path of a recursion each: reading them all is what was to be avoided. */
Test(places, are_not_of_lines_that_do_not_come_back)
{
    (void)call_lines(100000, 10);
    cr_expect_lt(call_lines(1000000, 2), 2000000 / 20, "it is tried again at times only");
}

Test(places, are_of_lines_again_when_these_come_back)
{
    uint32_t calls = 0;
    (void)call_lines(100000, 1);
    cr_assert_not(gmt_places_have_python());
    for (; calls < 100000 && !gmt_places_have_python(); calls++) {
        (void)call_lines(20, 20);
    }
    (void)call_lines(20, 100000);
    cr_expect(gmt_places_have_python());
}

Test(places, forget_all_when_numbers_begin_anew)
{
    struct gmt_place here = place(1, 2, 3);
    uint32_t stack;
    warm_up(&here, 7, 64);
    (void)gmt_places_put(&here, 7, 64);
    gmt_places_reset();
    cr_expect_not(gmt_places_take(&here, &stack));
}

Test(places, take_no_stack_for_one)
{
    struct gmt_place here = place(1, 2, 3);
    uint32_t stack;
    warm_up(&here, 7, 64);
    cr_expect_eq(gmt_places_put(&here, 0, 64),
                 0); /* none was kept: the next call shall try again */
    cr_expect_not(gmt_places_take(&here, &stack));
}

/* Stacks of one place in an order that repeats, whatever its length: each gets its share. */
Test(places, give_each_stack_its_share)
{
    for (uint32_t period = 2; period <= 64; period++) {
        struct gmt_place here = place(1, period, 3);
        const uint32_t first_part = period / 2;
        uint32_t one_in[] = {2, 3, 8, 16, 64};
        for (size_t i = 0; i < sizeof(one_in) / sizeof(one_in[0]); i++) {
            const uint32_t calls = 200000;
            double first = 0, squares = 0;
            for (uint32_t call = 0; call < calls; call++) {
                uint32_t own = call % period < first_part ? 1 : 2, stack = own;
                if (!gmt_places_take(&here, &stack)) {
                    uint32_t taken_by = gmt_places_put(&here, own, one_in[i]);
                    squares += (double)taken_by * taken_by;
                }
                first += stack == 1;
            }
            /* What publish.c says, 95 %; three times that is missed by chance once in 10^6 runs of these 315 tries. */
            double half = 0.98 * sqrt(squares) / calls;
            cr_expect_float_eq(first / calls, (double)first_part / period, 3 * half + 1e-3,
                               "period %u, one in %u: %g +-%g", period, one_in[i], first / calls,
                               half);
        }
    }
}

/* Places that live for 64 calls, and begin where the program says: what comes first has little more than its share: if
 * only one call in 64 were read from the first on, it would have all. */
Test(places, prefer_no_stack_that_comes_first)
{
    double first = 0;
    uint32_t taken = 0, calls = 64 * 3000;
    for (uint32_t call = 0; call < calls; call++) {
        struct gmt_place here = place(1, call / 64, 3);
        uint32_t own = call % 4 == 3 ? 2 : 1, stack = own;
        if (gmt_places_take(&here, &stack)) {
            taken++;
        } else {
            (void)gmt_places_put(&here, own, 64);
        }
        first += stack == 1;
    }
    cr_expect_float_eq(first / calls, 0.75, 0.03, "%g", first / calls);
    cr_expect_gt(taken, calls / 3);
}
