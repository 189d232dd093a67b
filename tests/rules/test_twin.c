/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded sample program against its repaired twin: every predicted gain holds. "Points" are
 * points of the bad kernel's run time. With --verbose=1 the program prints all figures.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/trace/open.h"
#include "tests/rules/fixture.h"

/* A recording of tests/data, unpacked, analysed with the shipped model. */
static void load_recording(struct gmt_fixture *fixture, const char *name)
{
    char directory[] = "/tmp/gmtrace-rules.XXXXXX", path[128], command[512], message[256] = "";

    *fixture = (struct gmt_fixture){0};
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/trace.db", directory);
    snprintf(command, sizeof(command), "gzip -dc '%s/tests/data/%s.db.gz' > %s", GMT_SOURCE_DIR,
             name, path);
    /* NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a test's own fixed command. */
    cr_assert_eq(system(command), 0);
    int rc = gmt_open_trace(path, &fixture->db, message, sizeof(message));
    cr_assert_eq(rc, 0, "%s", message);
    rc = gmt_model_read(&fixture->model, GMT_SOURCE_DIR "/kernels/models/nvidia-h200.json", message,
                        sizeof(message));
    cr_assert_eq(rc, 0, "%s", message);
    gmt_fixture_analyze(fixture, NULL);
    unlink(path);
    rmdir(directory);
}

static double kernel_time(const struct gmt_fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->timeline.class_count; i++) {
        if (strncmp(fixture->timeline.classes[i].name, name, strlen(name)) == 0) {
            return fixture->timeline.classes[i].total_ns;
        }
    }
    return NAN;
}

static const struct gmt_finding *find(const struct gmt_fixture *fixture, const char *rule,
                                      const char *kernel)
{
    for (size_t i = 0; i < fixture->report.finding_count; i++) {
        const struct gmt_finding *f = &fixture->report.findings[i];

        if (strcmp(f->rule, rule) == 0 && f->where.kernel != NULL &&
            strncmp(f->where.kernel, kernel, strlen(kernel)) == 0) {
            return f;
        }
    }
    return NULL;
}

Test(twin, shows_what_was_predicted_for_the_kernels)
{
    static const struct {
        const char *rule, *slow, *fast;
        double points;
    } rows[] = {{"GM306", "median_by_insertion", "median_by_network", 5},
                {"GM301", "shade_by_column", "shade_by_row", 6},
                {"GM401", "transpose_unpadded", "transpose_padded", 7},
                {"GM404", "blur_with_big_ring", "blur_in_registers", 10},
                /* It writes what it has just read: dearer than the calibrated copies. */
                {"GM202", "join_trail", "join_trail", 6}};
    struct gmt_fixture slow, fast;

    load_recording(&slow, "pipeline_slow");
    load_recording(&fast, "pipeline_fast");
    cr_assert_eq(fast.report.finding_count, 0, "%s", gmt_fixture_found(&fast.report));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct gmt_finding *f = find(&slow, rows[i].rule, rows[i].slow);
        double before_ns = kernel_time(&slow, rows[i].slow);
        double truth_ns = before_ns - kernel_time(&fast, rows[i].fast);

        cr_assert_not_null(f, "%s of %s", rows[i].rule, rows[i].slow);
        double points = 100 * fabs(f->saving.best_ns - truth_ns) / before_ns;
        cr_log_info("%s %s: truth %.2f ms, predicted %.2f (%.2f to %.2f), %.1f points", f->rule,
                    rows[i].slow, truth_ns / 1e6, f->saving.best_ns / 1e6, f->saving.low_ns / 1e6,
                    f->saving.high_ns / 1e6, points);
        cr_assert_leq(points, rows[i].points, "%s: %.1f points", rows[i].slow, points);
        cr_assert_leq(f->saving.low_ns, truth_ns, "%s", rows[i].slow);
        cr_assert_geq(f->saving.high_ns, truth_ns, "%s", rows[i].slow);
    }
    gmt_fixture_free(&slow);
    gmt_fixture_free(&fast);
}

/* Sum over copies of a direction and class, of at least that many bytes. */
static double copy_time(const struct gmt_fixture *fixture, unsigned direction, double least_bytes)
{
    double sum_ns = 0;

    for (size_t i = 0; i < fixture->timeline.copy_count; i++) {
        const struct gmt_tl_copy *copy = &fixture->timeline.copies[i];

        if (copy->direction == direction && (double)copy->bytes >= least_bytes) {
            sum_ns += gmt_copy_cost_ns(&fixture->timeline, copy);
        }
    }
    return sum_ns;
}

Test(twin, shows_what_was_predicted_for_pinned_copies)
{
    static const unsigned directions[] = {GMT_DIR_H2D, GMT_DIR_D2H};
    struct gmt_fixture slow, fast;

    load_recording(&slow, "pipeline_slow");
    load_recording(&fast, "pipeline_fast");
    for (size_t d = 0; d < 2; d++) {
        double before_ns = copy_time(&slow, directions[d], 1e6);
        double truth_ns = before_ns - copy_time(&fast, directions[d], 1e6);
        const struct gmt_finding *found = NULL;

        for (size_t i = 0; i < slow.report.finding_count; i++) {
            const struct gmt_finding *f = &slow.report.findings[i];

            if (strcmp(f->rule, "GM102") == 0 && fabs(f->cost_ns - before_ns) < 0.01 * before_ns) {
                found = f;
            }
        }
        cr_assert_not_null(found);
        double points = 100 * fabs(found->saving.best_ns - truth_ns) / before_ns;
        cr_log_info("GM102 %s: truth %.1f ms, predicted %.1f (%.1f to %.1f), %.1f points",
                    gmt_name_direction(directions[d]), truth_ns / 1e6, found->saving.best_ns / 1e6,
                    found->saving.low_ns / 1e6, found->saving.high_ns / 1e6, points);
        cr_assert_leq(points, 5);
        cr_assert_leq(found->saving.low_ns, truth_ns);
        cr_assert_geq(found->saving.high_ns, truth_ns);
    }
    gmt_fixture_free(&slow);
    gmt_fixture_free(&fast);
}
