/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks hand on over their hosts, on fleets whose copies are written down here. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/fleet/handed/contents.h"
#include "analyzer/fleet/handed/staged.h"
#include "analyzer/fleet/rank_stream.h"

enum { RANKS = 4, CONTENTS = 5, US = 1000, MS = 1000000, BYTES = 4096 };
#define START INT64_C(1700000000000000000)

static struct gmt_fleet_rank ranks[RANKS];
static struct gmt_fleet_content contents[RANKS][8 * CONTENTS];
static const char *places[] = {"a.c:1", "a.c:2", "a.c:3"};
static struct gmt_fleet fleet = {.ranks = ranks, .count = RANKS};
static struct gmt_fleet_clock clocks_of[RANKS];
static struct gmt_fleet_clocks clocks = {.ranks = clocks_of};
static struct gmt_fleet_staged staged;
static struct gmt_arena arena;

static void drop(void)
{
    gmt_arena_free(&arena);
}

static void make(void)
{
    memset(clocks_of, 0, sizeof(clocks_of));
    for (size_t r = 0; r < RANKS; r++) {
        ranks[r] = (struct gmt_fleet_rank){.trace = "x.db",
                                           .host = "node",
                                           .contents = contents[r],
                                           .places = places,
                                           .place_count = 3};
    }
}

static struct gmt_fleet_copy copy_at(int64_t begin_us, uint64_t place, double cost_ns)
{
    return (struct gmt_fleet_copy){.begin_ns = START + begin_us * US,
                                   .end_ns = START + (begin_us + 10) * US,
                                   .cost_ns = cost_ns,
                                   .direct_ns = 2 * US,
                                   .place = place};
}

/* down_us, up_us: when the rank reads it back and uploads it; below 0: it does not. */
static struct gmt_fleet_content *add(size_t rank, uint64_t print, int64_t down_us, int64_t up_us)
{
    struct gmt_fleet_content *content = &contents[rank][ranks[rank].content_count++];

    *content = (struct gmt_fleet_content){
        .print = {print, 7}, .hashed = 2 * BYTES + 1, .bytes = BYTES};
    if (down_us >= 0) {
        content->down = copy_at(down_us, 0, 10 * US);
    }
    if (up_us >= 0) {
        content->up = copy_at(up_us, 1, 8 * US);
    }
    return content;
}

static void look(void)
{
    cr_assert_eq(gmt_fleet_staged_fill(&staged, &fleet, &clocks, &arena), 0);
}

static void expect_nothing(size_t few, size_t ambiguous, size_t early)
{
    look();
    cr_expect_eq(staged.pair_count, 0);
    cr_expect_eq(staged.count, 0);
    cr_expect_eq(staged.few, few);
    cr_expect_eq(staged.ambiguous, ambiguous);
    cr_expect_eq(staged.early, early);
}

/* Contents from 1 on: rank 0 reads them back, rank 2 uploads them 50 to 90 us after that. */
static void hand_on(size_t n)
{
    make();
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)i * 1000;

        add(0, i + 1, at, -1);
        add(2, i + 1, -1, at + 60 + 10 * (int64_t)i);
    }
}

Test(fleet_staged, a_pair_of_ranks_is_reported_with_its_price, .fini = drop)
{
    hand_on(CONTENTS);
    look();
    cr_assert_eq(staged.pair_count, 1);
    const struct gmt_fleet_staged_pair *pair = &staged.pairs[0];
    cr_expect_eq(pair->from, 0);
    cr_expect_eq(pair->to, 2);
    cr_expect_str_eq(pair->down_at, "a.c:1");
    cr_expect_str_eq(pair->up_at, "a.c:2");
    cr_expect_eq(pair->count, CONTENTS);
    cr_expect_eq(pair->bytes, CONTENTS * BYTES);
    cr_expect_float_eq(pair->between_ns, 70 * US, 1);
    cr_expect_float_eq(pair->cost_ns, CONTENTS * 18.0 * US, 1);
    cr_expect_float_eq(pair->saves_ns, CONTENTS * 16.0 * US, 1);
    cr_expect(pair->is_one_host);
    cr_expect_not(pair->is_modelled);
    cr_expect_eq(staged.few + staged.ambiguous + staged.early, 0);
}

Test(fleet_staged, contents_are_few_below_three, .fini = drop)
{
    hand_on(GMT_FLEET_STAGED_LEAST - 1);
    expect_nothing(2, 0, 0);
    hand_on(GMT_FLEET_STAGED_LEAST);
    look();
    cr_expect_eq(staged.pair_count, 1);
}

/* One read-back, three uploads: its cost is there once, over all pairs. */
Test(fleet_staged, what_is_broadcast_is_read_back_once, .fini = drop)
{
    double cost = 0;

    make();
    for (size_t i = 0; i < CONTENTS; i++) {
        add(0, i + 1, (int64_t)i * 1000, -1);
        for (size_t r = 1; r < RANKS; r++) {
            add(r, i + 1, -1, (int64_t)(i * 1000 + 100 * r));
        }
    }
    look();
    cr_assert_eq(staged.pair_count, RANKS - 1);
    for (size_t i = 0; i < staged.pair_count; i++) {
        cr_expect_eq(staged.pairs[i].from, 0);
        cost += staged.pairs[i].cost_ns;
    }
    cr_expect_float_eq(cost, CONTENTS * (10.0 + 3 * 8) * US, 1);
}

/* Each has it from the one before it, which is not the one that made it. */
Test(fleet_staged, ranks_hand_on_in_turn, .fini = drop)
{
    make();
    for (size_t i = 0; i < CONTENTS; i++) {
        int64_t at = (int64_t)i * 1000;

        add(0, i + 1, at, -1);
        add(1, i + 1, at + 200, at + 100);
        add(2, i + 1, at + 400, at + 300);
    }
    look();
    cr_assert_eq(staged.pair_count, 2);
    cr_expect_eq(staged.pairs[0].from, 0);
    cr_expect_eq(staged.pairs[0].to, 1);
    cr_expect_eq(staged.pairs[1].from, 1);
    cr_expect_eq(staged.pairs[1].to, 2);
}

Test(fleet_staged, who_had_it_before_does_not_have_it_from_others, .fini = drop)
{
    make();
    for (size_t i = 0; i < CONTENTS; i++) {
        int64_t at = (int64_t)i * 1000;

        add(0, i + 1, at, -1);
        add(2, i + 1, at + 20, at + 60); /* its own device computed it, too */
        add(1, i + 11, at + 60, at);     /* came from the host */
        add(3, i + 11, -1, at + 80);
        add(0, i + 21, at + 60, -1); /* read back after the other one uploaded it */
        add(1, i + 21, -1, at + 50);
        add(0, i + 31, at, -1); /* computed by two */
        add(1, i + 31, at, -1);
        add(3, i + 31, -1, at + 80);
    }
    expect_nothing(0, CONTENTS, CONTENTS);
}

/* The same hash of other bytes, or of samples, is none of the same content. */
Test(fleet_staged, sizes_and_samples_are_distinguished, .fini = drop)
{
    hand_on(CONTENTS);
    for (size_t i = 0; i < CONTENTS; i++) {
        if (i % 2 == 0) {
            contents[2][i].bytes = 2 * BYTES;
        } else {
            contents[2][i].hashed--;
        }
    }
    expect_nothing(0, 0, 0);
}

/* A clock that is 5 ms behind would have the upload come first. */
Test(fleet_staged, clocks_are_corrected, .fini = drop)
{
    hand_on(CONTENTS);
    for (size_t i = 0; i < CONTENTS; i++) {
        contents[2][i].up.begin_ns -= 5 * MS;
        contents[2][i].up.end_ns -= 5 * MS;
    }
    expect_nothing(0, 0, CONTENTS);
    clocks_of[2] = (struct gmt_fleet_clock){
        .offset_ns = 5 * MS, .middle_ns = START, .confidence = GMT_FLEET_GOOD};
    look();
    cr_assert_eq(staged.pair_count, 1);
    cr_expect_float_eq(staged.pairs[0].between_ns, 70 * US, 1);
}

Test(fleet_staged, what_is_not_known_has_no_price, .fini = drop)
{
    hand_on(CONTENTS);
    ranks[2].host = "other";
    look();
    cr_assert_eq(staged.pair_count, 1);
    cr_expect_not(staged.pairs[0].is_one_host);
    cr_expect_float_eq(staged.pairs[0].cost_ns, CONTENTS * 18.0 * US, 1);
    cr_expect(isnan(staged.pairs[0].saves_ns));
    ranks[2].host = "node";
    ranks[2].copied.is_modelled = true;
    contents[0][1].down.cost_ns = NAN;
    look();
    cr_expect(isnan(staged.pairs[0].cost_ns));
    cr_expect(isnan(staged.pairs[0].saves_ns));
    cr_expect(staged.pairs[0].is_modelled);
}

/* Another line is another pair. */
Test(fleet_staged, lines_are_reported_apart, .fini = drop)
{
    hand_on(CONTENTS);
    contents[0][0].down.place = 2;
    look();
    cr_assert_eq(staged.pair_count, 1);
    cr_expect_eq(staged.count, CONTENTS - 1);
    cr_expect_eq(staged.few, 1);
}

static bool passes(const struct gmt_fleet_rank *sent, struct gmt_fleet_rank *received)
{
    char *data = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&data, &bytes);

    cr_assert(to != NULL && gmt_fleet_rank_send(sent, to) == 0 && fclose(to) == 0);
    FILE *from = fmemopen(data, bytes, "r");
    cr_assert_not_null(from);
    int rc = gmt_fleet_rank_receive(received, from, &arena);
    (void)fclose(from);
    free(data);
    return rc == 0;
}

Test(fleet_staged, contents_travel_between_processes, .fini = drop)
{
    struct gmt_fleet_rank received = {0};

    hand_on(CONTENTS);
    ranks[0].copied = (struct gmt_fleet_copied){.copies = 9, .unknown = 4, .left_out = 2};
    cr_assert(passes(&ranks[0], &received));
    cr_assert_eq(received.content_count, CONTENTS);
    cr_expect_arr_eq(received.contents, contents[0], CONTENTS * sizeof(contents[0][0]));
    cr_assert_eq(received.place_count, 3);
    cr_expect_str_eq(received.places[2], "a.c:3");
    cr_expect_eq(received.copied.unknown, 4);
    /* A place that is not there. */
    contents[0][CONTENTS - 1].down.place = 3;
    cr_expect_not(passes(&ranks[0], &received));
}
