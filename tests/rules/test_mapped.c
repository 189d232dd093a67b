/* SPDX-License-Identifier: Apache-2.0 */
/* GM111 and GM112: their prices, and what decides where there are counts of host traffic. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/price/price_mapped.h"
#include "tests/rules/fixture.h"

#define MIB 1048576.0

static struct gmt_model_point bus[] = {{MIB, 25e3, 0}, {64 * MIB, 1215e3, 0}};
static struct gmt_model_point reads[] = {{MIB, 24e3, 0}, {64 * MIB, 1284e3, 0}};
static struct gmt_model_point writes[] = {{MIB, 22e3, 0}, {64 * MIB, 1282e3, 0}};

static struct gmt_model model_with_curves(void)
{
    struct gmt_model model = {.provenance = GMT_MODEL_CALIBRATED, .dram_bytes_per_s = 4e12};

    model.mapped_read = (struct gmt_model_curve){reads, 2, NAN};
    model.mapped_write = (struct gmt_model_curve){writes, 2, NAN};
    model.copy[0][GMT_HOST_PINNED][GMT_MODE_ASYNC] = (struct gmt_model_curve){bus, 2, NAN};
    model.copy[1][GMT_HOST_PINNED][GMT_MODE_ASYNC] = (struct gmt_model_curve){bus, 2, NAN};
    return model;
}

static void near(double value, double expected)
{
    cr_assert(fabs(value - expected) <= 1e-6 * fabs(expected), "%g, not %g", value, expected);
}

Test(mapped, memory_has_its_own_rates_by_direction)
{
    struct gmt_model model = model_with_curves();

    near(gmt_price_mapped_once(&model, GMT_MAPPED_READ, MIB), 24e3);
    near(gmt_price_mapped_once(&model, GMT_MAPPED_WRITE, MIB), 22e3);
    near(gmt_price_mapped_once(&model, GMT_MAPPED_EITHER, MIB), 24e3);
}

Test(mapped, memory_costs_what_the_bus_does_in_an_older_model)
{
    struct gmt_model model = model_with_curves();

    model.mapped_read.n = model.mapped_write.n = 0;
    near(gmt_price_mapped_once(&model, GMT_MAPPED_READ, 64 * MIB), 1215e3);
    model.copy[0][GMT_HOST_PINNED][GMT_MODE_ASYNC].n = 0;
    cr_assert(isnan(gmt_price_mapped_once(&model, GMT_MAPPED_READ, MIB)));
    cr_assert(isnan(gmt_price_without_copy(&model, GMT_MAPPED_READ, 1e5, 1e5, MIB).best_ns));
    cr_assert(isnan(gmt_price_with_copy(&model, 1e6, MIB, NAN).best_ns));
}

Test(mapped, a_copy_less_saves_it_as_far_as_the_kernel_hides_the_bus)
{
    struct gmt_model model = model_with_curves();
    /* A kernel of 24 us, a copy of 25 us, and 24 us to go over the memory: in a row, or at once. */
    struct gmt_gain gain = gmt_price_without_copy(&model, GMT_MAPPED_READ, 24e3, 25e3, MIB);

    /* In a row: 1 us less, if a twentieth of both roads is no more than doubt. */
    cr_assert_eq(gain.low_ns, 0);
    near(gain.high_ns, 25e3 + 0.05 * 49e3);
    near(gain.best_ns, 49e3 - 24e3 * pow(2, 1 / 3.0));
    /* A long kernel hides the bus; a short one does not, and the bus is no faster that way. */
    near(gmt_price_without_copy(&model, GMT_MAPPED_READ, 1e9, 25e3, MIB).best_ns, 25e3);
    cr_assert_lt(gmt_price_without_copy(&model, GMT_MAPPED_READ, 1e2, 23e3, MIB).best_ns, 1);
}

Test(mapped, counted_traffic_has_a_price_and_time_alone_a_bound)
{
    struct gmt_model model = model_with_curves();
    /* Eight times over 64 MiB; 1 ms more than the bus needs. */
    double bus_ns = 8 * 1284e3, moved = 8 * 64 * MIB, t_ns = bus_ns + 1e6;
    struct gmt_gain counted = gmt_price_with_copy(&model, t_ns, 64 * MIB, moved);
    struct gmt_gain timed = gmt_price_with_copy(&model, t_ns, 64 * MIB, NAN);

    near(counted.best_ns, bus_ns - 1215e3 - moved / 4e3);
    cr_assert_gt(counted.low_ns, 0.9 * counted.best_ns);
    cr_assert_gt(timed.best_ns, counted.best_ns);
    near(timed.low_ns + 1, 1);
    /* Once over it: the copy would take as long. */
    cr_assert_lt(gmt_price_with_copy(&model, 1284e3, 64 * MIB, 64 * MIB).best_ns, 0.06 * 1284e3);
}

static struct gmt_fixture misuse(const char *sql)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM112_positive");
    if (sql != NULL) {
        gmt_fixture_sql(&fixture, sql);
    }
    gmt_fixture_analyze(&fixture, "GM112");
    return fixture;
}

Test(mapped, time_alone_makes_a_heuristic_finding_that_may_be_nothing)
{
    struct gmt_fixture fixture = misuse(NULL);

    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.findings[0].confidence, GMT_CONFIDENCE_HEURISTIC);
    near(fixture.report.findings[0].saving.low_ns + 1, 1);
    cr_assert_not_null(strstr(fixture.report.findings[0].headline, "as if 3."));
    cr_assert_not_null(strstr(fixture.report.findings[0].sketch, "16777216"));
    gmt_fixture_free(&fixture);
}

/* The first launch's arguments stay; of four more sets each points to another place of the buffer. */
static const char steps[] =
    "UPDATE host_allocation SET bytes = 5 * 16777216;"
    "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, "
    "allocation_offset) "
    "SELECT 100 + i, 0, 0, 1, i * 16777216 FROM "
    "(SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4);"
    "UPDATE launch SET argument_set_id = 100 + seq WHERE seq BETWEEN 1 AND 4;";

Test(mapped, launches_that_step_through_a_buffer_share_it)
{
    struct gmt_fixture fixture = misuse(steps);

    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_not_null(strstr(fixture.report.findings[0].headline, "as if 3."), "%s",
                       fixture.report.findings[0].headline);
    cr_assert_not_null(strstr(fixture.report.findings[0].sketch, "16777216"));
    gmt_fixture_free(&fixture);
    /* Each is given all of the places: the whole buffer is for every launch. */
    fixture = misuse("UPDATE host_allocation SET bytes = 5 * 16777216;"
                     "INSERT INTO launch_argument (set_id, parameter, word_offset, allocation_id, "
                     "allocation_offset) SELECT 1, i, 0, 1, i * 16777216 FROM "
                     "(SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

static const char sectors_of[] =
    "INSERT INTO metric VALUES (45, 'host_read_sectors', '-', 'hardware', 'sectors', '-');"
    "INSERT INTO fixture_counter VALUES (45, %d, 'hardware')";

Test(mapped, counts_of_host_traffic_decide_where_there_are_any)
{
    char sql[512];

    snprintf(sql, sizeof(sql), sectors_of, 524288); /* 16 MiB: once */
    struct gmt_fixture fixture = misuse(sql);
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_PASS);
    gmt_fixture_free(&fixture);
    snprintf(sql, sizeof(sql), sectors_of, 1572864); /* three times */
    fixture = misuse(sql);
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.findings[0].confidence, GMT_CONFIDENCE_CALIBRATED);
    cr_assert_gt(fixture.report.findings[0].saving.low_ns, 0);
    gmt_fixture_free(&fixture);
}

Test(mapped, candidates_that_were_not_measured_could_not_be_checked)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM111_positive");
    gmt_fixture_sql(&fixture, "DELETE FROM kernel_counters");
    gmt_fixture_analyze(&fixture, "GM111");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
    cr_assert_not_null(strstr(fixture.report.rules[0].why, "were not measured"));
    gmt_fixture_free(&fixture);
}
