/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is analysed by two threads: the report and the page are those of one, and so are the reasons. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/page/page.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/guard.h"
#include "libtrace/store/finished/reader.h"
#include "reports/writers.h"
#include "tests/rules/fixture.h"

static const char *path;

struct run {
    sqlite3 *db, *beside;
    struct gmt_arena arena;
    struct gmt_timeline timeline;
    struct gmt_model model;
    struct gmt_report report;
    struct gmt_host_basis basis;
    struct gmt_payload payload;
    struct gmt_page *page;
    int analyzed, filled;
};

static int begin_page(void *context, const struct gmt_report *report)
{
    struct run *run = context;

    return gmt_page_begin(&run->page, &run->payload, &run->timeline, report, run->beside,
                          run->beside != NULL ? &run->basis.worker : NULL);
}

static void analyze(struct run *run, bool by_two)
{
    struct gmt_rule_filter filter = {.begin_beside = begin_page, .context = run};
    char message[512] = "";

    *run = (struct run){.filled = -1};
    cr_assert_eq(gmt_trace_open(path, 0, &run->db, message, sizeof(message)), 0, "%s", message);
    run->beside = by_two ? gmt_trace_open_beside(run->db) : NULL;
    cr_assert_eq(run->beside != NULL, by_two);
    cr_assert_eq(
        gmt_timeline_load_beside(&run->timeline, run->db, run->beside, message, sizeof(message)), 0,
        "%s", message);
    run->report = (struct gmt_report){.arena = &run->arena, .trace_path = "trace.db"};
    if (by_two) {
        gmt_host_basis_begin(&run->basis, &run->timeline, run->beside);
        filter.basis = &run->basis;
    }
    run->analyzed = gmt_analyze(&run->timeline, &run->model, &filter, &run->report);
    if (run->analyzed == 0) {
        run->filled = gmt_page_finish(run->page, &run->model, "gmanalyze trace.db");
    }
}

static void end(struct run *run)
{
    gmt_page_free(run->page);
    gmt_host_basis_free(&run->basis);
    gmt_payload_free(&run->payload);
    gmt_timeline_free(&run->timeline);
    gmt_arena_free(&run->arena);
    gmt_trace_close_beside(run->db, run->beside);
    sqlite3_close(run->db);
}

static char *written(struct run *run, const char *format)
{
    const struct gmt_writer_options options = {.top = 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    run->report.page = &run->payload;
    cr_assert_eq(gmt_writer_find(format)->write(&run->report, &options, out), 0);
    fclose(out);
    return text;
}

static void expect_same(struct run *one, struct run *two, const char *format)
{
    char *by_one = written(one, format), *by_two = written(two, format);

    cr_assert_gt(strlen(by_one), 1000, "%s", format);
    cr_expect(strcmp(by_one, by_two) == 0, "%s is another by two threads", format);
    free(by_one);
    free(by_two);
}

Test(beside, report_and_page_are_those_of_one_thread)
{
    /* Rows that the timeline does not hold come from queries of their own. */
    static const char *const changes[] = {
        "",
        "UPDATE transfer SET result = 2 WHERE id % 5 = 0; UPDATE launch SET capturing = 1 "
        "WHERE id % 7 = 0",
        "DELETE FROM device_op", "DELETE FROM transfer; DELETE FROM launch"};

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct run one, two;

        path = gmt_fixture_make_file(changes[i]);
        analyze(&one, false);
        analyze(&two, true);
        cr_assert_eq(one.filled, 0, "%s", changes[i]);
        cr_assert_eq(two.filled, 0, "%s", changes[i]);
        expect_same(&one, &two, "html");
        expect_same(&one, &two, "json");
        expect_same(&one, &two, "text");
        end(&one);
        end(&two);
        (void)unlink(path);
    }
}

/* What only the second thread reads: its reason reaches the connection that is asked. */
Test(beside, damage_has_its_reason)
{
    static const struct {
        const char *sql, *reason;
    } cases[] = {
        {"UPDATE api_call SET end_ns = 'x'", "is damaged: api_call.end_ns is no integer"},
        {"UPDATE api_call SET stream_id = 'x'", "is damaged: api_call.stream_id is no integer"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run;

        path = gmt_fixture_make_file(cases[i].sql);
        analyze(&run, true);
        cr_expect(run.analyzed != 0 || run.filled != 0 || gmt_guard_noted(run.db), "%s",
                  cases[i].sql);
        cr_expect_str_eq(gmt_guard_reason(run.db), cases[i].reason, "%s: %s", cases[i].sql,
                         gmt_guard_reason(run.db));
        end(&run);
        (void)unlink(path);
    }
}
