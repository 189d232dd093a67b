/* SPDX-License-Identifier: Apache-2.0 */
/* The table of walked stacks: what it recognizes, what it does not take for the same, how many it holds. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "preload/unwind/chains.h"

#define STACK_WORDS 32u
/* In its first frame: what the frame pointer's register held, and the return address. */
enum { SAVED_BP, RETURN, CALLER = 9, OUTER = 20 };

static uint64_t stack[STACK_WORDS];

/* A walk over `stack` that follows from its words CALLER and OUTER. */
static struct gmt_walk walked(void)
{
    struct gmt_walk walk = {
        .low = (uintptr_t)stack, .high = (uintptr_t)(stack + STACK_WORDS), .frame = stack};
    const unsigned from[] = {CALLER, OUTER};
    for (unsigned i = 0; i < 2; i++) {
        walk.word[i].address = (uintptr_t)&stack[from[i]];
        walk.word[i].value = stack[from[i]];
    }
    walk.words = 2;
    return walk;
}

static void set_up(void)
{
    for (unsigned i = 0; i < STACK_WORDS; i++) {
        stack[i] = 0x400000 + i;
    }
}
TestSuite(chains, .init = set_up);

Test(chains, every_word_that_a_walk_follows_from_counts)
{
    struct gmt_walk walk = walked();
    gmt_chains_put(&walk, 7);
    cr_assert_eq(gmt_chains_find(&walk), 7);
    for (unsigned i = RETURN; i < STACK_WORDS; i++) {
        uint64_t before = stack[i];
        bool matters = i == RETURN || i == CALLER || i == OUTER;
        for (unsigned bit = 0; bit < 64; bit++) {
            stack[i] = before ^ UINT64_C(1) << bit;
            cr_assert_eq(gmt_chains_find(&walk), matters ? 0 : 7, "word %u, bit %u", i, bit);
        }
        stack[i] = before;
    }
    uint64_t caller = stack[CALLER];
    stack[CALLER] = stack[OUTER];
    stack[OUTER] = caller;
    cr_assert_eq(gmt_chains_find(&walk), 0, "two words have changed places");
}

/* Code without frame pointers has anything in the register: it counts only where a walk made use of it. */
Test(chains, the_frame_pointers_register_counts_where_it_is_used)
{
    struct gmt_walk walk = walked();
    gmt_chains_put(&walk, 1);
    stack[SAVED_BP]++;
    cr_assert_eq(gmt_chains_find(&walk), 1);
    walk.mark++; /* another stack */
    walk.word[2].address = (uintptr_t)&stack[SAVED_BP];
    walk.word[2].value = stack[SAVED_BP];
    walk.words = 3;
    gmt_chains_put(&walk, 2);
    cr_assert_eq(gmt_chains_find(&walk), 2);
    stack[SAVED_BP]++;
    cr_assert_eq(gmt_chains_find(&walk), 0);
}

/* As the lines of a loop in Python, which have all their native frames in common. */
Test(chains, a_step_with_two_thousand_stacks_is_recognized)
{
    enum { STACKS = 2000 };
    unsigned known = 0;
    for (uint32_t i = 1; i <= STACKS; i++) {
        struct gmt_walk walk = walked();
        walk.salt = i * UINT64_C(0xd1342543de82ef95);
        gmt_chains_put(&walk, i);
    }
    for (uint32_t i = 1; i <= STACKS; i++) {
        struct gmt_walk walk = walked();
        walk.salt = i * UINT64_C(0xd1342543de82ef95);
        uint32_t number = gmt_chains_find(&walk);
        cr_assert(number == i || number == 0, "%u is taken for %u", i, number);
        known += number == i;
    }
    cr_assert_geq(known, STACKS * 80 / 100, "%u of %u", known, (unsigned)STACKS);
}

/* How many of `count` stacks that begin alike are recognized, of many turns; `alike` have one hint. */
static unsigned known_in_turn(uint32_t count, uint32_t alike)
{
    enum { TURNS = 100 };
    unsigned known = 0;
    for (unsigned turn = 0; turn <= TURNS; turn++) {
        for (uint32_t i = 0; i < count; i++) {
            stack[CALLER] = 0x500000 + i;
            struct gmt_walk walk = walked();
            walk.hint = i / alike;
            uint32_t number = gmt_chains_find(&walk);
            cr_assert(number == i + 1 || number == 0, "%u is taken for %u", i + 1, number);
            if (number == 0) {
                gmt_chains_put(&walk, i + 1);
            }
            known += number != 0 && turn > 0;
        }
    }
    return known * 100 / (count * TURNS);
}

/* As kernels that are launched by one function of the runtime, from lines at one depth. Where the stack lies decides which sets
 * they get: two hints of eight may have one. */
Test(chains, calls_that_begin_alike_do_not_drive_each_other_out)
{
    cr_assert_eq(known_in_turn(4, 4), 100);
    gmt_chains_reset();
    cr_assert_geq(known_in_turn(32, 4), 50);
}

/* More than a set has room for, in turn: some are recognized all the same. */
Test(chains, a_few_too_many_are_not_all_walked)
{
    unsigned known = known_in_turn(6, 6);
    cr_assert_gt(known, 20, "%u %%", known);
}

/* An offset has 16 bits. */
Test(chains, words_that_lie_too_far_out_are_left_to_a_walk)
{
    const size_t words = UINT16_MAX + 3;
    uint64_t *large = calloc(words, sizeof(*large));
    cr_assert_not_null(large);
    for (size_t last = UINT16_MAX; last <= UINT16_MAX + 1u; last++) {
        struct gmt_walk walk = {.low = (uintptr_t)large,
                                .high = (uintptr_t)(large + words),
                                .frame = large,
                                .mark = last,
                                .words = 1};
        walk.word[0].address = (uintptr_t)&large[last];
        gmt_chains_put(&walk, 3);
        cr_assert_eq(gmt_chains_find(&walk), last <= UINT16_MAX ? 3 : 0);
    }
    free(large);
}

/* Words are hashed by pairs: what a longer stack left behind the last one does not count. */
Test(chains, a_shorter_stack_in_place_of_a_longer_one)
{
    for (uint32_t number = 1; number <= 8;
         number++) { /* the last four take the places of the first */
        bool is_long = number <= 4;
        struct gmt_walk walk = walked();
        walk.mark = number;
        walk.words = is_long ? 2 : 1;
        walk.word[1].address = (uintptr_t)&stack[SAVED_BP];
        gmt_chains_put(&walk, number);
        stack[SAVED_BP]++;
        cr_assert_eq(gmt_chains_find(&walk), is_long ? 0 : number);
    }
}

Test(chains, nothing_is_known_after_a_reset)
{
    struct gmt_walk walk = walked();
    gmt_chains_put(&walk, 7);
    gmt_chains_reset();
    cr_assert_eq(gmt_chains_find(&walk), 0);
}
