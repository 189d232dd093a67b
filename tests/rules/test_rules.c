/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule fires on its positive fixture, is silent on its negative one, and explains itself. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/run/rule_pages.h"
#include "analyzer/run/rules.h"
#include "reports/model/words.h"
#include "tests/rules/fixture.h"

static void free_parameters(struct criterion_test_params *parameters)
{
    cr_free(parameters->params);
}

/* Tests run in processes of their own: a parameter is an index, no pointer. */
static struct criterion_test_params every_rule(void)
{
    size_t *index = cr_calloc(gmt_rule_count, sizeof(*index));

    for (size_t i = 0; i < gmt_rule_count; i++) {
        index[i] = i;
    }
    return cr_make_param_array(size_t, index, gmt_rule_count, free_parameters);
}

ParameterizedTestParameters(rules, fires_on_the_bad_program)
{
    return every_rule();
}

/* The finding says everything that a reader may ask of it. */
static void check_complete(const struct gmt_finding *f)
{
    cr_assert_not_null(f->headline);
    cr_assert_not_null(f->fix);
    cr_assert_not_null(f->method);
    cr_assert_not_null(f->sql);
    cr_assert_gt(strlen(f->where.label), 0);
    cr_assert_gt(f->evidence_count, 2);
    cr_assert_eq(strlen(f->fingerprint), 16);
    cr_assert_neq(f->severity, GMT_SEVERITY_NOTE);
    /* Held memory saves bytes, and not always time. */
    if (f->saved_peak_bytes > 0 && isnan(f->saving.best_ns)) {
        cr_assert_not_null(f->saved_peak_of);
        cr_assert(isnan(f->cost_ns) && f->claim_count == 0);
        return;
    }
    cr_assert_geq(f->saving.best_ns, f->saving.low_ns);
    cr_assert_leq(f->saving.best_ns, f->saving.high_ns);
    cr_assert_leq(f->saving.high_ns, f->cost_ns * 1.000001);
    cr_assert_gt(f->claim_count, 0);
}

ParameterizedTest(size_t *parameter, rules, fires_on_the_bad_program)
{
    const struct gmt_rule *rule = gmt_rules[*parameter];
    struct gmt_fixture fixture;
    char name[64];

    snprintf(name, sizeof(name), "fixtures/%s_positive", rule->id);
    gmt_fixture_load(&fixture, name);
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 1, "%s: %zu findings: %s", name,
                 fixture.report.finding_count, gmt_fixture_found(&fixture.report));
    cr_assert_str_eq(fixture.report.findings[0].rule, rule->id);
    check_complete(&fixture.report.findings[0]);
    /* Its own statement runs on the trace. */
    gmt_fixture_sql(&fixture, fixture.report.findings[0].sql);
    gmt_fixture_free(&fixture);
}

ParameterizedTestParameters(rules, is_silent_on_the_good_twin)
{
    return every_rule();
}

ParameterizedTest(size_t *parameter, rules, is_silent_on_the_good_twin)
{
    struct gmt_fixture fixture;
    char name[64];

    snprintf(name, sizeof(name), "fixtures/%s_negative", gmt_rules[*parameter]->id);
    gmt_fixture_load(&fixture, name);
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 0, "%s: %s", name,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(rules, explain_themselves_within_the_page)
{
    static const char *const parts[] = {
        "## What\n", "## How it is seen\n", "## How it is priced\n", "## Thresholds\n",
        "## Fix\n",  "## Limits\n",         "## Example\n",          "## Read more\n"};

    for (size_t i = 0; i < gmt_rule_count; i++) {
        const struct gmt_rule *rule = gmt_rules[i];
        const char *text = gmt_rule_page(rule->id);
        char head[256];

        snprintf(head, sizeof(head), "# %s %s: %s\n\nCategory: %s.\nNeeds: ", rule->id, rule->slug,
                 rule->title, rule->category);
        cr_assert_eq(strncmp(text, head, strlen(head)), 0, "%s: its page does not begin with %s",
                     rule->id, head);

        for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
            cr_assert_not_null(strstr(text, parts[p]), "%s: no %s", gmt_rules[i]->id, parts[p]);
        }
        while (*text != '\0') {
            size_t length = strcspn(text, "\n");

            cr_assert_leq(length, 100, "%s: %.*s", gmt_rules[i]->id, (int)length, text);
            text += length + (text[length] == '\n');
        }
    }
}

Test(rules, no_page_is_of_none)
{
    size_t pages = 0;

    for (const struct gmt_rule_page_text *page = gmt_rule_page_texts; page->id != NULL; page++) {
        cr_expect_not_null(gmt_rule_find(page->id), "docs/rules: %s", page->id);
        pages++;
    }
    cr_assert_eq(pages, gmt_rule_count);
}

Test(rules, are_found_by_id_and_by_slug)
{
    for (size_t i = 0; i < gmt_rule_count; i++) {
        cr_assert_eq(gmt_rule_find(gmt_rules[i]->id), gmt_rules[i]);
        cr_assert_eq(gmt_rule_find(gmt_rules[i]->slug), gmt_rules[i]);
    }
    cr_assert_null(gmt_rule_find("GM999"));
}

Test(rules, say_that_they_could_not_be_checked_without_a_model)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_drop_model(&fixture);
    gmt_fixture_analyze(&fixture, "GM101");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
    cr_assert_not_null(strstr(fixture.report.rules[0].why, "no device model"));
    cr_assert(fixture.report.incomplete);
    gmt_fixture_free(&fixture);
}

Test(rules, fire_on_excess_work_where_nothing_has_a_time)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(&fixture, "UPDATE launch SET device_start_ns = NULL, device_end_ns = NULL");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert(isnan(f->saving.best_ns));
    cr_assert_eq(f->severity, GMT_SEVERITY_MEDIUM);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_assert_gt(f->excess_bytes, 1e9);
    gmt_fixture_free(&fixture);
}

Test(rules, say_whose_calibration_it_is)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE device SET uuid = 'GPU-other'");
    gmt_fixture_analyze(&fixture, "GM101");
    cr_assert_eq(fixture.report.model_provenance, GMT_MODEL_SAME_NAME);
    enum gmt_confidence confidence = fixture.report.findings[0].confidence;
    cr_assert_eq(confidence, GMT_CONFIDENCE_CALIBRATED);
    cr_assert_str_eq(gmt_confidence_words(&fixture.report, confidence),
                     "calibrated on another device");
    cr_assert_str_eq(gmt_match_name(fixture.report.model_provenance), "another board");
    gmt_fixture_free(&fixture);
}

Test(rules, call_prices_of_another_gpu_modelled)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM101_positive");
    gmt_fixture_sql(&fixture, "UPDATE device SET uuid = 'GPU-other', name = 'Other GPU'");
    gmt_fixture_analyze(&fixture, "GM101");
    cr_assert_eq(fixture.report.model_provenance, GMT_MODEL_MODELLED);
    cr_assert_eq(fixture.report.findings[0].confidence, GMT_CONFIDENCE_MODELLED);
    gmt_fixture_free(&fixture);
}

Test(rules, give_the_exact_2d_copy)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM104_positive");
    gmt_fixture_analyze(&fixture, "GM104");
    cr_assert_not_null(
        strstr(fixture.report.findings[0].sketch, "cudaMemcpy2D(dst, 4096, src, 8000, 4000, 512,"));
    gmt_fixture_free(&fixture);
}
