/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule on traces of the software device without a device model: exact counts, and nothing that looks like a time. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/run/rules.h"
#include "reports/model/words.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static void load(struct gmt_fixture *fixture, const char *rule, const char *which)
{
    char name[64];

    snprintf(name, sizeof(name), "fixtures/%s_%s", rule, which);
    gmt_fixture_load(fixture, name);
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");
    cr_assert_not_null(sql);
    gmt_fixture_sql(fixture, sql);
    free(sql);
    gmt_fixture_drop_model(fixture);
}

/* What a rule does about the program that is bad for it; its fixture says it, unless it is a finding. */
enum answer { FINDS, NOTES, CANNOT };

static enum answer answer_of(const char *rule)
{
    static const char head[] = "\n-- On the software device: ";
    char path[512];

    snprintf(path, sizeof(path), GMT_SOURCE_DIR "/tests/rules/fixtures/%s_positive.sql", rule);
    char *sql = gmt_fixture_read(path);
    cr_assert_not_null(sql, "%s is missing", path);
    const char *line = strstr(sql, head);
    enum answer answer = FINDS;
    if (line != NULL) {
        const char *words = line + strlen(head);

        answer = strncmp(words, "a note", 6) == 0 ? NOTES : CANNOT;
        cr_assert(answer == NOTES || strncmp(words, "could not check", 15) == 0, "%s: %.40s", path,
                  words);
    }
    free(sql);
    return answer;
}

#define MOST_RULES 64 /* test_rules.c holds that there are no more */

/* Tests run in processes of their own: a parameter is an index, no pointer. */
static struct criterion_test_params every_rule(void)
{
    static size_t index[MOST_RULES];

    for (size_t i = 0; i < gmt_rule_count && i < MOST_RULES; i++) {
        index[i] = i;
    }
    return cr_make_param_array(size_t, index, gmt_rule_count);
}

static void check_priceless(const struct gmt_finding *f)
{
    cr_assert(isnan(f->saving.low_ns) && isnan(f->saving.best_ns) && isnan(f->saving.high_ns));
    cr_assert(isnan(f->saving.share));
    cr_assert(isnan(f->cost_ns), "%s costs %g ns", f->rule, f->cost_ns);
    cr_assert_eq(f->claim_count, 0);
    cr_assert_leq(f->severity, GMT_SEVERITY_MEDIUM);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_HEURISTIC);
    cr_assert_not_null(strstr(f->method, "n/a: no times"), "%s: %s", f->rule, f->method);
    cr_assert_null(strstr(f->headline, "kernel time"), "%s", f->headline);
    cr_assert_null(strstr(f->headline, "–"), "%s", f->headline);
    for (size_t i = 0; i < f->evidence_count; i++) {
        cr_assert(strcmp(f->evidence[i].unit, "ns") != 0 || isnan(f->evidence[i].value),
                  "%s: %s is a time", f->rule, f->evidence[i].name);
    }
}

ParameterizedTestParameters(simulated, answers_without_times)
{
    return every_rule();
}

ParameterizedTest(size_t *parameter, simulated, answers_without_times)
{
    const char *rule = gmt_rules[*parameter]->id;
    enum answer answer = answer_of(rule);
    struct gmt_fixture fixture;

    load(&fixture, rule, "positive");
    gmt_fixture_analyze(&fixture, rule);
    const struct gmt_report *report = &fixture.report;
    cr_assert_eq(report->finding_count, answer == FINDS, "%s: %zu findings: %s", rule,
                 report->finding_count, gmt_fixture_found(report));
    for (size_t i = 0; i < report->finding_count; i++) {
        check_priceless(&report->findings[i]);
    }
    if (answer == NOTES) {
        cr_assert_eq(report->note_count, 1);
    }
    if (answer == CANNOT) {
        cr_assert_eq(report->rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
        cr_assert_str_eq(report->rules[0].why, "no hardware (software device)");
    }
    if (answer == FINDS) {
        gmt_fixture_sql(&fixture, report->findings[0].sql);
    }
    gmt_fixture_free(&fixture);
}

ParameterizedTestParameters(simulated, are_silent_on_the_good_twin)
{
    return every_rule();
}

ParameterizedTest(size_t *parameter, simulated, are_silent_on_the_good_twin)
{
    struct gmt_fixture fixture;

    load(&fixture, gmt_rules[*parameter]->id, "negative");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_eq(fixture.report.finding_count, 0, "%s: %s", gmt_rules[*parameter]->id,
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

/* What needs registers is not known, which is not 0. */
Test(simulated, registers_are_not_known)
{
    struct gmt_fixture fixture;
    bool found = false;

    load(&fixture, "GM306", "positive");
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_finding *f = &fixture.report.findings[0];
    for (size_t i = 0; i < f->evidence_count; i++) {
        if (strcmp(f->evidence[i].name, "registers") != 0) {
            continue;
        }
        found = true;
        cr_expect(isnan(f->evidence[i].value), "%g", f->evidence[i].value);
    }
    cr_expect(found);
    cr_assert_gt(fixture.report.kernel_count, 0);
    cr_expect(isnan(fixture.report.kernels[0].theoretical_occupancy));
    gmt_fixture_free(&fixture);
}

/* The other case of GM405: what it says of a kernel. */
Test(simulated, boxes_of_half_sectors_are_priceless)
{
    struct gmt_fixture fixture;

    load(&fixture, "GM405", "negative");
    gmt_fixture_sql(&fixture, "UPDATE tensor_map SET box_0 = 8 WHERE id = 2");
    gmt_fixture_analyze(&fixture, "GM405");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    check_priceless(&fixture.report.findings[0]);
    gmt_fixture_free(&fixture);
}

/* The same ratios beside a kernel that does far more of such work, and does it well. */
Test(simulated, small_parts_of_all_work_are_not_shown)
{
    static const char *const too_little[] = {"GM301", "GM310", "GM401", "GM306", "GM308"};

    for (size_t i = 0; i < sizeof(too_little) / sizeof(too_little[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, too_little[i], "positive");
        gmt_fixture_sql(
            &fixture,
            "INSERT INTO kernel (id, name, mangled) VALUES (9, 'large', 'large');"
            "INSERT INTO kernel_class (id, kernel_id) VALUES (9, 9);"
            "INSERT INTO launch (id, api_id, begin_ns, end_ns, result, capturing, kind, "
            "seq, class_id, no_activity, arguments) "
            "VALUES (999999, 3, 90000000, 90001000, 0, 0, 'kernel', 99, 9, 1, 'unknown');"
            "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, "
            "grp, samples) SELECT 99, 9, id, 1e12, 'simulated', 'simulated', 1 "
            "FROM metric WHERE name LIKE '%sectors' OR name LIKE '%wavefronts' OR name "
            "LIKE '%requests'; UPDATE kernel_counters SET value = 32e12 WHERE class_id = 9 "
            "AND metric_id IN (SELECT id FROM metric WHERE name LIKE '%bytes');");
        gmt_fixture_analyze(&fixture, too_little[i]);
        cr_assert_eq(fixture.report.finding_count, 0, "%s: %s", too_little[i],
                     gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

/* The device counts the ideal itself: broadcasts ask for more bytes than they touch. */
Test(simulated, believe_the_ideal_that_was_counted)
{
    struct gmt_fixture fixture;

    load(&fixture, "GM301", "negative");
    gmt_fixture_sql(&fixture,
                    "INSERT INTO metric VALUES (80, 'global_load_ideal_sectors', '', 'simulated', "
                    "'sectors', '-');"
                    "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, value, source, "
                    "grp, samples) VALUES (1, 1, 80, 4000000, 'simulated', 'simulated', 1)");
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "ten times the ideal, which bytes / 32 hides: %s",
                 gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

static const char instructions[] =
    "INSERT INTO string VALUES (50, '/src/kernels/work.cu'), (51, 'ld.global.f32'), "
    "(52, 'st.shared.f32'), (53, '/src/get.h');"
    "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, ptx_line, "
    "kind, executed, lanes, sectors, ideal_sectors, wavefronts, ideal_wavefronts, source) VALUES "
    "(1, 1, 4, 51, 50, 42, 10, 'global_load', 9, 9, 900, 100, NULL, NULL, 'simulated'),"
    "(1, 1, 5, 51, 50, 42, 11, 'global_load', 9, 9, 200, 100, NULL, NULL, 'simulated'),"
    "(1, 1, 6, 51, NULL, NULL, 12, 'global_load', 9, 9, 200, 100, NULL, NULL, 'simulated'),"
    "(1, 1, 7, 51, 50, 44, 13, 'global_load', 9, 9, 100, 100, NULL, NULL, 'simulated'),"
    "(1, 1, 8, 52, 50, 45, 14, 'shared_store', 9, 9, NULL, NULL, 99, 9, 'simulated')";

Test(simulated, name_the_source_lines)
{
    struct gmt_fixture fixture;

    load(&fixture, "GM301", "positive");
    gmt_fixture_sql(&fixture, instructions);
    gmt_fixture_analyze(&fixture, "GM301");
    cr_assert_eq(fixture.report.finding_count, 1, "%s", gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->line_count, 2, "neither ideal loads nor shared memory");
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]), "work.cu:42");
    cr_assert_float_eq(f->lines[0].share, 0.9, 1e-9);
    cr_assert_float_eq(f->lines[0].excess_bytes, 900 * 32, 1e-9);
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[1]), "PTX line 12");
    gmt_fixture_free(&fixture);
}

/* get.h:2 in lines 70 and 71 of work.cu; the former twice, unrolled. */
static const char inlined[] =
    "INSERT INTO instruction (launch_seq, class_id, site, opcode_id, file_id, line, "
    "caller_file_id, caller_line, ptx_line, kind, executed, lanes, sectors, ideal_sectors, source) "
    "VALUES (1, 1, 9, 51, 53, 2, 50, 70, 20, 'global_load', 9, 9, 900, 100, 'simulated'),"
    "(1, 1, 10, 51, 53, 2, 50, 70, 21, 'global_load', 9, 9, 900, 100, 'simulated'),"
    "(1, 1, 11, 51, 53, 2, 50, 71, 22, 'global_load', 9, 9, 500, 100, 'simulated')";

Test(simulated, distinguish_the_calls_of_an_inlined_line)
{
    struct gmt_fixture fixture;

    load(&fixture, "GM301", "positive");
    gmt_fixture_sql(&fixture, instructions);
    gmt_fixture_sql(&fixture, inlined);
    gmt_fixture_analyze(&fixture, "GM301");
    const struct gmt_finding *f = &fixture.report.findings[0];
    cr_assert_eq(f->line_count, 4);
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[0]),
                     "get.h:2, inlined at work.cu:70");
    cr_assert_float_eq(f->lines[0].excess_bytes, 1600 * 32, 1e-9);
    cr_assert_str_eq(gmt_line_label(&fixture.arena, &f->lines[2]),
                     "get.h:2, inlined at work.cu:71");
    cr_assert_float_eq(f->lines[2].excess_bytes, 400 * 32, 1e-9);
    gmt_fixture_free(&fixture);
}

static char *render(struct gmt_fixture *fixture, const char *format)
{
    struct gmt_writer_options options = {.top = 10};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find(format)->write(&fixture->report, &options, out), 0);
    fclose(out);
    return text;
}

Test(simulated, reports_say_what_they_are)
{
    static const struct {
        const char *format, *badge, *saving, *line;
    } formats[] = {
        {"text", "software device: exact counts, no times", "n/a: no times", "work.cu:42"},
        {"json", "\"software\": true", "\"best_ns\": null", "\"/src/kernels/work.cu\""},
    };
    struct gmt_fixture fixture;

    load(&fixture, "GM301", "positive");
    gmt_fixture_sql(&fixture, instructions);
    gmt_fixture_sql(&fixture, inlined);
    gmt_fixture_sql(&fixture,
                    "INSERT INTO race (launch_seq, class_id, first_opcode_id, first_file_id, "
                    "first_line, second_opcode_id, second_file_id, second_line, count) "
                    "VALUES (1, 1, 52, 50, 61, 51, 50, 63, 31)");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert(isnan(fixture.report.wall_ns) && isnan(fixture.report.copy_ns) &&
              isnan(fixture.report.combined.best_ns));
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        char *text = render(&fixture, formats[i].format);

        cr_assert_not_null(strstr(text, formats[i].badge), "%s", formats[i].format);
        cr_assert_not_null(strstr(text, formats[i].saving), "%s", formats[i].format);
        cr_assert_not_null(strstr(text, formats[i].line), "%s", formats[i].format);
        cr_assert_not_null(strstr(text, i < 1 ? "inlined at work.cu:71" : "\"caller_line\": 71"),
                           "%s: the caller", formats[i].format);
        cr_assert_not_null(strstr(text, i < 1 ? "work.cu:61" : "\"line\": 61"), "%s: the race",
                           formats[i].format);
        free(text);
    }
    gmt_fixture_free(&fixture);
}
