/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of kernels that only ran measured, from their cycles: the class of common.sql with ten launches,
 * of which hardware counters say how many cycles the busiest multiprocessor worked; and, on recordings of
 * an H200, against the times of launches that were not measured.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/cycle_times.h"
#include "analyzer/trace/open.h"
#include "tests/rules/fixture.h"

static struct gmt_fixture fixture;

#define ONLY_MEASURED \
    "UPDATE launch SET measured = 'hardware', device_start_ns = NULL, device_end_ns = NULL; " \
    "INSERT INTO metric VALUES (43, 'sm_cycles_active_max', '-', 'hardware', 'cycles', '-'); " \
    "INSERT INTO fixture_counter (metric_id, value) VALUES (43, 2000000); "

/* Class n: of one launch that took so many ns, in which it had so many cycles. */
#define OTHER(n, ns, cycles) \
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z) " \
    "VALUES (" #n ", 1, " #n ", 1, 1, 32, 1, 1); " \
    "INSERT INTO launch (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, " \
    "stack_id, capturing, kind, seq, kernel_id, class_id, no_activity, arguments, " \
    "device_start_ns, " \
    "device_end_ns) VALUES (91000" #n ", 3, 1, 1, 1, 8" #n "000000, 8" #n "001000, 0, 1, 0, " \
    "'kernel', 100" #n ", 1, " #n ", 0, 'complete', 8" #n "010000, 8" #n "010000 + " #ns "); " \
    "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples) " \
    "VALUES (100" #n ", " #n ", 43, " #cycles ", 'hardware', 'hardware', 1); "

static void analyze(const char *sql, bool with_model)
{
    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, sql);
    if (!with_model) {
        gmt_fixture_drop_model(&fixture);
    }
    gmt_fixture_analyze(&fixture, NULL);
}

static const struct gmt_kernel_row *row_of(int64_t class_id)
{
    for (size_t i = 0; i < fixture.report.kernel_count; i++) {
        if (fixture.report.kernels[i].class_id == class_id) {
            return &fixture.report.kernels[i];
        }
    }
    cr_assert_fail("no row of class %d", (int)class_id);
    return NULL;
}

Test(cycle_times, follow_the_clock_of_the_model_where_no_other_kernel_shows_one)
{
    analyze(ONLY_MEASURED, true);
    double clock = fixture.model.shared_wavefronts_per_s / 132e9, each = 2e6 / clock + 600;

    cr_assert(clock > 1 && clock < 3, "%.3f cycles per ns", clock);
    cr_expect_float_eq(row_of(1)->device_ns, 10 * each, 1);
    cr_expect(row_of(1)->by_cycles);
    cr_expect_float_eq(fixture.report.kernel_ns, 10 * each, 1);
    gmt_fixture_free(&fixture);
}

Test(cycle_times, follow_the_clock_of_the_other_kernels)
{
    /* 1, 1.5 and 1.25 cycles per ns, the edge of 600 ns apart; one below 20 us does not count. */
    analyze(ONLY_MEASURED OTHER(2, 100600, 100000) OTHER(3, 100600, 150000) OTHER(4, 200600, 250000)
                OTHER(5, 10600, 50000),
            true);
    cr_expect_float_eq(row_of(1)->device_ns, 10 * (2e6 / 1.25 + 600), 10);
    cr_expect_not(row_of(2)->by_cycles);
    cr_expect_float_eq(row_of(2)->device_ns, 100600, 1);
    /* In no activity record, and the device was busy all the same: beside the four that have records. */
    cr_expect_float_eq(fixture.report.gpu_busy_ns, 10 * (2e6 / 1.25 + 600) + 412400, 10);
    gmt_fixture_free(&fixture);
}

Test(cycle_times, are_not_guessed_without_a_clock)
{
    analyze(ONLY_MEASURED OTHER(2, 100600, 100000), false);
    cr_expect(isnan(row_of(1)->device_ns));
    cr_expect_not(row_of(1)->by_cycles);
    gmt_fixture_free(&fixture);
}

Test(cycle_times, give_a_finding_its_price)
{
    const struct gmt_finding *priced = NULL;

    analyze(ONLY_MEASURED, true);
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (strcmp(fixture.report.findings[i].rule, "GM301") == 0) {
            priced = &fixture.report.findings[i];
        }
    }
    cr_assert_not_null(priced);
    cr_expect(priced->saving.best_ns > 0);
    cr_expect(fixture.report.combined.best_ns > 0, "it claims no time");
    gmt_fixture_free(&fixture);
}

/* Launches while another client of CUPTI was at work have no time either, and nobody waited for them. */
Test(cycle_times, are_claimed_of_launches_that_were_measured)
{
    analyze(
        "UPDATE launch SET measured = CASE WHEN seq = 1 THEN 'hardware' END, device_start_ns = "
        "NULL, "
        "device_end_ns = NULL; INSERT INTO metric VALUES (43, 'sm_cycles_active_max', '-', "
        "'hardware', 'cycles', '-'); INSERT INTO fixture_counter (metric_id, value) VALUES (43, "
        "2000000); ",
        true);
    const struct gmt_finding *finding = NULL;
    double claimed = 0, each = 2e6 / (fixture.model.shared_wavefronts_per_s / 132e9) + 600;

    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        if (strcmp(fixture.report.findings[i].rule, "GM301") == 0) {
            finding = &fixture.report.findings[i];
        }
    }
    cr_assert_not_null(finding);
    for (size_t i = 0; i < finding->claim_count; i++) {
        claimed += (double)(finding->claims[i].end_ns - finding->claims[i].begin_ns);
    }
    cr_expect_float_eq(claimed, each, 1);
    cr_expect_float_eq(row_of(1)->device_ns, 10 * each, 10);
    /* Nothing else was on the device. */
    cr_expect_float_eq(fixture.report.gpu_busy_ns, each, 1);
    gmt_fixture_free(&fixture);
}

/* Cycles, or a clock, that make a kernel longer than the run are damaged. */
Test(cycle_times, are_no_longer_than_the_run)
{
    static const char *const damaged[] = {
        ONLY_MEASURED "UPDATE kernel_counters SET value = 1e308 WHERE metric_id = 43",
        ONLY_MEASURED "UPDATE kernel_counters SET value = 3e8 WHERE metric_id = 43",
        ONLY_MEASURED OTHER(2, 100600, 100000) OTHER(3, 100600, 150000)
            OTHER(4, 200600, 250000) "UPDATE kernel_counters SET value = 1e-300 WHERE metric_id = "
                                     "43 AND class_id > 1",
    };

    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        analyze(damaged[i], true);
        cr_expect(isnan(row_of(1)->device_ns), "case %zu: %g", i, row_of(1)->device_ns);
        cr_expect_not(row_of(1)->by_cycles);
        gmt_fixture_free(&fixture);
    }
}

/* ---- against recordings ---- */

struct score {
    int near, fair, n;
};

static void load(sqlite3 **db, struct gmt_timeline *tl, const char *path)
{
    char message[512] = "";
    int rc = gmt_open_trace(path, db, message, sizeof(message));

    cr_assert_eq(rc, 0, "%s: %s", path, message);
    rc = gmt_timeline_load(tl, *db, message, sizeof(message));
    cr_assert_eq(rc, 0, "%s: %s", path, message);
}

/* Each class in turn as if only measured launches of it were there. */
static void judge(struct gmt_timeline *tl, const struct gmt_model *model, struct score *score)
{
    for (size_t i = 0; i < tl->class_count; i++) {
        struct gmt_tl_class *class = &tl->classes[i];
        const struct gmt_tl_class kept = *class;

        if (class->timed == 0 || class->median_ns < 50e3 ||
            isnan(class->counter[GMT_M_sm_cycles_active_max])) {
            continue;
        }
        class->timed = 0;
        class->median_ns = NAN;
        gmt_cycle_times(tl, model);
        double error = fabs(class->median_ns / kept.median_ns - 1);
        score->near += error <= 0.05;
        score->fair += error <= 0.10;
        score->n++;
        *class = kept;
    }
}

Test(cycle_times, are_those_of_launches_that_were_not_measured, .timeout = 110)
{
    static const char folder[] = GMT_RECORDED_TRACES;
    struct gmt_model model;
    struct score score = {0};
    char message[256] = "", path[1024];
    DIR *traces = opendir(folder);

    cr_assert_not_null(traces);
    cr_assert_eq(gmt_model_read(&model, GMT_SOURCE_DIR "/kernels/models/nvidia-h200.json", message,
                                sizeof(message)),
                 0, "%s", message);
    model.provenance = GMT_MODEL_SHIPPED;
    for (const struct dirent *entry; (entry = readdir(traces)) != NULL;) {
        struct gmt_timeline tl;
        sqlite3 *db = NULL;

        if (strstr(entry->d_name, ".db") == NULL) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        load(&db, &tl, path);
        judge(&tl, &model, &score);
        gmt_timeline_free(&tl);
        sqlite3_close(db);
    }
    closedir(traces);
    gmt_model_free(&model);
    cr_log_info("%d of %d within 5 %%, %d within 10 %%", score.near, score.n, score.fair);
    cr_expect_geq(score.n, 150);
    cr_expect_geq(score.near, 0.80 * score.n, "%d of %d within 5 %%", score.near, score.n);
    cr_expect_geq(score.fair, 0.95 * score.n, "%d of %d within 10 %%", score.fair, score.n);
}
