/* SPDX-License-Identifier: Apache-2.0 */
/* Time in collectives by its cause, matched by communicator and number, on fleets whose times are written down here. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/waits.h"

enum { RANKS = 8, STEPS = 40, WORLD = 100, US = 1000, MS = 1000000 };

static struct gmt_fleet_rank ranks[RANKS];
static struct gmt_fleet_collective collectives[RANKS][3 * STEPS];
static struct gmt_fleet fleet = {.ranks = ranks, .count = RANKS};
static struct gmt_fleet_clocks clocks;
static struct gmt_fleet_waits waits;
static struct gmt_arena arena;
static int64_t skew_ns[RANKS];

static void add(size_t rank, uint64_t communicator, uint32_t members, int64_t number,
                enum gmt_fleet_operation operation, uint64_t bytes, int64_t begin_ns,
                int64_t end_ns)
{
    struct gmt_fleet_rank *of = &ranks[rank];

    collectives[rank][of->collective_count++] = (struct gmt_fleet_collective){
        .key = communicator * 31 + bytes,
        .position = number,
        .begin_ns = begin_ns + skew_ns[rank],
        .end_ns = end_ns + skew_ns[rank],
        .communicator = communicator,
        .bytes = bytes,
        .ranks = members,
        .operation = operation};
}

/*
 * Each step reduces over all ranks, for which rank 5 comes 3 ms after the last but one, and gathers over each half, whose
 * communicators have numbers of their own. Transfers take 1 ms and 0.5 ms.
 */
static void make(void)
{
    static const char *const hosts[] = {"a", "b"};

    for (size_t r = 0; r < RANKS; r++) {
        ranks[r] = (struct gmt_fleet_rank){
            .host = hosts[r / 4], .has_wall_clock = true, .collectives = collectives[r]};
        for (int step = 0; step < STEPS; step++) {
            int64_t at = INT64_C(1700000000000000000) + step * INT64_C(20) * MS;
            int64_t own = at + (r == 5 ? 4 * MS : (int64_t)r * 100 * US);

            if (r == 7) {
                own = at + MS; /* the last but one */
            }
            add(r, WORLD, RANKS, step + 1, GMT_FLEET_OPERATION_ALL_REDUCE, 4000000, own,
                at + 5 * MS);
            add(r, WORLD + 1 + r / 4, RANKS / 2, step + 1, GMT_FLEET_OPERATION_ALL_GATHER, 1000000,
                at + 6 * MS, at + 6 * MS + MS / 2);
        }
    }
}

static void compare(void)
{
    cr_assert_eq(gmt_fleet_clocks_fill(&clocks, &fleet, 0.001, &arena), 0);
    cr_assert_eq(gmt_fleet_waits_fill(&waits, &fleet, &clocks, &arena), 0);
}

static void drop(void)
{
    gmt_arena_free(&arena);
}

static void expect_times(void)
{
    cr_assert_eq(waits.traffic_count, 2);
    const struct gmt_fleet_traffic *reduce = &waits.traffic[0], *gather = &waits.traffic[1];
    cr_expect_eq(reduce->operation, GMT_FLEET_OPERATION_ALL_REDUCE);
    cr_expect_eq(reduce->ranks, 8);
    cr_expect_eq(reduce->count, STEPS);
    cr_expect_float_eq(reduce->transfer_ns, MS, 1);
    /* 4 ms less what each came late: 0 to 4, 6 x 0.1 ms, 1 ms, and 0 for the last. */
    cr_expect_float_eq(reduce->late_ns, (7 * 4 - 0.1 * (0 + 1 + 2 + 3 + 4 + 6) - 1) / 8 * MS, 1);
    /* 4 MB in 1 ms, 2 x 7/8 times. */
    cr_expect_float_eq(reduce->bytes_per_s, 7e9, 1e4);
    cr_expect_eq(gather->operation, GMT_FLEET_OPERATION_ALL_GATHER);
    cr_expect_eq(gather->ranks, 4);
    cr_expect_eq(gather->communicators, 2);
    cr_expect_eq(gather->count, 2 * STEPS);
    cr_expect_float_eq(gather->late_ns, 0, 1);
    /* 4 x 1 MB in 0.5 ms, 3/4 of it. */
    cr_expect_float_eq(gather->bytes_per_s, 6e9, 1e4);
    cr_expect_eq(waits.ranks[5].last, STEPS);
    cr_expect_float_eq(waits.ranks[5].made_ns, STEPS * 3.0 * MS, STEPS);
    cr_expect_float_eq(waits.ranks[0].late_ns, STEPS * 4.0 * MS, STEPS);
}

Test(fleet_waits, late_peers_and_transfers_are_distinguished, .fini = drop)
{
    make();
    compare();
    cr_expect_eq(waits.communicators, 3);
    cr_expect_eq(waits.matched, 3 * STEPS);
    cr_expect_eq(waits.incomplete + waits.ambiguous, 0);
    expect_times();
}

/* A clock that is off by 5 ms would make the first the last. Equal distances between steps make no other count as good: they are
 * counted from the first of their communicator. */
Test(fleet_waits, clocks_are_corrected_first, .fini = drop)
{
    skew_ns[2] = 5 * MS;
    for (size_t r = 4; r < RANKS; r++) {
        skew_ns[r] = -2 * MS;
    }
    make();
    compare();
    cr_expect_eq(clocks.ranks[2].confidence, GMT_FLEET_GOOD);
    cr_expect(clocks.ranks[2].odd);
    cr_expect_float_eq(clocks.ranks[2].offset_ns - clocks.ranks[0].offset_ns, -5.0 * MS, 1);
    cr_expect_float_eq(clocks.ranks[6].offset_ns - clocks.ranks[0].offset_ns, 2.0 * MS, 1);
    cr_expect_eq(waits.matched, 3 * STEPS);
    expect_times();
}

Test(fleet_waits, what_is_not_of_all_ranks_or_not_the_same_is_left_out, .fini = drop)
{
    make();
    /* Rank 3 was killed: it lacks its last two of each. Rank 6 says another size of one. */
    ranks[3].collective_count -= 4;
    collectives[6][0].bytes++;
    compare();
    cr_expect_eq(waits.incomplete, 4);
    cr_expect_eq(waits.ambiguous, 1);
    cr_expect_eq(waits.matched, 3 * STEPS - 5);
    cr_expect_eq(waits.ranks[5].last, STEPS - 3);
}

/* Of a message that goes one way the last rank may find all in its buffers: only where the ranks come together does the time from
 * there on bound a link. */
Test(fleet_waits, a_late_receiver_makes_no_bandwidth, .fini = drop)
{
    for (int together = 0; together < 2; together++) {
        make();
        for (size_t r = 0; r < RANKS; r++) {
            for (size_t i = 0; i < ranks[r].collective_count; i++) {
                struct gmt_fleet_collective *one = &collectives[r][i];
                bool is_whole = one->communicator == WORLD;

                one->operation = is_whole ? GMT_FLEET_OPERATION_BROADCAST
                                          : GMT_FLEET_OPERATION_REDUCE;
                one->key += is_whole;
                if (is_whole && together && one->position % 4 == 0) {
                    /* One in four: rank 5 comes 0.05 ms after the others, and it takes 2 ms. */
                    one->begin_ns = one->end_ns - 2 * MS - (r == 5 ? 0 : 50 * US);
                }
            }
        }
        compare();
        cr_assert_eq(waits.traffic_count, 2);
        const struct gmt_fleet_traffic *broadcast = &waits.traffic[0], *reduce = &waits.traffic[1];
        cr_expect_eq(broadcast->operation, GMT_FLEET_OPERATION_BROADCAST);
        cr_expect_float_eq(broadcast->transfer_ns, MS, 1);
        if (together) {
            cr_expect_float_eq(broadcast->bytes_per_s, 2e9, 1e4);
        } else {
            cr_expect(isnan(broadcast->bytes_per_s), "%g", broadcast->bytes_per_s);
        }
        /* Nobody was late for these: 1 MB in 0.5 ms. */
        cr_expect_float_eq(reduce->bytes_per_s, 2e9, 1e4);
        drop();
    }
}

/*
 * One collective that NCCL did not name, and steps so regular that two more or fewer would fit: the others are counted from
 * the first of their communicator, and serve.
 */
Test(fleet_waits, a_collective_without_a_name_makes_no_clock_doubtful, .fini = drop)
{
    make();
    for (size_t r = 0; r < RANKS; r++) {
        collectives[r][4 + r % 2].communicator = 0;
        collectives[r][4 + r % 2].ranks = 0;
        collectives[r][4 + r % 2].key = 7;
    }
    compare();
    for (size_t r = 0; r < RANKS; r++) {
        cr_expect_eq(clocks.ranks[r].confidence, GMT_FLEET_GOOD, "rank %zu", r);
    }
    /* That one half of the ranks has by its name serves nobody. */
    cr_expect_eq(clocks.matched, RANKS * STEPS - RANKS);
}

/* The same position twice in one rank. */
Test(fleet_waits, a_number_that_comes_twice_is_ambiguous, .fini = drop)
{
    make();
    collectives[1][2].position = 1;
    compare();
    cr_expect_eq(waits.ambiguous, 1);
    cr_expect_eq(waits.incomplete, 1);
    cr_expect_eq(waits.matched, 3 * STEPS - 2);
}

/* Communicators of half of the ranks say nothing about the other half's clocks, and across hosts no time either. */
Test(fleet_waits, without_a_common_communicator_clocks_stay_as_they_are, .fini = drop)
{
    make();
    for (size_t r = 0; r < RANKS; r++) {
        for (size_t i = 0; i < ranks[r].collective_count; i++) {
            collectives[r][i].communicator = collectives[r][i].communicator == WORLD
                                                 ? WORLD + 10 + r % 2
                                                 : collectives[r][i].communicator;
            collectives[r][i].ranks = RANKS / 2;
        }
    }
    compare();
    for (size_t r = 0; r < RANKS; r++) {
        cr_expect_eq(clocks.ranks[r].confidence, GMT_FLEET_NO_MATCH);
        cr_expect_eq(clocks.ranks[r].ambiguous, 0);
    }
    /* Those of one host: its clock is one. */
    cr_expect_eq(waits.matched, 2 * STEPS);
    cr_expect_eq(waits.incomplete, 2 * STEPS);
}

Test(fleet_waits, bandwidths_follow_the_rules_of_nccl_tests)
{
    const struct {
        enum gmt_fleet_operation operation;
        double bus; /* bytes of 1000 among 4 that each link has to take */
    } rules[] = {{GMT_FLEET_OPERATION_ALL_REDUCE, 1500},
                 {GMT_FLEET_OPERATION_ALL_GATHER, 3000},
                 {GMT_FLEET_OPERATION_REDUCE_SCATTER, 3000},
                 {GMT_FLEET_OPERATION_BROADCAST, 1000},
                 {GMT_FLEET_OPERATION_REDUCE, 1000}};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        cr_expect_float_eq(gmt_fleet_bus_bandwidth(rules[i].operation, 1000, 4, 1e9), rules[i].bus,
                           1e-6, "%s", gmt_fleet_operation_word(rules[i].operation));
    }
    cr_expect(isnan(gmt_fleet_bus_bandwidth(GMT_FLEET_OPERATION_OTHER, 1000, 4, 1e9)));
    cr_expect(isnan(gmt_fleet_bus_bandwidth(GMT_FLEET_OPERATION_REDUCE, 1000, 4, 0)));
}
