/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of constants, tiles, look-ups, local memory and stores: their numbers, and who speaks. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/price/price.h"
#include "tests/rules/fixture.h"

static void drop_simulated_counts(struct gmt_fixture *fixture)
{
    gmt_fixture_sql(fixture, "DELETE FROM kernel_counters WHERE grp = 'simulated'");
}

Test(memory_rules, count_constants_by_requests_of_the_cache)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM307_positive");
    drop_simulated_counts(&fixture);
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM307");
    cr_assert_float_eq(gmt_fixture_evidence(f, "words_per_load"), 30, 1e-9);
    cr_assert_not_null(strstr(f->headline, "reads 30 different words"), "%s", f->headline);
    /* 180 M words of 0.0045 ns are 0.81 of 1 ms; p = 3; ten launches. */
    double hidden = pow(1 - pow(0.81, 3) + pow(0.027, 3), 1.0 / 3);
    double after = 0.81 * (1 - 0.81 + 0.027) + 0.19 * hidden;
    cr_assert_float_eq(f->saving.best_ns, 10e6 * (1 - after), 1);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_CALIBRATED);
    gmt_fixture_free(&fixture);
}

Test(memory_rules, guess_no_constants_that_were_not_counted)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM307_positive");
    drop_simulated_counts(&fixture);
    gmt_fixture_sql(&fixture, "DELETE FROM kernel_counters WHERE metric_id = 68");
    gmt_fixture_analyze(&fixture, "GM307");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
    gmt_fixture_free(&fixture);
}

/* 4 of the 16 bytes of each of 200 million structs: a request of 32 lanes takes 16 sectors where 4 would do. */
Test(memory_rules, report_structs_of_which_a_part_is_used)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM304_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM304");
    cr_expect_float_eq(gmt_fixture_evidence(f, "struct_bytes"), 16, 1e-9);
    cr_expect_float_eq(gmt_fixture_evidence(f, "word_bytes"), 4, 1e-9);
    cr_expect_not_null(strstr(f->headline, "use 4 bytes of each struct of 16: 16.0 sectors"), "%s",
                       f->headline);
    cr_expect_not_null(strstr(f->sketch, "200000000 structs of 16 bytes"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
}

Test(memory_rules, take_strides_for_no_lookups_and_lookups_for_no_strides)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_analyze(&fixture, "GM309");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM309_positive");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
    /* The same ratios with all of it from device memory: nobody can say that words come again. */
    gmt_fixture_load(&fixture, "fixtures/GM309_positive");
    gmt_fixture_sql(&fixture, "UPDATE kernel_counters SET value = 3e9 WHERE metric_id = 33");
    cr_assert_not_null(gmt_fixture_only(&fixture, "GM301"));
    gmt_fixture_free(&fixture);
}

Test(memory_rules, price_lookups_at_the_level_that_serves_them)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM309_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM309");
    /* 102.2 M sectors: 16.2 M in L1, 1.606 M in device memory. */
    cr_assert_float_eq(gmt_fixture_evidence(f, "served_by_l1"), 100 * 16.2 / 102.2, 1e-6);
    cr_assert_float_eq(gmt_fixture_evidence(f, "served_by_l2"),
                       100 * (1 - (16.2 + 1.60625) / 102.2), 1e-6);
    double excess = 102.2e6 - 453e6 / 32, family = 8 * 28 * 131072;
    double ns = excess / 102.2 * (16.2 * 100000 + 84.39375 * 200000 + 1.60625 * 460000) / family;
    cr_assert_float_eq(f->saving.best_ns, 10 * ns, 10, "%g", f->saving.best_ns);
    cr_assert_not_null(strstr(f->headline, "in L2"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(memory_rules, ask_for_a_tile_only_where_none_is_used)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM308_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM308");
    cr_assert_float_eq(gmt_fixture_evidence(f, "reads_of_each_byte"), 640, 1e-9);
    cr_assert_float_eq(gmt_fixture_evidence(f, "tile_edge"), 32, 1e-9);
    cr_assert_not_null(strstr(f->sketch, "a[32][32]"), "%s", f->sketch);
    gmt_fixture_free(&fixture);
    gmt_fixture_load(&fixture, "fixtures/GM308_negative");
    gmt_fixture_sql(&fixture, "DELETE FROM kernel_counters WHERE metric_id IN (7, 9, 11)");
    gmt_fixture_analyze(&fixture, "GM308");
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 1,
                 "the same kernel without its shared loads: %s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(memory_rules, distinguish_spills_arrays_and_divergent_arrays)
{
    static const struct {
        const char *sql, *words, *sketch;
    } cases[] = {
        {"UPDATE kernel SET registers = 32; UPDATE kernel_counters SET value = 16e6 WHERE "
         "metric_id IN (64, 65)",
         "probably spilled registers", "__launch_bounds__(256)"},
        {"UPDATE kernel SET registers = 30; UPDATE kernel_counters SET value = 16e6 WHERE "
         "metric_id IN (64, 65)",
         "probably an array", "#pragma unroll"},
        {"UPDATE kernel SET registers = 32; UPDATE kernel_counters SET value = 128e6 WHERE "
         "metric_id IN (64, 65)",
         "each lane at a different index", "values[32][256];  // 32.0 KiB per block"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        gmt_fixture_load(&fixture, "fixtures/GM306_positive");
        gmt_fixture_sql(&fixture, cases[i].sql);
        const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM306");
        cr_assert_not_null(strstr(f->headline, cases[i].words), "%s", f->headline);
        cr_assert_not_null(strstr(f->sketch, cases[i].sketch), "%s", f->sketch);
        cr_assert_eq(f->confidence, GMT_CONFIDENCE_CALIBRATED);
        gmt_fixture_free(&fixture);
    }
}

Test(memory_rules, price_misaligned_stores_by_their_family)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM310_negative");
    gmt_fixture_sql(&fixture,
                    "UPDATE kernel_counters SET value = 40625000 + 2539062 WHERE metric_id = 4");
    gmt_fixture_analyze(&fixture, "GM303");
    double cost = 2539062 / 40625000.0 * (134.0 / 130 - 1) / 0.25;
    double best = 10e6 * cost / (1 + cost);
    cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 1, "%s",
                 gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = fixture.report.finding_count > 0 ? &fixture.report.findings[0]
                                                                   : &fixture.report.notes[0];
    cr_assert_float_eq(f->saving.best_ns, best, 2e4, "%g, not %g", f->saving.best_ns, best);
    gmt_fixture_free(&fixture);
}

Test(memory_rules, price_strided_stores_by_their_family)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM310_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM310");
    /* 495 MB stored at 8 times the ideal: 1 ms lies below the family's fastest at that ratio. */
    double bad = 700e3 / 268435456 * 495e6, good = 130e3 / 268435456 * 495e6;
    cr_assert_float_eq(f->saving.best_ns, 10 * (1e6 - 1e6 * good / bad), 10);
    cr_assert_not_null(strstr(f->headline, "lanes are 8 or more words of 4 bytes apart"), "%s",
                       f->headline);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_CALIBRATED);
    gmt_fixture_free(&fixture);
}

/* Who takes the other way out of a loop of allocations pays for the pool first. */
Test(memory_rules, count_the_making_of_a_pool)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM201_positive");
    const struct gmt_finding *f = gmt_fixture_only(&fixture, "GM201");
    cr_assert_float_eq(f->saving.low_ns, 0, 1e-9, "5.9 ms, and 10 for the pool");
    cr_assert_gt(f->saving.best_ns, 5e6);
    cr_assert_not_null(strstr(f->fix, "10 ms"), "%s", f->fix);
    gmt_fixture_free(&fixture);
    /* It has one. */
    gmt_fixture_load(&fixture, "fixtures/GM201_positive");
    gmt_fixture_sql(&fixture, "INSERT INTO allocation (id, kind, address, bytes, context_id, "
                              "thread_id, api_id, begin_ns, end_ns) VALUES (900, 'async', "
                              "268435456, 1048576, 1, 1, 6, 500000, 510000)");
    gmt_fixture_analyze(&fixture, "GM201");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_gt(fixture.report.findings[0].saving.low_ns, 10e3);
    gmt_fixture_free(&fixture);
}

Test(memory_rules, take_memory_whose_free_has_no_end_for_memory_in_use)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM201", "UPDATE allocation SET free_end_ns = NULL");
    gmt_fixture_analyze(&fixture, "GM201");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}
