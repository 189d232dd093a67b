/* SPDX-License-Identifier: Apache-2.0 */
/* Whose memory others opened, on fleets whose handles are written down here. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/handed/direct.h"
#include "analyzer/fleet/handed/flows.h"
#include "analyzer/fleet/rank_stream.h"

enum { RANKS = 4, MIB = 1 << 20 };

static struct gmt_fleet_rank ranks[RANKS];
static uint64_t exported[RANKS][4];
static struct gmt_fleet_flow flows[RANKS][4];
static struct gmt_fleet fleet = {.ranks = ranks, .count = RANKS};
static struct gmt_fleet_direct direct;
static struct gmt_arena arena;

static void make(void)
{
    for (size_t r = 0; r < RANKS; r++) {
        ranks[r] = (struct gmt_fleet_rank){
            .trace = "x.db", .host = "node", .exported = exported[r], .flows = flows[r]};
    }
}

static void drop(void)
{
    gmt_arena_free(&arena);
}

TestSuite(fleet_direct, .init = make, .fini = drop);

static void give(size_t rank, uint64_t hash)
{
    exported[rank][ranks[rank].exported_count++] = hash;
}

/* Two copies of 1 MiB each, in 10 us. */
static struct gmt_fleet_flow *copy(size_t rank, uint64_t from, uint64_t to)
{
    struct gmt_fleet_flow *flow = &flows[rank][ranks[rank].flow_count++];

    *flow = (struct gmt_fleet_flow){.from = from,
                                    .to = to,
                                    .copies = 2,
                                    .bytes = 2 * MIB,
                                    .timed_bytes = 2 * MIB,
                                    .device_ns = 10e3};
    return flow;
}

static void look(void)
{
    cr_assert_eq(gmt_fleet_direct_fill(&direct, &fleet, &arena), 0);
}

/* One letter each, in order: from, to, by. */
static void expect_pairs(const char *expected)
{
    char found[64] = "";

    for (size_t i = 0; i < direct.pair_count; i++) {
        const struct gmt_fleet_direct_pair *pair = &direct.pairs[i];
        size_t length = strlen(found);

        (void)snprintf(found + length, sizeof(found) - length, "%s%zu%zu%zu%s", i > 0 ? " " : "",
                       pair->from, pair->to, pair->by, pair->over_host ? "h" : "");
    }
    cr_expect_str_eq(found, expected, "%s", found);
}

Test(fleet_direct, the_other_rank_is_the_one_that_exported_it)
{
    give(0, 7);
    give(2, UINT64_MAX); /* a hash is no signed number */
    copy(1, 7, 0)->bytes = 3 * MIB;
    copy(1, 0, UINT64_MAX);
    copy(3, 7, UINT64_MAX)->bytes = MIB;
    look();
    expect_pairs("011 121 023");
    cr_expect_eq(direct.copies, 6);
    cr_expect_eq(direct.bytes, 6 * MIB);
    cr_expect_eq(direct.unknown.copies + direct.ambiguous.copies, 0);
}

Test(fleet_direct, pairs_are_sums_over_handles)
{
    give(0, 7);
    give(0, 8);
    copy(1, 7, 0);
    copy(1, 8, 0)->timed_bytes = 0;
    flows[1][1].device_ns = 0; /* not known */
    ranks[1].sharing.is_modelled = 1;
    look();
    expect_pairs("011");
    cr_expect_eq(direct.pairs[0].copies, 4);
    cr_expect_eq(direct.pairs[0].bytes, 4 * MIB);
    cr_expect_float_eq(direct.pairs[0].device_ns, 10e3, 1e-6);
    cr_expect_float_eq(direct.pairs[0].bytes_per_s, 2 * MIB / 10e-6, 1);
    cr_expect(direct.pairs[0].is_modelled);
}

Test(fleet_direct, no_time_is_no_rate)
{
    give(0, 7);
    copy(1, 7, 0)->device_ns = 0;
    look();
    expect_pairs("011");
    cr_expect(isnan(direct.pairs[0].device_ns));
    cr_expect(isnan(direct.pairs[0].bytes_per_s));
}

Test(fleet_direct, what_the_host_copied_is_not_between_devices)
{
    give(0, 7);
    copy(1, 7, 0)->over_host = 1;
    copy(1, 7, 0)->bytes = MIB;
    look();
    expect_pairs("011h 011");
    cr_expect_eq(direct.copies, 2);
    cr_expect_eq(direct.bytes, MIB);
}

/* Kernels may use what no call copies. */
Test(fleet_direct, what_was_opened_and_not_copied_is_known)
{
    give(0, 7);
    give(0, 8);
    give(2, 9);
    *copy(1, 7, 0) = (struct gmt_fleet_flow){.from = 7, .opened = 1, .opened_bytes = MIB};
    *copy(1, 8, 0) = (struct gmt_fleet_flow){.from = 8, .opened = 2, .opened_bytes = MIB};
    copy(1, 9, 0)->opened = 1;
    *copy(3, 77, 0) = (struct gmt_fleet_flow){.from = 77, .opened = 4};
    look();
    expect_pairs("211");
    cr_assert_eq(direct.opened_count, 2);
    cr_expect_eq(direct.opened[0].owner, 0);
    cr_expect_eq(direct.opened[0].by, 1);
    cr_expect_eq(direct.opened[0].allocations, 3);
    cr_expect_eq(direct.opened[0].bytes, 2 * MIB);
    cr_expect_not(direct.opened[0].is_copied);
    cr_expect_eq(direct.opened[1].owner, 2);
    cr_expect(direct.opened[1].is_copied);
    cr_expect_eq(direct.unknown.opened, 4);
    cr_expect_eq(direct.unknown.copies, 0);
}

Test(fleet_direct, a_handle_of_no_trace_is_unknown)
{
    give(0, 7);
    copy(1, 8, 0);
    copy(1, 7, 8);
    look();
    expect_pairs("");
    cr_expect_eq(direct.unknown.copies, 4);
    cr_expect_eq(direct.unknown.bytes, 4 * MIB);
    cr_expect_eq(direct.ambiguous.copies, 0);
}

/* It is in a copy, whomever the other side is of. */
Test(fleet_direct, what_was_copied_with_memory_of_no_rank_was_copied)
{
    give(0, 7);
    give(2, 9);
    copy(1, 7, 8)->opened = 0;
    copy(1, 7, 0)->opened = 1;
    flows[1][1].copies = 0;
    copy(1, 8, 9);
    *copy(1, 9, 0) = (struct gmt_fleet_flow){.from = 9, .opened = 1};
    look();
    expect_pairs("");
    cr_expect_eq(direct.unknown.copies, 4);
    cr_assert_eq(direct.opened_count, 2);
    cr_expect(direct.opened[0].is_copied);
    cr_expect(direct.opened[1].is_copied);
    cr_expect_eq(direct.opened[0].allocations, 1);
}

/* Two copies of one trace, or two runs in one folder. */
Test(fleet_direct, a_handle_of_several_traces_is_ambiguous)
{
    give(0, 7);
    give(2, 7);
    copy(1, 7, 0);
    look();
    expect_pairs("");
    cr_expect_eq(direct.ambiguous.copies, 2);
    cr_expect_eq(direct.ambiguous.bytes, 2 * MIB);
    cr_expect_eq(direct.unknown.copies, 0);
}

/* Containers on two hosts may give equal handles. */
Test(fleet_direct, handles_are_those_of_one_host)
{
    give(0, 7);
    give(2, 7);
    ranks[2].host = "other";
    ranks[3].host = "other";
    copy(1, 7, 0);
    copy(3, 7, 0);
    look();
    expect_pairs("011 233");
    ranks[1].host = NULL;
    look();
    expect_pairs("233");
    cr_expect_eq(direct.unknown.copies, 2);
}

/* A process cannot open its own handle: an equal one is that of another. */
Test(fleet_direct, nobody_opens_memory_of_its_own)
{
    give(0, 7);
    give(1, 7);
    copy(1, 7, 0);
    look();
    expect_pairs("011");
    ranks[0].exported_count = 0;
    look();
    expect_pairs("");
    cr_expect_eq(direct.unknown.copies, 2);
}

Test(fleet_direct, flows_travel_between_processes)
{
    struct gmt_fleet_rank received = {0};
    char *data = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&data, &bytes);

    give(1, 5);
    give(1, 6);
    copy(1, 7, 0);
    ranks[1].sharing = (struct gmt_fleet_sharing){.opened = 3, .left_out = 2, .is_modelled = 1};
    cr_assert(to != NULL && gmt_fleet_rank_send(&ranks[1], to) == 0 && fclose(to) == 0);
    FILE *from = fmemopen(data, bytes, "r");
    cr_assert_not_null(from);
    cr_assert_eq(gmt_fleet_rank_receive(&received, from, &arena), 0);
    (void)fclose(from);
    free(data);
    cr_assert_eq(received.exported_count, 2);
    cr_assert_eq(received.flow_count, 1);
    cr_expect_arr_eq(received.exported, exported[1], 2 * sizeof(exported[1][0]));
    cr_expect_arr_eq(received.flows, flows[1], sizeof(flows[1][0]));
    cr_expect_eq(received.sharing.opened, 3);
    cr_expect_eq(received.sharing.left_out, 2);
    cr_expect_eq(received.sharing.is_modelled, 1);
}

/* More than a rank sends are none of this program. */
Test(fleet_direct, too_many_are_refused)
{
    static uint64_t many[GMT_FLEET_HANDLES_MOST + 1];
    struct gmt_fleet_rank received = {0};
    char *data = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&data, &bytes);

    ranks[1].exported = many;
    ranks[1].exported_count = GMT_FLEET_HANDLES_MOST + 1;
    cr_assert(to != NULL && gmt_fleet_rank_send(&ranks[1], to) == 0 && fclose(to) == 0);
    FILE *from = fmemopen(data, bytes, "r");
    cr_assert_not_null(from);
    cr_expect_neq(gmt_fleet_rank_receive(&received, from, &arena), 0);
    (void)fclose(from);
    free(data);
}
