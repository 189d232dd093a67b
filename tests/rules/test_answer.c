/* SPDX-License-Identifier: Apache-2.0 */
/* What reports begin with: what to do, where, and what it brings, in words. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/run/rules.h"
#include "reports/model/answer.h"
#include "reports/model/tried.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static struct gmt_arena arena;

static const char *action_of(const char *fix)
{
    struct gmt_finding finding = {.title = "A title", .fix = fix, .where = {.label = "app.cu:1"}};

    gmt_answer_fill(&arena, &finding, 1);
    return finding.action;
}

Test(answer, is_the_fix_without_its_reasons)
{
    static const char *const rows[][2] = {
        {"Replace the loop by one 2-D copy.", "Replace the loop by one 2-D copy"},
        {"Remove the copy: no kernel gets the buffer.", "Remove the copy"},
        {"Copy the 2.00 MiB once (a.cu:4; b.cu:5). Then stop.",
         "Copy the 2.00 MiB once (a.cu:4; b.cu:5)"},
        {"Sort once; or not.", "Sort once"},
        {"Copy what app.cu:12 uploads", "Copy what app.cu:12 uploads"},
        {NULL, "A title"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_str_eq(action_of(rows[i][0]), rows[i][1]);
    }
    gmt_arena_free(&arena);
}

/* The guilty line, not the launch; a launch only where no line is known. */
Test(answer, names_the_line_that_causes_it)
{
    struct gmt_finding_line line = {.file = "/src/k.cu", .line = 45};
    struct gmt_finding finding = {.title = "",
                                  .where = {.label = "app.cu:140",
                                            .file = "/src/app.cu",
                                            .line = 140,
                                            .kernel = "void blur<float>(float*, int)"}};

    gmt_answer_fill(&arena, &finding, 1);
    cr_expect_str_eq(finding.place.label, "blur, launched at app.cu:140");
    cr_expect_eq(finding.place.line, 140);
    finding.lines = &line;
    finding.line_count = 1;
    gmt_answer_fill(&arena, &finding, 1);
    cr_expect_str_eq(finding.place.label, "k.cu:45");
    cr_expect_str_eq(finding.place.file, "/src/k.cu");
    line = (struct gmt_finding_line){.ptx_line = 7};
    gmt_answer_fill(&arena, &finding, 1);
    cr_expect_str_eq(finding.place.label, "blur, launched at app.cu:140");
    gmt_arena_free(&arena);
}

Test(answer, says_what_it_brings)
{
    struct gmt_report report = {.arena = &arena, .wall_ns = 1.73e9};
    struct gmt_finding finding = {.saving = {1.2e8, 1.76e8, 2.21e8, 0.1},
                                  .confidence = GMT_CONFIDENCE_CALIBRATED};

    cr_expect_str_eq(gmt_answer_gain(&report, &finding), "1.73 s -> 1.55 s, 1.11 x");
    cr_expect_str_eq(gmt_answer_certainty(&report, &finding), "saves 120 to 221 ms, calibrated");
    finding.saving = (struct gmt_saving){9e5, 5e6, 6e6, 0.003};
    cr_expect_str_eq(gmt_answer_gain(&report, &finding), "5.00 ms of 1.73 s");
    cr_expect_str_eq(gmt_answer_certainty(&report, &finding),
                     "saves 900 µs to 6.00 ms, calibrated");
    finding.saving = (struct gmt_saving){NAN, NAN, NAN, NAN};
    finding.excess_bytes = 1048576;
    finding.at_most_ns = NAN;
    cr_expect_str_eq(gmt_answer_gain(&report, &finding), "1.00 MiB unnecessary");
    cr_expect_str_eq(gmt_answer_certainty(&report, &finding), "");
    gmt_arena_free(&arena);
}

Test(answer, shows_whether_savings_may_be_added)
{
    struct gmt_finding findings[] = {{.saving = {1, 5, 9, 0}}, {.saving = {1, 7, 9, 0}}};
    struct gmt_report report = {.findings = findings, .finding_count = 2};

    report.combined.best_ns = 12;
    cr_expect(gmt_savings_add_up(&report));
    report.combined.best_ns = 9;
    cr_expect_not(gmt_savings_add_up(&report));
}

/* Whatever rule speaks, its fix begins with what to do. */
Test(answer, of_every_rule_begins_with_a_verb)
{
    static const char *const no_verbs[] = {"Loads", "The",   "A",    "An",   "Each",
                                           "It",    "Its",   "If",   "This", "There",
                                           "What",  "Where", "When", "None", "No"};

    for (size_t i = 0; i < gmt_rule_count; i++) {
        struct gmt_fixture fixture;
        char name[64], word[32] = "";

        snprintf(name, sizeof(name), "fixtures/%s_positive", gmt_rules[i]->id);
        gmt_fixture_load(&fixture, name);
        gmt_fixture_analyze(&fixture, gmt_rules[i]->id);
        for (size_t k = 0; k < fixture.report.finding_count; k++) {
            const char *action = fixture.report.findings[k].action;

            cr_assert_eq(sscanf(action, "%31s", word), 1);
            cr_expect(isupper((unsigned char)word[0]), "%s: %s", name, action);
            for (size_t v = 0; v < sizeof(no_verbs) / sizeof(no_verbs[0]); v++) {
                cr_expect_str_neq(word, no_verbs[v], "%s: %s", name, action);
            }
            cr_expect_lt(strlen(action), 160, "%s: %s", name, action);
        }
        gmt_fixture_free(&fixture);
    }
}

static bool writes(struct gmt_report *report, const char *format, const char *what)
{
    struct gmt_writer_options options = {.top = 10, .columns = 120};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find(format)->write(report, &options, out), 0);
    fclose(out);
    bool found = strstr(text, what) != NULL;
    free(text);
    return found;
}

/* What is left out saves next to nothing. */
Test(answer, does_not_say_twice_what_all_findings_save)
{
    static const char *const formats[] = {"text", "markdown"};
    struct gmt_finding findings[4];
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "golden/trace");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_gt(fixture.report.finding_count, 0);
    for (size_t i = 0; i < 4; i++) {
        findings[i] = fixture.report.findings[0];
    }
    fixture.report.findings = findings;
    fixture.report.finding_count = 4;
    fixture.report.first = (struct gmt_saving){1e6, 2e6, 3e6, 0.02};
    fixture.report.combined = (struct gmt_saving){2e6, 4e6, 6e6, 0.04};
    for (size_t i = 0; i < 2; i++) {
        cr_expect(writes(&fixture.report, formats[i], "; all "), "%s", formats[i]);
    }
    fixture.report.first = fixture.report.combined;
    for (size_t i = 0; i < 2; i++) {
        cr_expect_not(writes(&fixture.report, formats[i], "; all "), "%s", formats[i]);
    }
    gmt_fixture_free(&fixture);
}

/* A read-back may wait for no kernel. */
Test(answer, says_what_a_read_back_waits_for_and_what_it_copies)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM109_positive");
    gmt_fixture_analyze(&fixture, "GM109");
    cr_assert_gt(fixture.report.finding_count, 0);
    cr_expect_not_null(
        strstr(fixture.report.findings[0].headline, " for kernels, then copies for "), "%s",
        fixture.report.findings[0].headline);
    gmt_fixture_free(&fixture);
}

static const char *idle_with(double waits_ns, size_t others)
{
    static struct gmt_finding_part parts[7];
    static struct gmt_finding findings[2];
    static struct gmt_call_place place;
    static struct gmt_report report;

    place = (struct gmt_call_place){.where = {.label = "a.cu:1"}};
    findings[0] = (struct gmt_finding){.rule = "GM512", .saving = {0, 1, waits_ns / 2, 0}};
    findings[1] = (struct gmt_finding){
        .rule = "GM512", .saving = {0, 1, waits_ns / 2, 0}, .parts = parts, .part_count = others};
    report = (struct gmt_report){.arena = &arena,
                                 .has_time_parts = true,
                                 .recorded_ns = 1e9,
                                 .findings = findings,
                                 .finding_count = 2};
    report.time_parts[GMT_TIME_HOST] = (struct gmt_time_row){
        .ns = 5e8, .places = &place, .place_count = 1};
    return gmt_answer_idle(&report);
}

/* All such findings together, and only where that is a real part of the idle time. */
Test(answer, calls_launches_too_slow_where_much_waits_for_them)
{
    cr_expect_str_eq(idle_with(2.4e7, 7),
                     "the GPU is idle for 50.0 % of the time, most of all for host code (50.0 %), "
                     "at a.cu:1");
    cr_expect_str_eq(idle_with(2.6e7, 7),
                     "the GPU is idle for 50.0 % of the time, most of all for host code (50.0 %), "
                     "at a.cu:1; of this, 26.0 ms (8 places) waits for launches that come too "
                     "slowly");
    gmt_arena_free(&arena);
}

/* Below a thousandth of the run no two runs are equal: only what is gained otherwise is named first then. */
Test(answer, names_nothing_first_that_saves_next_to_nothing)
{
    static const struct {
        double shares[4];
        double peak_bytes; /* of the last one */
        enum gmt_tried_state state;
        size_t findings, named;
    } rows[] = {
        {{0.1, 0.001, 0.0009}, NAN, GMT_TRIED_TRIED, 3, 2},
        {{0.0009}, NAN, GMT_TRIED_TRIED, 1, 0},
        {{0.0009, 0.1}, NAN, GMT_TRIED_TRIED, 2, 2},
        {{0.1, 0.0009}, 4096, GMT_TRIED_TRIED, 2, 2},
        {{0.1, NAN}, NAN, GMT_TRIED_TRIED, 2, 2},
        {{0.1, 0.0009}, NAN, GMT_TRIED_PROVEN, 2, 2},
        {{0.1, 0.1, 0.1, 0.1}, NAN, GMT_TRIED_TRIED, 4, 3},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gmt_finding findings[4] = {0};
        struct gmt_tried tried = {.state = rows[i].state};
        struct gmt_report report = {.findings = findings, .finding_count = rows[i].findings};

        for (size_t k = 0; k < rows[i].findings; k++) {
            findings[k].saving.share = rows[i].shares[k];
            findings[k].saved_peak_bytes = NAN;
        }
        findings[rows[i].findings - 1].saved_peak_bytes = rows[i].peak_bytes;
        findings[rows[i].findings - 1].tried = &tried;
        cr_expect_eq(gmt_answer_count(&report), rows[i].named, "%zu", i);
    }
}
