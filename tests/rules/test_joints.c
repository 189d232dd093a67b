/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with two problems: one saving for both repairs, and the share of each, in every report. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/writers.h"
#include "tests/rules/fixture.h"

/* A tile read down its columns, by blocks of a warp and a half. */
static void load(struct gmt_fixture *fixture)
{
    gmt_fixture_load(fixture, "fixtures/GM401_positive");
    gmt_fixture_sql(fixture, "UPDATE kernel_class SET block_x = 48");
    gmt_fixture_analyze(fixture, NULL);
}

static const struct gmt_finding *finding_of(const struct gmt_report *report, const char *rule)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].rule, rule) == 0) {
            return &report->findings[i];
        }
    }
    return NULL;
}

Test(joints, predict_what_both_repairs_save_together)
{
    struct gmt_fixture fixture;

    load(&fixture);
    const struct gmt_report *report = &fixture.report;
    const struct gmt_finding *banks = finding_of(report, "GM401");
    const struct gmt_finding *lanes = finding_of(report, "GM502");
    cr_assert(banks != NULL && lanes != NULL);
    cr_assert_eq(report->joint_count, 1);
    const struct gmt_joint *joint = &report->joints[0];
    double more = banks->saving.best_ns, less = lanes->saving.best_ns;
    double expected = more + less * (1 - more / banks->cost_ns);

    cr_assert_float_eq(joint->saving.best_ns, expected, 1e-3 * expected);
    cr_assert_geq(joint->saving.best_ns, more);
    cr_assert_leq(joint->saving.low_ns, joint->saving.best_ns);
    cr_assert_geq(joint->saving.high_ns, joint->saving.best_ns);
    cr_assert_leq(joint->saving.high_ns, 1.001 * joint->cost_ns);
    cr_assert_eq(report->combined.best_ns, joint->saving.best_ns);
    cr_assert_float_eq(joint->parts[0].share + joint->parts[1].share, 1, 1e-9);
    gmt_fixture_free(&fixture);
}

Test(joints, stand_in_every_report)
{
    static const struct {
        const char *format, *text;
    } rows[] = {{"text", "together  "}, {"markdown", ": together about "}, {"json", "\"share\": "}};
    struct gmt_fixture fixture;

    load(&fixture);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gmt_writer_options options = {.top = 10};
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        cr_assert_eq(gmt_writer_find(rows[i].format)->write(&fixture.report, &options, out), 0);
        fclose(out);
        cr_log_info("%s", text);
        cr_assert_not_null(strstr(text, rows[i].text), "%s", rows[i].format);
        free(text);
    }
    gmt_fixture_free(&fixture);
}
