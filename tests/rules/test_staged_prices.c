/* SPDX-License-Identifier: Apache-2.0 */
/* What goes over the host between two processes has the price that GM110 gives it within one. */
#include <criterion/criterion.h>
#include <math.h>

#include "analyzer/fleet/handed/contents.h"
#include "analyzer/fleet/handed/staged.h"
#include "tests/rules/fixture.h"

enum { TIMES = 10 };

static struct gmt_fixture fixtures[2];
static struct gmt_fleet_rank ranks[2];
static struct gmt_fleet_clock clocks_of[2];
static struct gmt_arena arena;

/* GM110's fixture as one rank of two: it reads back, the other one uploads. */
static void load(size_t rank, struct gmt_model_curve peer, const char *sql)
{
    struct gmt_fixture *fixture = &fixtures[rank];

    gmt_fixture_load(fixture, "fixtures/GM110_positive");
    gmt_fixture_sql(fixture, "UPDATE process SET realtime_ns = 1700000000000000000, start_ns = 0;"
                             "INSERT INTO fingerprint SELECT id, printf('%032x', id % 100), bytes, "
                             "1, NULL, 1000 FROM transfer");
    gmt_fixture_sql(fixture, rank == 0 ? "DELETE FROM transfer WHERE direction = 'h2d'"
                                       : "DELETE FROM transfer WHERE direction = 'd2h'");
    gmt_fixture_sql(fixture, sql);
    fixture->model.peer = peer;
    gmt_fixture_analyze(fixture, "GM110");
    struct gmt_analysis analysis = {
        .timeline = &fixture->timeline, .model = &fixture->model, .report = &fixture->report};
    ranks[rank] = (struct gmt_fleet_rank){.trace = rank == 0 ? "0.db" : "1.db", .host = "node"};
    cr_assert_eq(gmt_fleet_contents_read(&ranks[rank], &analysis, &arena), 0);
}

static struct gmt_fleet_staged look(struct gmt_model_curve peer, const char *sql)
{
    const struct gmt_fleet fleet = {.ranks = ranks, .count = 2};
    const struct gmt_fleet_clocks clocks = {.ranks = clocks_of};
    struct gmt_fleet_staged staged;

    load(0, peer, sql);
    load(1, peer, sql);
    cr_assert_eq(gmt_fleet_staged_fill(&staged, &fleet, &clocks, &arena), 0);
    return staged;
}

static void drop(void)
{
    gmt_fixture_free(&fixtures[0]);
    gmt_fixture_free(&fixtures[1]);
    gmt_arena_free(&arena);
}

Test(staged_prices, are_those_of_one_process, .fini = drop)
{
    struct gmt_fleet_staged staged = look((struct gmt_model_curve){0}, "");

    cr_assert_eq(staged.pair_count, 1);
    const struct gmt_fleet_staged_pair *pair = &staged.pairs[0];
    cr_expect_eq(pair->count, TIMES);
    cr_expect_eq(pair->bytes, TIMES * 67108864);
    cr_expect_float_eq(pair->between_ns, 10e3, 1, "%g", pair->between_ns);
    cr_expect_float_eq(pair->cost_ns, TIMES * 2490e3, 1, "%g", pair->cost_ns);
    cr_expect_float_eq(pair->saves_ns, TIMES * (2490e3 - 1240e3), 1, "%g", pair->saves_ns);
    cr_expect_not(pair->is_modelled);
}

Test(staged_prices, are_of_copies_between_devices_where_calibrated, .fini = drop)
{
    /* 10 us and 67108864 B at 400 GB/s. */
    struct gmt_model_point points[] = {{0, 10e3, NAN}, {134217728, 345544.32, NAN}};
    const double peer_ns = 10e3 + 67108864 / 400.0;
    struct gmt_fleet_staged staged = look((struct gmt_model_curve){.points = points, .n = 2}, "");

    cr_assert_eq(staged.pair_count, 1);
    cr_expect_float_eq(staged.pairs[0].saves_ns, TIMES * (2490e3 - peer_ns), 1, "%g",
                       staged.pairs[0].saves_ns);
}

/* Copies without a fingerprint, or of several rows, say nothing. */
Test(staged_prices, contents_need_fingerprints, .fini = drop)
{
    struct gmt_fleet_staged staged = look(
        (struct gmt_model_curve){0},
        "DELETE FROM fingerprint WHERE transfer_id % 2 = 0;"
        "UPDATE transfer SET height = 2, width = 33554432 WHERE id % 100 = 1");

    cr_assert_eq(staged.pair_count, 1);
    cr_expect_eq(staged.count, 4);
    cr_expect_eq(staged.copied.copies, 2 * TIMES);
    cr_expect_eq(staged.copied.unknown, 2 * TIMES - 2 * 4);
}

/* Of many contents all ranks keep the same ones, however many others one of them has. */
Test(staged_prices, the_same_contents_are_kept, .fini = drop)
{
    struct gmt_fleet_staged staged = look(
        (struct gmt_model_curve){0},
        "CREATE TEMP TABLE more AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 6999) SELECT i FROM n;"
        "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, "
        "result, stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, "
        "src_allocation_id, dst_allocation_id) SELECT 1000 + i, t.api_id, t.thread_id, "
        "t.context_id, t.stream_id, 50000000 + i * 1000 + (direction = 'h2d') * 10000000, 50000500 "
        "+ i * 1000 + (direction = 'h2d') * 10000000, 0, 1, 0, direction, 1, 67108864, dst, src, "
        "dst_class, src_class, src_allocation_id, dst_allocation_id FROM more, (SELECT * FROM "
        "transfer LIMIT 1) t;"
        "INSERT INTO fingerprint SELECT id, printf('%016x%016x', (id * 2654435761) % 4294967296, "
        "id), bytes, 1, NULL, 1 FROM transfer WHERE id >= 1000 + (direction = 'h2d') * 1000");

    cr_assert_eq(staged.pair_count, 1);
    cr_expect_eq(ranks[0].content_count, GMT_FLEET_CONTENTS_MOST);
    cr_expect_eq(ranks[1].content_count, GMT_FLEET_CONTENTS_MOST);
    cr_expect_eq(ranks[0].copied.left_out, 7000 + TIMES - GMT_FLEET_CONTENTS_MOST);
    /* Of the 7000 contents of rank 0, 1000 are in it alone. */
    cr_expect_gt(staged.count, GMT_FLEET_CONTENTS_MOST * 5 / 7);
    cr_expect_lt(staged.count, GMT_FLEET_CONTENTS_MOST);
}

/* Bytes that were copied again count once, and a trace without its wall clock has nothing to compare. */
Test(staged_prices, contents_count_once_and_need_a_clock, .fini = drop)
{
    struct gmt_fleet_staged staged = look((struct gmt_model_curve){0},
                                          "UPDATE fingerprint SET hash = printf('%032x', "
                                          "max(5, transfer_id % 100))");

    cr_assert_eq(staged.pair_count, 1);
    cr_expect_eq(staged.count, 6);
    cr_expect_eq(ranks[0].content_count, 6);
    drop();
    arena = (struct gmt_arena){0};
    staged = look((struct gmt_model_curve){0}, "UPDATE process SET realtime_ns = NULL");
    cr_expect_eq(staged.pair_count, 0);
    cr_expect_eq(ranks[0].content_count, 0);
}
