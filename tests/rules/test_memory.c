/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory, its holders, failed allocations and segments: their numbers, and when rules are quiet. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/rules/fixture.h"

#define MIB 1048576.0

static void load(struct gmt_fixture *fixture, const char *name, const char *sql, const char *rule)
{
    gmt_fixture_load(fixture, name);
    gmt_fixture_sql(fixture, sql);
    gmt_fixture_analyze(fixture, rule);
}

static const struct gmt_finding *only_finding(const struct gmt_fixture *fixture)
{
    cr_assert_eq(fixture->report.finding_count, 1, "%s", gmt_fixture_found(&fixture->report));
    return &fixture->report.findings[0];
}

Test(memory, name_the_peak_and_what_it_could_be)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM206_positive", "", "GM206");
    const struct gmt_report *report = &fixture.report;
    cr_assert_float_eq(report->peak_device_bytes, 2048 * MIB, 0.5);
    cr_assert_float_eq(report->peak_needed_bytes, 1024 * MIB, 0.5);
    cr_assert_float_eq(report->peak_at_ns, 50300000, 0.5);
    cr_assert_eq(report->peak_holder_count, 2);
    cr_assert_float_eq(report->peak_holders[0].bytes, 1024 * MIB, 0.5);
    cr_assert_float_eq(report->peak_holders[0].idle_bytes + report->peak_holders[1].idle_bytes,
                       1024 * MIB, 0.5);
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_float_eq(f->saved_peak_bytes, 1024 * MIB, 0.5);
    cr_assert_float_eq(gmt_fixture_evidence(f, "after_last_use"), 95000000 - 1320000, 0.5);
    cr_assert_not_null(strstr(f->headline, "93.7 ms after its last use"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(memory, count_what_is_lost_but_for_the_last)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM204_positive", "", "GM204");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_float_eq(gmt_fixture_evidence(f, "allocations"), 7, 0);
    cr_assert_float_eq(f->saved_peak_bytes, 7 * 16 * MIB, 0.5);
    cr_assert(isnan(f->saving.best_ns), "leaks cost no time");
    gmt_fixture_free(&fixture);
}

/* A call that has that result. */
#define FAILED_CALL(RESULT) \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (41, 'cuEventQuery', " \
    "'cudaEventQuery', 'other');" \
    "INSERT INTO api_call VALUES (600001, 41, 1, 1, NULL, 99000000, 99000001, " RESULT \
    ", NULL, NULL, NULL, 0, NULL)"

/* Many programs return their result by exit(1); what is not ready yet has not failed. */
Test(memory, take_any_status_for_a_normal_end_if_no_call_failed)
{
    static const char *const cases[] = {
        "UPDATE process SET exit_status = 256",
        "UPDATE process SET exit_status = 256; " FAILED_CALL("600"),
        "UPDATE process SET exit_status = 0; " FAILED_CALL("2"),
        /* The program works on after a call that failed: that is not why it ends. */
        "UPDATE process SET exit_status = 256; " FAILED_CALL(
            "2") "; "
                 "UPDATE api_call SET begin_ns = 2, end_ns = 3 WHERE id = 600001",
    };
    static const char *const rules[] = {"GM204", "GM205", "GM206", "GM208"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++) {
            struct gmt_fixture fixture;
            bool is_named;

            gmt_fixture_load_positive(&fixture, rules[k], cases[i]);
            const char *fix = gmt_fixture_only(&fixture, rules[k])->fix;
            is_named = strstr(fix, "ended with status 1") != NULL;
            cr_expect_eq(is_named, strstr(cases[i], "256") != NULL, "%s, %s: %s", rules[k],
                         cases[i], fix);
            gmt_fixture_free(&fixture);
        }
    }
}

Test(memory, call_nothing_lost_that_may_be_in_use)
{
    static const char *const cases[] = {
        "UPDATE process SET end_reason = 'killed'",
        "UPDATE process SET end_reason = 'killed', exit_status = 6",
        "UPDATE process SET exit_status = 11",
        "UPDATE process SET exit_status = 256; " FAILED_CALL("2"),
        "UPDATE launch SET arguments = 'unknown'",
        "INSERT INTO api(id, name, runtime_name, family) VALUES (40, 'cuIpcGetMemHandle', "
        "'cudaIpcGetMemHandle', 'other');"
        "INSERT INTO api_call VALUES (600000, 40, 1, 1, NULL, 2, 3, 0, NULL, NULL, NULL, 0, NULL)",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, "fixtures/GM204_positive", cases[i], "GM204");
        cr_assert_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s",
                     cases[i], gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK, "%s", cases[i]);
        gmt_fixture_free(&fixture);
    }
}

Test(memory, guess_no_use_where_a_launch_hides_its_arguments)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM205_positive",
         "UPDATE launch SET arguments = 'unknown' WHERE seq = 3", "GM205");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.rules[0].outcome, GMT_OUTCOME_COULD_NOT_CHECK);
    cr_assert_not_null(strstr(fixture.report.rules[0].why, "1 allocation"));
    gmt_fixture_free(&fixture);
}

/* A memset of 0.1 ms and a copy on the device of 0.2 ms into the memory that nothing touched. */
#define FILLED \
    "INSERT INTO memset (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, result, " \
    "capturing, bytes, dst, dst_allocation_id, dst_class, value, element_bytes, device_start_ns, " \
    "device_end_ns) VALUES (700001, 1, 1, 1, 1, 3000000, 3005000, 0, 0, 536870912, " \
    "2199023255552, 2, 'device', 0, 1, 3010000, 3110000);" COPIED("d2d", "1", "2")
/* A copy of 16 MiB from one allocation to another. */
#define COPIED(DIRECTION, FROM, TO) \
    "INSERT INTO transfer (id, api_id, thread_id, context_id, stream_id, begin_ns, end_ns, " \
    "result, " \
    "stack_id, capturing, direction, blocking, bytes, dst, src, dst_class, src_class, " \
    "dst_allocation_id, src_allocation_id, device_start_ns, device_end_ns) SELECT 700002 + " \
    "count(*), 1, 1, 1, 1, 4000000, 4005000, 0, NULL, 0, '" DIRECTION "', 0, 16777216, " \
    "2199023255552, 1099511627776, 'device', 'device', " TO ", " FROM ", 4010000, 4210000 " \
    "FROM transfer;"

Test(memory, find_what_is_filled_and_never_read)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM205", FILLED);
    gmt_fixture_analyze(&fixture, NULL);
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_str_eq(f->rule, "GM205");
    cr_expect_float_eq(gmt_fixture_evidence(f, "only_filled"), 1, 0);
    cr_expect_float_eq(f->saved_peak_bytes, 512 * MIB, 0.5);
    /* 0.4 ms to allocate it, 0.6 ms to free it, and what filled it. */
    cr_expect_float_eq(f->cost_ns, 1.3e6, 0.5);
    cr_expect_float_eq(f->saving.best_ns, 1.3e6, 0.5);
    cr_expect_not_null(strstr(f->headline, "ever read it, only filled"), "%s", f->headline);
    cr_expect_not_null(strstr(f->fix, "fills and frees"), "%s", f->fix);
    gmt_fixture_free(&fixture);
}

Test(memory, call_nothing_unread_that_something_may_read)
{
    static const char *const cases[] = {
        FILLED COPIED("d2h", "2", "NULL"),
        FILLED COPIED("d2d", "2", "1"),
        FILLED COPIED("peer", "2", "NULL"),
        FILLED COPIED("h2d", "NULL", "2"), /* GM107 */
        FILLED "INSERT INTO launch_argument VALUES (1, 0, 0, 2, 0)",
        FILLED "UPDATE launch SET arguments = 'truncated' WHERE seq = 3",
        FILLED "UPDATE launch SET kind = 'graph', class_id = NULL, kernel_id = NULL WHERE seq = 3",
        FILLED "DELETE FROM launch",
        /* textures, tensor maps, structs and pointers in memory may lead there */
        FILLED "UPDATE kernel SET name = 'work' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'work(float*, unsigned long long)' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'work(float*, CUtensorMap_st)' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'work(float* const*, int)' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'work(Node*, int)' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'work(unsigned long*, int)' WHERE id = 1",
        FILLED "UPDATE kernel SET name = 'ncclDevKernel(float*)' WHERE id = 1",
        FILLED "UPDATE allocation SET kind = 'mapped' WHERE id = 2",
        FILLED "UPDATE allocation SET kind = 'managed' WHERE id = 2",
        FILLED "UPDATE allocation SET kind = 'ipc' WHERE id = 2",
        FILLED "INSERT INTO api(id, name, runtime_name, family) VALUES (40, 'cuIpcGetMemHandle', "
               "NULL, 'alloc'); INSERT INTO "
               "api_call (id, api_id, begin_ns, end_ns, result, capturing) VALUES (600000, 40, 1, "
               "2, 0, 0)",
        /* a table of pointers where kernels look */
        FILLED "UPDATE transfer SET direction = 'h2d', bytes = 64, dst_allocation_id = 1, "
               "src_allocation_id = NULL",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, "fixtures/GM205_positive", cases[i], "GM205");
        cr_expect_eq(fixture.report.finding_count + fixture.report.note_count, 0, "%s: %s",
                     cases[i], gmt_fixture_found(&fixture.report));
        gmt_fixture_free(&fixture);
    }
}

/* What others use is not seen; what only an event shares is. */
Test(memory, call_nothing_unused_that_others_may_use)
{
    static const struct {
        const char *sql;
        enum gmt_outcome outcome;
    } cases[] = {
#define CALLED(API, RESULT) \
    "INSERT INTO api(id, name, runtime_name, family) VALUES (40, '" API \
    "', NULL, 'alloc'); INSERT INTO api_call (id, api_id, " \
    "begin_ns, end_ns, result, capturing) VALUES (600000, 40, 1, 2, " RESULT ", 0)"
        {CALLED("cuMemPoolExportPointer", "0"), GMT_OUTCOME_COULD_NOT_CHECK},
        {CALLED("cuMemImportFromShareableHandle", "0"), GMT_OUTCOME_COULD_NOT_CHECK},
        {CALLED("cuGraphicsMapResources", "0"), GMT_OUTCOME_COULD_NOT_CHECK},
        {"UPDATE allocation SET kind = 'ipc'", GMT_OUTCOME_PASS},
        {"UPDATE allocation SET kind = 'external'", GMT_OUTCOME_PASS},
        {CALLED("cuMemPoolExportPointer", "801"), GMT_OUTCOME_FAIL},
        {CALLED("cuIpcGetEventHandle", "0"), GMT_OUTCOME_FAIL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, "fixtures/GM205_positive", cases[i].sql, "GM205");
        cr_expect_eq(fixture.report.rules[0].outcome, cases[i].outcome, "%s", cases[i].sql);
        cr_expect_eq(fixture.report.finding_count > 0, cases[i].outcome == GMT_OUTCOME_FAIL, "%s",
                     cases[i].sql);
        gmt_fixture_free(&fixture);
    }
}

/* Its user cannot take the call out; and where the library's source is known, it is the user's own. */
Test(memory, say_that_a_library_asked_for_it_itself)
{
    static const char made[] =
        "INSERT INTO module (id, path, load_bias, start_address, end_address) VALUES "
        "(90, '/opt/lib/libblas.so.13', 0, 9000000, 9900000);"
        "INSERT INTO string (id, text) VALUES (9001, 'blasCreate'), (9002, '/src/blas.c');"
        "INSERT INTO frame (id, address, module_id, offset, function_id, file_id, line) VALUES "
        "(91, 9000100, 90, 100, NULL, NULL, NULL), (92, 9000200, 90, 200, 9001, NULL, NULL);"
        "UPDATE stack_frame SET position = position + 12 WHERE stack_id = 1 AND position > 0;"
        "INSERT INTO stack_frame VALUES (1, 1, 91), (1, 2, 92);";
    struct gmt_fixture fixture;
    char sql[1200];

    load(&fixture, "fixtures/GM205_positive", made, "GM205");
    cr_assert_not_null(
        strstr(only_finding(&fixture)->fix, "libblas.so.13, which asks for it itself (blasCreate)"),
        "%s", only_finding(&fixture)->fix);
    cr_assert_null(only_finding(&fixture)->sketch);
    gmt_fixture_free(&fixture);

    snprintf(sql, sizeof(sql), "%s; UPDATE frame SET file_id = 9002, line = 7 WHERE id = 91", made);
    load(&fixture, "fixtures/GM205_positive", sql, "GM205");
    cr_assert_not_null(strstr(only_finding(&fixture)->fix, "Remove"));
    cr_assert_not_null(only_finding(&fixture)->sketch);
    gmt_fixture_free(&fixture);
}

Test(memory, leave_what_lived_when_the_program_broke_off)
{
    static const struct {
        const char *sql;
        size_t findings;
    } cases[] = {
        {"UPDATE process SET end_reason = 'killed', end_ns = 91000000", 0},
        {"UPDATE process SET end_reason = 'killed', end_ns = 99000000", 1},
        {"UPDATE process SET exit_status = 256; INSERT INTO api_call (id, api_id, begin_ns, "
         "end_ns, "
         "result, capturing, bytes) VALUES (500001, 4, 90000000, 90100000, 2, 0, 1048576)",
         0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;

        load(&fixture, "fixtures/GM205_positive", cases[i].sql, "GM205");
        cr_assert_eq(fixture.report.finding_count, cases[i].findings, "%s: %s", cases[i].sql,
                     gmt_fixture_found(&fixture.report));
        cr_assert_eq(fixture.report.rules[0].outcome,
                     cases[i].findings > 0 ? GMT_OUTCOME_FAIL : GMT_OUTCOME_COULD_NOT_CHECK);
        gmt_fixture_free(&fixture);
    }
}

Test(memory, take_pointers_into_segments_for_views)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM202_positive",
         "INSERT INTO launch_argument VALUES (2, 0, 0, 1, 512), (2, 1, 0, 1, 1049088), "
         "(2, 2, 0, 1, 3146240), (2, 3, 0, 1, 9437696)",
         "GM202");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    cr_assert_eq(fixture.report.note_count, 1);
    cr_assert_not_null(strstr(fixture.report.notes[0].note_why, "segment"));
    gmt_fixture_free(&fixture);
}

Test(memory, count_the_time_of_calls_that_nothing_hides)
{
    struct gmt_fixture fixture;

    /* 0.4 ms to allocate, 0.6 ms to free; a kernel runs through all of the latter. */
    load(&fixture, "fixtures/GM205_positive",
         "UPDATE launch SET device_start_ns = 90500000, device_end_ns = 92000000 WHERE seq = 10;"
         "UPDATE launch SET begin_ns = 91550000, end_ns = 91560000 WHERE seq = 10",
         "GM205");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_float_eq(f->saved_peak_bytes, 512 * MIB, 0.5);
    cr_assert_float_eq(f->cost_ns, 1000000, 0.5);
    cr_assert_float_eq(f->saving.best_ns, 400000, 0.5);
    cr_assert_float_eq(f->saving.high_ns, 1000000, 0.5);
    cr_assert_not_null(strstr(f->method, "600 µs"), "%s", f->method);
    gmt_fixture_free(&fixture);
}

Test(memory, price_pinning_in_a_loop_but_for_the_first)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM207_positive", "", "GM207");
    const struct gmt_finding *f = only_finding(&fixture);
    cr_assert_float_eq(gmt_fixture_evidence(f, "pairs"), 20, 0);
    cr_assert_float_eq(f->cost_ns, 19 * 1.5e6, 0.5);
    cr_assert_eq(f->confidence, GMT_CONFIDENCE_MEASURED);
    gmt_fixture_free(&fixture);
}

/* A pool keeps its pages locked. */
Test(memory, pinning_is_not_what_a_pool_does)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM207_positive",
         "UPDATE api SET name = 'cuMemAllocFromPoolAsync' WHERE id = 20", "GM207");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

Test(memory, ask_for_no_more_page_locked_memory_than_is_copied)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM208_positive", "UPDATE transfer SET bytes = 16777216", "GM208");
    cr_assert_eq(fixture.report.finding_count, 2,
                 "another place, and a quarter of it is copied: %s",
                 gmt_fixture_found(&fixture.report));
    const struct gmt_finding *f = &fixture.report.findings[0];
    if (f->saved_peak_bytes > 60 * MIB) {
        f = &fixture.report.findings[1];
    }
    cr_assert_float_eq(f->saved_peak_bytes, 48 * MIB, 0.5);
    cr_assert_not_null(strstr(f->headline, "only 16.0 MiB"), "%s", f->headline);
    gmt_fixture_free(&fixture);
}

Test(memory, distinguish_segments_from_arrays_in_equal_pieces)
{
    static const struct {
        const char *offsets;
        bool segment;
    } cases[] = {
        {"(1, 0, 0, 1, 512), (1, 1, 0, 1, 1049088)", true},
        {"(1, 0, 0, 1, 0), (1, 1, 0, 1, 10485760)", false},
        {"(1, 0, 0, 1, 5242880), (1, 1, 0, 1, 10485760), (1, 2, 0, 1, 15728640)", false},
        {"(1, 0, 0, 1, 4), (1, 1, 0, 1, 1049092), (1, 2, 0, 1, 2000004)", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char sql[512];

        snprintf(sql, sizeof(sql),
                 "INSERT INTO allocation (id, kind, address, bytes, context_id, api_id, stack_id, "
                 "begin_ns, end_ns) VALUES (1, 'device', 1048576, 20971520, 1, 4, 1, 5, 10);"
                 "INSERT INTO launch_argument VALUES %s",
                 cases[i].offsets);
        load(&fixture, "common_only", sql, "GM204");
        cr_assert_eq(fixture.report.peak_holders[0].segments, cases[i].segment, "%s",
                     cases[i].offsets);
        cr_assert_eq(fixture.report.note_count, 1);
        cr_assert_eq(strstr(fixture.report.notes[0].headline, "segment") != NULL, cases[i].segment);
        gmt_fixture_free(&fixture);
    }
}

/* A kernel is given the first piece only, and no kernel is given any in the last case. */
Test(memory, take_pieces_that_are_mapped_side_by_side_for_one_range)
{
    static const struct {
        const char *sql;
        size_t findings;
    } cases[] = {
        {"", 1},
        {"UPDATE allocation SET address = (1 << 40) + (1 << 28) WHERE id = 2", 0},
        {"UPDATE allocation SET address = (1 << 40) - (1 << 29) WHERE id = 2", 0},
        {"UPDATE allocation SET address = (1 << 40) + (1 << 28) + 4096 WHERE id = 2", 1},
        {"UPDATE allocation SET address = (1 << 40) + (1 << 28), begin_ns = 90500000, "
         "end_ns = 90600000 WHERE id = 2",
         1},
        {"UPDATE allocation SET address = (1 << 40) + (1 << 28), kind = 'device' WHERE id = 2", 1},
        {"UPDATE allocation SET address = (1 << 40) + (1 << 28) WHERE id = 2; "
         "DELETE FROM launch_argument",
         1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gmt_fixture fixture;
        char sql[512];

        snprintf(sql, sizeof(sql), "UPDATE allocation SET kind = 'mapped'; %s", cases[i].sql);
        load(&fixture, "fixtures/GM205_positive", sql, "GM205");
        cr_assert_eq(fixture.report.finding_count > 0, cases[i].findings > 0, "%s", cases[i].sql);
        gmt_fixture_free(&fixture);
    }
}

/* Many pieces in many places, at addresses used again and again: no more than a moment's work. */
Test(memory, follow_ranges_of_many_pieces)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM205_positive",
         "DELETE FROM allocation; "
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
         "INSERT INTO allocation (id, kind, address, bytes, context_id, thread_id, api_id, "
         "begin_ns, "
         "end_ns, free_begin_ns, free_end_ns) SELECT i, 'mapped', (1 << 40) + (i % 30000 << 21), "
         "1 << 21, 1, 1, 4, 1000000 + i, 1000001 + i, CASE WHEN i < 30000 THEN 1000002 + i + 29000 "
         "END, "
         "CASE WHEN i < 30000 THEN 1000002 + i + 29001 END FROM n",
         "GM205");
    cr_assert_eq(fixture.report.finding_count, 0, "%s", gmt_fixture_found(&fixture.report));
    gmt_fixture_free(&fixture);
}

static const char failing[] =
    "INSERT INTO api_call (id, api_id, thread_id, context_id, begin_ns, end_ns, result, stack_id, "
    "capturing, bytes) VALUES (500001, 4, 1, 1, 60000000, 60100000, 2, 1, 0, 3221225472), "
    "(500002, 4, 1, 1, 70000000, 70100000, 2, 1, 0, 2147483648), "
    "(500003, 4, 1, 1, 71000000, 71100000, 1, 1, 0, 0), "
    "(500004, 5, 1, 1, 71000000, 71100000, 2, 1, 0, NULL)";

/* A recorder writes no context for memory that it did not see allocated. */
Test(memory, take_memory_without_a_context_for_that_of_any_device)
{
    struct gmt_fixture fixture;

    gmt_fixture_load_positive(&fixture, "GM110",
                              "UPDATE allocation SET context_id = NULL WHERE id = 1");
    gmt_fixture_analyze(&fixture, NULL);
    cr_assert_geq(fixture.timeline.device_count, 2);
    cr_assert_eq(fixture.report.peak_holder_count, 1);
    cr_assert_float_eq(fixture.report.peak_device_bytes, 128 * MIB, 0.5);
    gmt_fixture_free(&fixture);
}

Test(memory, say_who_held_it_when_there_was_none_left)
{
    struct gmt_fixture fixture;

    load(&fixture, "fixtures/GM206_positive", failing, "GM206");
    cr_assert_eq(fixture.report.failure_count, 1, "one place, and other errors are none");
    const struct gmt_memory_failure *f = &fixture.report.failures[0];
    cr_assert_float_eq(f->failures, 2, 0);
    cr_assert_float_eq(f->asked_bytes, 2048 * MIB, 0.5);
    cr_assert_float_eq(f->at_ns, 70000000, 0.5);
    cr_assert_float_eq(f->held_bytes, 2048 * MIB, 0.5);
    cr_assert_eq(f->holder_count, 2);
    cr_assert_str_eq(f->where.label, "app.cu:42");
    /* Memory is short: what holds it in vain weighs more. */
    cr_assert_eq(only_finding(&fixture)->severity, GMT_SEVERITY_MEDIUM);
    gmt_fixture_free(&fixture);
}

/* As many as gmtrace counts when the program has ended; fewer are lost, since the last one is needed. */
Test(memory, leak_counts_all_that_are_never_freed)
{
    struct gmt_fixture fixture;

    gmt_fixture_load(&fixture, "fixtures/GM204_positive");
    const struct gmt_finding *finding = gmt_fixture_only(&fixture, "GM204");
    cr_assert_eq(gmt_fixture_evidence(finding, "never_freed"), 8);
    cr_assert_eq(gmt_fixture_evidence(finding, "allocations"), 7);
    cr_assert_str_eq(finding->headline,
                     "8 allocations of 16.0 MiB are never freed; 7 of them, 112 MiB together, are "
                     "not used after the next one is made");
    cr_assert(strstr(finding->sketch, ": 8 times in this run") != NULL);
    gmt_fixture_free(&fixture);
}
