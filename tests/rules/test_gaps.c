/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be checked, in words. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/trace/losses.h"
#include "libtrace/record/unmeasured.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static void analyze(struct gmt_fixture *fixture, const char *sql)
{
    gmt_fixture_load(fixture, "fixtures/GM301_negative");
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, "GM301");
}

Test(gaps, group_losses_of_one_kind_and_reason)
{
    struct gmt_fixture fixture;

    analyze(&fixture,
            "INSERT INTO loss VALUES "
            "('kernel class measured only in part', '_Z4workPfPKfi: the budget was spent', 1),"
            "('kernel class measured only in part', '_Z5blendPf: the budget was spent', 1),"
            "('kernel class measured only in part', '_Z5other: it is cooperative', 1),"
            "('entry point not covered', 'cuFirst', 12), ('entry point not covered', 'cuNext', 3)");
    cr_assert_eq(fixture.report.gap_count, 3);
    cr_assert_str_eq(fixture.report.gaps[0].why,
                     "15 calls of driver functions that are not recorded: cuFirst, cuNext");
    cr_assert_str_eq(fixture.report.gaps[1].why,
                     "1 kernel class measured only in part, it is cooperative: other");
    cr_assert_str_eq(fixture.report.gaps[2].why,
                     "2 kernel classes measured only in part, the budget was spent: work, blend");
    cr_assert_str_eq(fixture.report.gaps[2].what, "kernels");
    cr_assert(fixture.report.incomplete);
    gmt_fixture_free(&fixture);
}

/* A remedy that does not help against the reason is none. */
Test(gaps, name_what_helps_against_the_reason)
{
    const struct gmt_unmeasured_text *rows = gmt_unmeasured_texts;

    for (size_t i = 0; i < GMT_UNMEASURED_COUNT; i++) {
        struct gmt_fixture fixture;
        const struct gmt_gap *gap = NULL;
        char sql[1024];

        snprintf(
            sql, sizeof(sql),
            "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, "
            "block_z, dynamic_shared_bytes) VALUES (7, 1, 1, 1, 1, 32, 1, 1, 0);"
            "UPDATE launch SET class_id = 7 WHERE seq = 10;"
            "INSERT INTO loss VALUES ('kernel class not measured', '_Z4workPfPKfi: %s', 1)",
            rows[i].reason);
        analyze(&fixture, sql);
        for (size_t k = 0; k < fixture.report.gap_count; k++) {
            if (strstr(fixture.report.gaps[k].why, "never measured") != NULL) {
                gap = &fixture.report.gaps[k];
            }
        }
        cr_assert_not_null(gap, "%s", rows[i].reason);
        cr_expect(strstr(gap->why, rows[i].reason) != NULL, "%s", gap->why);
        if (rows[i].remedy == NULL) {
            cr_expect_null(gap->remedy, "%s", gap->remedy);
        } else {
            cr_expect_str_eq(gap->remedy, rows[i].remedy);
        }
        gmt_fixture_free(&fixture);
    }
}

/* Several kernels, and several reasons: how many each is of. */
Test(gaps, say_of_how_many_kernels_a_reason_is)
{
#define CLASS(id) \
    "INSERT INTO kernel_class (id, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, " \
    "dynamic_shared_bytes) VALUES (" id ", 1, 1, 1, 1, 32, 1, 1, 0);" \
    "UPDATE launch SET class_id = " id " WHERE seq = 10;"
    struct gmt_fixture fixture;

    analyze(&fixture,
            CLASS("7") "INSERT INTO loss VALUES ('kernel class not measured', "
                       "'_Z4workPfPKfi: it is cooperative', 2),"
                       "('kernel class not measured', '_Z5otherPf: the budget was spent', 1)");
    bool said = false;
    const char *all = "";
    for (size_t k = 0; k < fixture.report.gap_count; k++) {
        all = gmt_arena_text(&fixture.arena, "%s%s\n", all, fixture.report.gaps[k].why);
        said |= strstr(fixture.report.gaps[k].why,
                       "never measured, it is cooperative (2); the budget was spent (1): work") !=
                NULL;
    }
    cr_expect(said, "%s", all);
    gmt_fixture_free(&fixture);
}

Test(gaps, name_the_largest_loss_of_calls)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_sql(&fixture, "DELETE FROM loss");
    cr_expect_str_eq(gmt_lost_calls(fixture.db).text, "");
    gmt_fixture_sql(&fixture, "INSERT INTO loss VALUES ('frame not symbolized', '', 9), "
                              "('call not recorded', 'left by longjmp', 2)");
    cr_expect_str_eq(gmt_lost_calls(fixture.db).text, "2 calls were not recorded: left by longjmp");
    cr_expect_not(gmt_lost_calls(fixture.db).all);
    gmt_fixture_sql(&fixture, "INSERT INTO loss VALUES ('chunk lost', '', 3)");
    cr_expect_str_eq(gmt_lost_calls(fixture.db).text, "3 blocks of records were lost");
    gmt_fixture_free(&fixture);
}

Test(gaps, list_only_the_first_names)
{
    struct gmt_fixture fixture;

    analyze(&fixture,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
            "INSERT INTO loss SELECT 'entry point not covered', 'cu' || (100 + i), 100 - i FROM n");
    cr_assert_not_null(strstr(fixture.report.gaps[0].why, "cu101, cu102"));
    cr_assert_not_null(strstr(fixture.report.gaps[0].why, "cu106 and 34 more"));
    gmt_fixture_free(&fixture);
}

Test(gaps, keep_words_of_a_newer_recorder)
{
    struct gmt_fixture fixture;

    analyze(&fixture, "INSERT INTO loss VALUES ('something new', 'detail', 1)");
    cr_assert_str_eq(fixture.report.gaps[0].what, "something new");
    cr_assert_str_eq(fixture.report.gaps[0].why, "1 time: detail");
    gmt_fixture_free(&fixture);
}

Test(gaps, have_counts_beyond_32_bits)
{
    struct gmt_fixture fixture;

    analyze(&fixture, "INSERT INTO loss VALUES ('something new', 'detail', 5000000000)");
    cr_assert_str_eq(fixture.report.gaps[0].why, "5,000,000,000 times: detail");
    cr_assert_eq(fixture.report.loss_count, 1);
    cr_assert_eq(fixture.report.losses[0].count, INT64_C(5000000000));
    gmt_fixture_free(&fixture);
}

Test(gaps, name_kernels_shortly)
{
    static const struct {
        const char *mangled, *name;
    } rows[] = {{"_Z4workPfPKfi", "work"},
                {"_ZN2at6native6vectorILi4EEEvPf", "at::native::vector"},
                {"_ZN12_GLOBAL__N_14workEi", "(anonymous namespace)::work"},
                {"plain_c", "plain_c"},
                {"", ""}};
    struct gmt_arena arena = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_assert_str_eq(gmt_short_kernel_name(&arena, rows[i].mangled), rows[i].name);
    }
    gmt_arena_free(&arena);
}

Test(gaps, say_what_the_software_device_does_not_count)
{
    struct gmt_fixture fixture;

    analyze(
        &fixture,
        "INSERT INTO capability VALUES ('software_device', 'ok', NULL, NULL, NULL);"
        "INSERT INTO metric VALUES (100, 'mixed_space_requests', '', 'simulated', '-', '-'),"
        "(15, 'async_copy_instructions', '', 'simulated', '-', '-');"
        "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, grp, samples)"
        " VALUES (1, 1, 100, 5, 'simulated', 'simulated', 1),"
        " (1, 1, 15, 5, 'simulated', 'simulated', 1);"
        "INSERT INTO launch (id, api_id, begin_ns, end_ns, result, capturing, kind, seq, "
        "no_activity, arguments) VALUES (999999, 3, 1, 2, 0, 0, 'graph', 99, 1, 'unknown')");
    const struct gmt_report *report = &fixture.report;
    cr_assert_eq(report->gap_count, 2, "async copies are counted: %zu", report->gap_count);
    cr_assert_str_eq(report->gaps[0].what, "counters");
    cr_assert_not_null(strstr(report->gaps[0].why, "1 kernel class with single instructions"));
    cr_assert_str_eq(report->gaps[1].why,
                     "1 launch of graphs: the kernels in them are not counted");
    gmt_fixture_free(&fixture);
}

Test(gaps, say_when_prices_come_from_a_model_of_another_device)
{
    struct gmt_fixture fixture;
    struct gmt_writer_options options = {.top = 10};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    analyze(&fixture, "UPDATE device SET name = 'Another GPU', uuid = 'GPU-another'");
    cr_assert_eq(fixture.report.model_provenance, GMT_MODEL_MODELLED);
    cr_assert_eq(gmt_writer_find("text")->write(&fixture.report, &options, out), 0);
    fclose(out);
    cr_assert_not_null(strstr(text, "modelled with the Test GPU model, not your device"), "%s",
                       text);
    cr_assert_not_null(strstr(text, "no device model of such a GPU"), "%s", text);
    free(text);
    gmt_fixture_free(&fixture);
}

static char *text_of(const struct gmt_report *report, const struct gmt_writer *writer)
{
    struct gmt_writer_options options = {.top = 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_not_null(out);
    cr_assert_eq(writer->write(report, &options, out), 0);
    cr_assert_eq(fclose(out), 0);
    return text;
}

/* Status 256 is an exit with 1, which is a program's own affair. What one did that was killed may be less than what it does. */
Test(gaps, a_failed_run_is_reported_as_such)
{
    static const struct {
        const char *sql, *ended;
        double code, signal; /* -1: none */
        bool failed;
    } cases[] = {
        {"UPDATE process SET exit_status = 0", "exit", 0, -1, false},
        {"UPDATE process SET exit_status = NULL", "exit", -1, -1, false},
        {"UPDATE process SET exit_status = 256", "exit status 1", 1, -1, true},
        {"UPDATE process SET exit_status = 139, end_reason = 'killed'", "ended by signal 11", -1,
         11, true},
        {"UPDATE process SET exit_status = 256, end_reason = 'exec'", "exec", 1, -1, false},
        {"UPDATE process SET exit_status = -5", "exit", -1, -1, false},
        {"UPDATE process SET exit_status = 65536", "exit", -1, -1, false},
    };
    static const struct gmt_writer *const writers[] = {&gmt_writer_text, &gmt_writer_markdown};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        analyze(&fixture, cases[i].sql);
        const struct gmt_report *report = &fixture.report;
        cr_expect_str_eq(report->ended, cases[i].ended, "%zu: %s", i, report->ended);
        cr_expect_eq(report->exit_code >= 0 ? report->exit_code : -1, cases[i].code, "%zu", i);
        cr_expect_eq(report->exit_signal >= 0 ? report->exit_signal : -1, cases[i].signal, "%zu",
                     i);
        cr_expect_eq(report->failed, cases[i].failed, "%zu", i);
        for (size_t k = 0; k < 2; k++) {
            char *text = text_of(report, writers[k]), line[64];
            bool by_signal = cases[i].signal > 0;

            (void)snprintf(line, sizeof(line),
                           by_signal ? "he program failed (%s): what" : "he program ended with %s",
                           report->ended);
            cr_expect_eq(strstr(text, "he program failed (") != NULL, by_signal, "%zu", i);
            cr_expect_eq(strstr(text, line) != NULL, cases[i].failed, "%zu: %s", i, text);
            free(text);
        }
        gmt_fixture_free(&fixture);
    }
}
