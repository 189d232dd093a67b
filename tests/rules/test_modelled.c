/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of the software device with a device model: times and savings by it, each of them called modelled. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/compare/compare.h"
#include "analyzer/run/rules.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static void load(struct gmt_fixture *fixture, const char *name)
{
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");

    cr_assert_not_null(sql);
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    free(sql);
}

#define MOST_RULES 64 /* test_rules.c holds that there are no more */

ParameterizedTestParameters(modelled, every_time_says_so)
{
    static size_t index[MOST_RULES];

    for (size_t i = 0; i < gmt_rule_count && i < MOST_RULES; i++) {
        index[i] = i;
    }
    return cr_make_param_array(size_t, index, gmt_rule_count);
}

/* "3.20 ms" and its like: a number before a unit of time. */
static bool names_a_time(const char *text)
{
    static const char *const units[] = {" ns", " µs", " ms", " s"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        for (const char *at = text; (at = strstr(at, units[i])) != NULL; at++) {
            char end = at[strlen(units[i])];

            if (at > text && at[-1] >= '0' && at[-1] <= '9' && strchr(" ,;:.)", end) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static void check(const struct gmt_finding *f)
{
    cr_expect_leq(f->severity, GMT_SEVERITY_MEDIUM, "%s", f->rule);
    cr_expect(isnan(f->saving.share), "%s is %g of a run", f->rule, f->saving.share);
    cr_expect(!names_a_time(f->headline) || strstr(f->headline, "modelled") != NULL, "%s: %s",
              f->rule, f->headline);
    for (size_t i = 0; i < f->evidence_count; i++) {
        cr_expect(strcmp(f->evidence[i].unit, "ns") != 0 ||
                      strncmp(f->evidence[i].name, "modelled", 8) == 0,
                  "%s: %s is a time", f->rule, f->evidence[i].name);
    }
    if (isnan(f->saving.best_ns)) {
        return;
    }
    cr_expect(f->modelled, "%s", f->rule);
    cr_expect_eq(f->confidence, GMT_CONFIDENCE_MODELLED, "%s", f->rule);
    cr_expect_not_null(strstr(f->method, "modelled for "), "%s: %s", f->rule, f->method);
    cr_expect_null(strstr(f->method, "measured"), "%s: %s", f->rule, f->method);
    cr_expect_leq(f->saving.low_ns, f->saving.best_ns / 2, "%s", f->rule);
    cr_expect_geq(f->saving.high_ns, f->saving.best_ns, "%s", f->rule);
}

ParameterizedTest(size_t *parameter, modelled, every_time_says_so)
{
    const char *rule = gmt_rules[*parameter]->id;
    struct gmt_fixture fixture;
    char name[64];

    snprintf(name, sizeof(name), "fixtures/%s_positive", rule);
    load(&fixture, name);
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert(fixture.report.modelled);
    cr_expect(isnan(fixture.report.wall_ns));
    for (size_t i = 0; i < fixture.report.finding_count; i++) {
        check(&fixture.report.findings[i]);
    }
    for (size_t i = 0; i < fixture.report.note_count; i++) {
        check(&fixture.report.notes[i]);
    }
    gmt_fixture_free(&fixture);
}

/* A copy alone takes what the model's curve says of such a copy, one of many what that of many says. */
Test(modelled, copies_take_what_the_model_says)
{
    struct gmt_fixture fixture;
    double sum = 0;

    load(&fixture, "fixtures/GM102_positive");
    gmt_fixture_analyze(&fixture, "GM102");
    const struct gmt_timeline *tl = &fixture.timeline;
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];
        size_t way = copy->direction == GMT_DIR_D2H,
               mode = copy->blocking ? GMT_MODE_SYNC : GMT_MODE_ASYNC;
        const struct gmt_model_curve *alone = &fixture.model.copy[way][GMT_HOST_PAGEABLE][mode];
        const struct gmt_model_curve *many =
            &fixture.model.back_to_back[way][GMT_HOST_PAGEABLE][mode];
        double ns = gmt_curve_at(copy->run >= 0 && many->n > 0 ? many : alone, (double)copy->bytes);

        cr_assert_eq(copy->host_class, GMT_MEM_PAGEABLE);
        cr_expect_float_eq(gmt_copy_cost_ns(tl, copy), ns, 1, "%g", ns);
        sum += ns;
    }
    cr_expect_gt(tl->copy_count, 0);
    cr_expect_float_eq(fixture.report.copy_ns, sum, 2 * (double)tl->copy_count);
    gmt_fixture_free(&fixture);
}

/* Twice the launches are twice the time; and times of the run have no part in it. */
Test(modelled, kernels_take_what_their_counts_say)
{
    struct gmt_fixture once, later;

    load(&once, "fixtures/GM301_positive");
    gmt_fixture_analyze(&once, "GM301");
    load(&later, "fixtures/GM301_positive");
    gmt_fixture_sql(&later, "UPDATE launch SET begin_ns = begin_ns * 3, end_ns = end_ns * 7");
    gmt_fixture_analyze(&later, "GM301");
    cr_assert_gt(once.report.kernel_count, 0);
    double ns = once.report.kernels[0].device_ns;
    cr_expect_gt(ns, 0);
    cr_expect_float_eq(later.report.kernels[0].device_ns, ns, 1e-6 * ns);
    cr_expect_float_eq(once.timeline.classes[0].median_ns *
                           (double)once.timeline.classes[0].launches,
                       ns, 1e-6 * ns);
    /* What the model adds to the counters is none of the report's. */
    cr_expect(isnan(once.timeline.classes[0].counter[GMT_M_dram_read_bytes]));
    cr_expect(isnan(once.report.kernels[0].achieved_occupancy));
    gmt_fixture_free(&once);
    gmt_fixture_free(&later);
}

/* Of more sectors, more passes or more instructions no kernel gets faster. */
Test(modelled, more_work_takes_no_less_time)
{
    static const char *const more[] = {"3", "4", "9", "10", "42"};
    struct gmt_fixture plain;

    load(&plain, "fixtures/GM301_positive");
    gmt_fixture_analyze(&plain, "GM301");
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        struct gmt_fixture fixture;
        char sql[128];

        load(&fixture, "fixtures/GM301_positive");
        snprintf(sql, sizeof(sql),
                 "UPDATE kernel_counters SET value = 8 * value WHERE metric_id = %s", more[i]);
        gmt_fixture_sql(&fixture, sql);
        gmt_fixture_analyze(&fixture, "GM301");
        cr_expect_geq(fixture.report.kernel_ns, plain.report.kernel_ns, "metric %s", more[i]);
        gmt_fixture_free(&fixture);
    }
    gmt_fixture_free(&plain);
}

static char *render(struct gmt_fixture *fixture, const char *format)
{
    struct gmt_writer_options options = {.top = 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find(format)->write(&fixture->report, &options, out), 0);
    fclose(out);
    return text;
}

Test(modelled, every_format_says_so)
{
    static const struct {
        const char *format, *words;
    } formats[] = {
        {"text", "times are modelled for a Test GPU, none is measured"},
        {"text", "modelled from exact counts)"},
        {"text", "kernels, modelled"},
        {"markdown", "kernels, modelled"},
        {"markdown", "times are modelled for a Test GPU"},
        {"json", "\"modelled\": true"},
        {"sarif", "modelled from exact counts."},
        {"csv", ",modelled,"},
    };
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_gt(fixture.report.finding_count, 0);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        char *text = render(&fixture, formats[i].format);

        cr_expect_not_null(strstr(text, formats[i].words), "%s: %s\n%s", formats[i].format,
                           formats[i].words, text);
        /* The pages of rules, which SARIF holds, speak of runs. */
        cr_expect(strcmp(formats[i].format, "sarif") == 0 || strstr(text, "of the run)") == NULL,
                  "%s", formats[i].format);
        free(text);
    }
    gmt_fixture_free(&fixture);
}

/* What the model has no figure for ranks below, with its reason. */
Test(modelled, what_has_no_figure_ranks_below)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM301_positive");
    fixture.model.copy[0][GMT_HOST_PAGEABLE][GMT_MODE_SYNC].n = 0;
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_report *report = &fixture.report;
    for (size_t i = 1; i < report->finding_count; i++) {
        cr_expect(isfinite(report->findings[i - 1].saving.best_ns) ||
                  isnan(report->findings[i].saving.best_ns));
    }
    gmt_fixture_free(&fixture);
}

/* What is modelled and what was measured are no measure of each other. */
Test(modelled, comparisons_judge_no_modelled_time_by_a_measured_one)
{
    struct gmt_fixture gpu, device;
    struct gmt_summary a, b;
    struct gmt_comparison mixed, alike;
    struct gmt_arena arena = {0};

    gmt_fixture_load(&gpu, "fixtures/GM201_positive");
    gmt_fixture_analyze(&gpu, NULL);
    load(&device, "fixtures/GM201_positive");
    gmt_fixture_analyze(&device, NULL);
    gmt_summary_fill(&a, &gpu.report, &arena);
    gmt_summary_fill(&b, &device.report, &arena);
    gmt_compare(&mixed, &a, &b, &arena);
    cr_expect_not_null(strstr(mixed.warning, "its times are modelled for a Test GPU"), "%s",
                       mixed.warning);
    cr_expect(isnan(mixed.figures[GMT_FIGURE_saving_ns].b));
    for (size_t i = 0; i < mixed.finding_count; i++) {
        cr_expect(mixed.findings[i].fate != GMT_FATE_BETTER &&
                      mixed.findings[i].fate != GMT_FATE_WORSE,
                  "%s", mixed.findings[i].why);
    }
    gmt_compare(&alike, &b, &b, &arena);
    cr_expect_not_null(strstr(alike.warning, "all times are modelled for a Test GPU"), "%s",
                       alike.warning);
    gmt_arena_free(&arena);
    gmt_fixture_free(&gpu);
    gmt_fixture_free(&device);
}
