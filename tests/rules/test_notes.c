/* SPDX-License-Identifier: Apache-2.0 */
/* What is true and too small to matter is said as a note: by reason, in a line, with its size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/figures.h"
#include "reports/model/words.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

#define KERNEL(id, name) \
    "INSERT INTO kernel (id, name, mangled) VALUES (" id ", '" name "', '" name "');" \
    "INSERT INTO kernel_class (id, kernel_id) VALUES (" id ", " id ");" \
    "INSERT INTO launch (id, api_id, begin_ns, end_ns, result, capturing, kind, seq, class_id, " \
    "no_activity, arguments) VALUES (99999" id ", 3, 90000000, 90001000, 0, 0, 'kernel', 9" id \
    ", " id ", 1, 'unknown');"

/* On the software device, without a device model: two kernels with strides beside one that does far more such work, and well. */
static const struct gmt_report *load(struct gmt_fixture *fixture)
{
    char *sql = gmt_fixture_read(GMT_SOURCE_DIR "/tests/rules/simulated.sql");

    cr_assert_not_null(sql);
    gmt_fixture_load(fixture, "fixtures/GM301_positive");
    gmt_fixture_sql(fixture, sql);
    free(sql);
    gmt_fixture_sql(
        fixture,
        KERNEL("2", "second")
            KERNEL("3", "large") "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, "
                                 "value, source, grp, "
                                 "samples) SELECT 92, 2, metric_id, value, source, grp, samples "
                                 "FROM kernel_counters "
                                 "WHERE class_id = 1;"
                                 "INSERT INTO kernel_counters (launch_seq, class_id, metric_id, "
                                 "value, source, grp, "
                                 "samples) SELECT 93, 3, id, 1e12, 'simulated', 'simulated', 1 "
                                 "FROM metric WHERE name LIKE "
                                 "'%sectors' OR name LIKE '%requests'; UPDATE kernel_counters SET "
                                 "value = 32e12 WHERE "
                                 "class_id = 3 AND metric_id IN (SELECT id FROM metric WHERE name "
                                 "LIKE '%bytes');"
                                 /* A note for another reason, whose rank is between those two. */
                                 "INSERT INTO allocation (id, kind, address, bytes, context_id, "
                                 "thread_id, api_id, stack_id, "
                                 "begin_ns, end_ns) VALUES (80, 'device', 1099511627776, "
                                 "536870912, 1, 1, 4, 1, 500000, "
                                 "560000);");
    gmt_fixture_drop_model(fixture);
    gmt_fixture_analyze(fixture, NULL);
    return &fixture->report;
}

static char *render(const struct gmt_report *report, const char *format)
{
    struct gmt_writer_options options = {.top = 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find(format)->write(report, &options, out), 0);
    fclose(out);
    return text;
}

static size_t strides(const struct gmt_report *report)
{
    size_t n = 0;

    for (size_t i = 0; i < report->note_count; i++) {
        n += strcmp(report->notes[i].rule, "GM301") == 0;
    }
    return n;
}

Test(notes, a_small_part_of_such_work_is_one)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = load(&fixture);

    cr_assert_eq(strides(report), 2);
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].rule, "GM301") == 0) {
            cr_expect_not_null(strstr(report->notes[i].note_why, "less than 5.0 %"), "%s",
                               report->notes[i].note_why);
        }
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        cr_expect_str_neq(report->findings[i].rule, "GM301");
    }
    gmt_fixture_free(&fixture);
}

Test(notes, those_of_one_reason_stand_together)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = load(&fixture);
    size_t groups = 0;

    for (size_t i = 0; i < report->note_count; i = gmt_note_group_end(report, i)) {
        groups++;
        for (size_t k = gmt_note_group_end(report, i); k < report->note_count; k++) {
            cr_expect_str_neq(report->notes[k].note_why, report->notes[i].note_why);
        }
    }
    cr_expect_gt(report->note_count, groups);
    cr_expect_gt(groups, 1);
    gmt_fixture_free(&fixture);
}

/* A gate or a comparison must not take what was too small to be said for what was known. */
Test(notes, comparisons_do_not_see_those_that_are_only_small)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = load(&fixture);
    struct gmt_arena arena = {0};
    struct gmt_summary summary;

    gmt_summary_fill(&summary, report, &arena);
    for (size_t i = 0; i < summary.finding_count; i++) {
        cr_expect_str_neq(summary.findings[i].rule, "GM301");
    }
    cr_expect_gt(summary.finding_count, 0, "the other note is seen");
    gmt_arena_free(&arena);
    gmt_fixture_free(&fixture);
}

Test(notes, are_said_in_a_line_with_their_size)
{
    struct gmt_fixture fixture;
    const struct gmt_report *report = load(&fixture);
    char *text = render(report, "text"), *line = strstr(text, "    GM301 second: ");

    cr_assert_not_null(line, "%s", text);
    line[strcspn(line, "\n")] = '\0';
    cr_expect_leq(gmt_clean_length(line), 100, "%s", line);
    cr_expect_not_null(strstr(line, "GiB unnecessary"), "%s", line);
    free(text);
    text = render(report, "markdown");
    cr_expect_not_null(strstr(text, "- GM301 `second`"), "%s", text);
    cr_expect_not_null(strstr(text, "GiB unnecessary"), "%s", text);
    free(text);
    /* Nobody wants an alert of what is too small to act on. */
    text = render(report, "sarif");
    cr_expect_not_null(strstr(text, "\"results\": []"), "%s", text);
    free(text);
    gmt_fixture_free(&fixture);
}
