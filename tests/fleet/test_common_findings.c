/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of ranks put together, and what is said of their prices: measured, or by a model. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fleet/common_findings.h"
#include "analyzer/fleet/rank_stream.h"
#include "analyzer/fleet/report/fleet_write.h"

enum { RANKS = 2, FINDINGS = 3 };

static struct gmt_arena arena;
static struct gmt_fleet_finding findings[RANKS][FINDINGS];
static struct gmt_fleet_rank ranks[RANKS];

/* One that has a modelled price on rank 1, one that is worth nothing, and one without a price; as they come from another process. */
static void make(struct gmt_fleet *fleet)
{
    for (size_t r = 0; r < RANKS; r++) {
        const struct gmt_fleet_finding made[FINDINGS] = {{"a", "GM1", "priced", "x.c:1", 5e6, r},
                                                         {"b", "GM2", "worthless", "x.c:2", 0, 1},
                                                         {"c", "GM3", "unpriced", "x.c:3", NAN, 1}};
        struct gmt_fleet_rank rank = {.trace = "0.db", .finding_count = FINDINGS};
        FILE *file = tmpfile();

        memcpy(findings[r], made, sizeof(made));
        rank.findings = findings[r];
        rank.has_findings = true;
        cr_assert_eq(gmt_fleet_rank_send(&rank, file), 0);
        rewind(file);
        ranks[r] = (struct gmt_fleet_rank){0};
        cr_assert_eq(gmt_fleet_rank_receive(&ranks[r], file, &arena), 0);
        fclose(file);
    }
    *fleet = (struct gmt_fleet){.ranks = ranks, .count = RANKS};
}

Test(common_findings, modelled_prices_are_no_measured_ones)
{
    struct gmt_fleet fleet;
    struct gmt_common_findings common;

    make(&fleet);
    cr_assert_eq(gmt_common_findings_find(&common, &fleet, &arena), 0);
    cr_assert_eq(common.count, FINDINGS);
    cr_expect(common.findings[0].is_modelled, "one of two prices is");
    cr_expect_eq(common.findings[0].priced, 2);
    cr_expect_float_eq(common.findings[0].total_ns, 1e7, 1);
    cr_expect(common.findings[1].is_modelled);
    cr_expect_not(common.findings[2].is_modelled, "there is no price");
    ranks[1].findings[0].is_modelled = 0;
    cr_assert_eq(gmt_common_findings_find(&common, &fleet, &arena), 0);
    cr_expect_not(common.findings[0].is_modelled);
    gmt_arena_free(&arena);
}

/* The whole screen about them. */
static char *print(struct gmt_fleet *fleet)
{
    struct gmt_fleet_view view = {.folder = "x", .fleet = *fleet, .top = 10};
    struct gmt_fleet_clock clocks[RANKS] = {0};
    struct gmt_fleet_wait waits[RANKS] = {0};
    static char text[4096];
    FILE *file = tmpfile(), *before = stdout;

    view.clocks.ranks = clocks;
    view.waits.ranks = waits;
    cr_assert_eq(gmt_common_findings_find(&view.common, fleet, &arena), 0);
    stdout = file;
    gmt_fleet_text(&view);
    stdout = before;
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

Test(common_findings, nobody_has_most_of_nothing)
{
    struct gmt_fleet fleet;

    make(&fleet);
    const char *text = print(&fleet);
    cr_expect_not_null(strstr(text,
                              "GM1 priced, x.c:1: on 2 of 2 ranks, saves 10.0 ms in sum, most on "
                              "rank 0.db: 5.00 ms (modelled)\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "GM2 worthless, x.c:2: on 2 of 2 ranks, saves 0 ns in sum "
                                    "(modelled)\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "GM3 unpriced, x.c:3: on 2 of 2 ranks\n"), "%s", text);
    gmt_arena_free(&arena);
}
