/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program was while a device was idle: which places are one, and how they are named. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/common_place.h"
#include "reports/model/answer.h"
#include "reports/writers.h"
#include "tests/rules/idle_trace.h"

/*
 * Line 7 of the program calls one function of a library, which makes operations in each of two others: stacks 30 and 31 are of
 * different calls of line 3 of the one, 32 of line 5 of the other, by another line. 34 was too deep: what is further out than line 7 is
 * missing. 35 is of line 9 of the program.
 */
static void begin_in_library(void)
{
    begin();
    put("INSERT INTO string VALUES (30, '/home/me/run.py'), "
        "(31, '/venv/site-packages/lib/model.py'), (32, '/venv/site-packages/lib/add.py'), "
        "(33, '/venv/site-packages/lib/mul.py'), (34, 'forward'), (35, 'add'), (36, 'mul')");
    put("INSERT INTO frame(id, address, module_id, offset, function_id, file_id, line, runtime) "
        "VALUES (30, 9100000, NULL, NULL, 26, 30, 7, 0), (31, 9100100, NULL, NULL, 34, 31, 40, 0), "
        "(32, 9100200, NULL, NULL, 35, 32, 3, 0), (33, 9100300, NULL, NULL, 36, 33, 5, 0), "
        "(34, 9100400, NULL, NULL, 26, 30, 9, 0), (35, 5000900, 20, 900, 23, NULL, NULL, 2), "
        "(36, 9100500, NULL, NULL, 34, 31, 41, 0)");
    put("INSERT INTO stack VALUES (30, 5), (31, 5), (32, 5), (34, 4), (35, 3); "
        "INSERT INTO stack_frame VALUES "
        "(30, 0, 24), (30, 1, 32), (30, 2, 31), (30, 3, 30), (30, 4, 35), "
        "(31, 0, 25), (31, 1, 32), (31, 2, 31), (31, 3, 30), (31, 4, 35), "
        "(32, 0, 25), (32, 1, 33), (32, 2, 36), (32, 3, 30), (32, 4, 35), "
        "(34, 0, 25), (34, 1, 33), (34, 2, 31), (34, 3, 30), "
        "(35, 0, 24), (35, 1, 34), (35, 2, 35)");
}

static const char *name_of(enum gmt_time_part index, size_t i)
{
    const struct gmt_time_row *row = &fixture.report.time_parts[index];

    cr_assert_lt(i, row->place_count);
    return gmt_call_place_name(fixture.report.arena, &row->places[i]);
}

static void load_from(int of, int64_t ns)
{
    stack = of;
    load(ns);
}

/* What is called the same is one row; a line that has most of the time says what it was in. */
Test(idle_places, of_one_line_are_divided_by_what_of_a_library_it_was_in)
{
    begin_in_library();
    stack = 35;
    launch(5000, 1000, 10000);
    wait_for(11000);
    load_from(30, 100000);
    load_from(31, 200000);
    load_from(32, 150000);
    load_from(35, 20000);
    stack = 35;
    launch(5000, 1000, 10000);
    analyze();
    const struct gmt_time_row *row = &fixture.report.time_parts[GMT_TIME_LOADING];
    cr_assert_eq(row->place_count, 3, "%zu", row->place_count);
    cr_expect_str_eq(name_of(GMT_TIME_LOADING, 0), "run.py:7, in add.py:3");
    cr_expect_float_eq(row->places[0].time_ns, 300e3, 1);
    cr_expect_float_eq(row->places[0].count, 2, 0.1);
    cr_expect_float_eq(row->places[0].longest_ns, 200e3, 1);
    cr_expect_str_eq(name_of(GMT_TIME_LOADING, 1), "run.py:7, in mul.py:5");
    cr_expect_str_eq(name_of(GMT_TIME_LOADING, 2), "run.py:9");
    cr_expect_float_eq(row->more_places, 0, 0.1);
    gmt_fixture_free(&fixture);
}

/* Where the lines distinguish places they do not need more. */
Test(idle_places, of_lines_none_of_which_has_most_are_lines)
{
    begin_in_library();
    stack = 35;
    launch(5000, 1000, 10000);
    wait_for(11000);
    load_from(30, 100000);
    load_from(32, 100000);
    load_from(35, 250000);
    stack = 35;
    launch(5000, 1000, 10000);
    analyze();
    cr_assert_eq(fixture.report.time_parts[GMT_TIME_LOADING].place_count, 2);
    cr_expect_str_eq(name_of(GMT_TIME_LOADING, 0), "run.py:9");
    cr_expect_str_eq(name_of(GMT_TIME_LOADING, 1), "run.py:7");
    gmt_fixture_free(&fixture);
}

/* The function that went on from one of its lines to another. */
Test(idle_places, between_two_calls_name_the_function_of_the_library_that_ran)
{
    begin_in_library();
    stack = 30;
    launch(5000, 1000, 10000);
    wait_for(11000);
    host(400000);
    stack = 32;
    launch(5000, 1000, 10000);
    analyze();
    cr_expect_str_eq(name_of(GMT_TIME_HOST, 0), "run.py:7, in model.py:forward");
    cr_expect_null(place(GMT_TIME_HOST)->until);
    gmt_fixture_free(&fixture);
}

/* A stack that was too deep lacks its outermost frames, and is of the same function all the same. */
Test(idle_places, between_two_calls_are_found_where_a_stack_was_cut)
{
    for (int i = 0; i < 2; i++) {
        begin_in_library();
        stack = i == 0 ? 30 : 34;
        launch(5000, 1000, 10000);
        wait_for(11000);
        host(400000);
        stack = i == 0 ? 34 : 30;
        launch(5000, 1000, 10000);
        analyze();
        cr_expect_str_eq(name_of(GMT_TIME_HOST, 0), "run.py:7, in model.py:40");
        gmt_fixture_free(&fixture);
    }
}

/* The stacks have nothing in common, but both calls are of one line: "between A and A" says nothing. */
Test(idle_places, between_one_line_and_itself_are_that_line)
{
    begin_in_library();
    put("INSERT INTO frame(id, address, function_id, file_id, line, runtime) VALUES "
        "(37, 9100600, 35, 30, 7, 0); INSERT INTO stack VALUES (36, 1); "
        "INSERT INTO stack_frame VALUES (36, 0, 37)");
    stack = 30;
    launch(5000, 1000, 10000);
    wait_for(11000);
    host(400000);
    stack = 36;
    launch(5000, 1000, 10000);
    analyze();
    cr_expect_str_eq(name_of(GMT_TIME_HOST, 0), "run.py:7");
    gmt_fixture_free(&fixture);
}

static char *text_of(size_t top, size_t lines)
{
    struct gmt_writer_options options = {.top = top, .lines = lines};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_eq(gmt_writer_find("text")->write(&fixture.report, &options, out), 0);
    fclose(out);
    return text;
}

/* Five are shown, and how much is left out. */
Test(idle_places, beyond_those_shown_are_counted)
{
    enum { LINES = 8 };

    begin_in_library();
    stack = 35;
    launch(5000, 1000, 10000);
    wait_for(11000);
    for (int i = 0; i < LINES; i++) {
        put("INSERT INTO frame(id, address, function_id, file_id, line, runtime) VALUES "
            "(%d, %d, 26, 30, %d, 0); INSERT INTO stack VALUES (%d, 1); "
            "INSERT INTO stack_frame VALUES (%d, 0, %d)",
            50 + i, 9200000 + i, 20 + i, 50 + i, 50 + i, 50 + i);
        load_from(50 + i, 100000 + 10000 * i);
    }
    stack = 35;
    launch(5000, 1000, 10000);
    analyze();
    const struct gmt_time_row *row = &fixture.report.time_parts[GMT_TIME_LOADING];
    cr_expect_eq(row->place_count, 5);
    cr_expect_float_eq(row->more_places, LINES - 5, 0.1);
    cr_expect_float_eq(row->more_ns, 3 * 100e3 + 30e3, 1);
    char *text = text_of(0, 0);
    cr_expect_not_null(strstr(text, "… and 3 more places, 330 µs\n"), "%s", text);
    free(text);
    gmt_fixture_free(&fixture);
}

/* As of JAX: a thread of the library launches what the program, in another thread, has asked for. */
static void analyze_with_worker(bool asks_before)
{
    begin_in_library();
    put("INSERT INTO stack VALUES (40, 1); INSERT INTO stack_frame VALUES (40, 0, 25)");
    stack = 35;
    load(1000);
    launch(5000, 1000, 10000);
    wait_for(11000);
    if (asks_before) {
        stack = 30;
        load(60000);
    }
    host(400000);
    thread = 2;
    stack = 40;
    launch(5000, 1000, 10000);
    host(300000);
    launch(5000, 1000, 10000);
    thread = 1;
    stack = 30;
    load(60000);
    analyze();
}

Test(idle_places, of_a_thread_of_a_library_are_those_of_the_thread_that_runs_the_program)
{
    analyze_with_worker(true);
    cr_expect_eq(fixture.report.time_parts[GMT_TIME_HOST].place_count, 1);
    cr_expect_str_eq(name_of(GMT_TIME_HOST, 0), "run.py:7, in add.py:3");
    cr_expect_float_eq(place(GMT_TIME_HOST)->time_ns, 400e3 + 300e3 - 10e3, 1e3);
    gmt_fixture_free(&fixture);
    analyze_with_worker(false);
    cr_expect_str_eq(name_of(GMT_TIME_HOST, 0), "between run.py:9 and run.py:7");
    gmt_fixture_free(&fixture);
}

/* Other threads have made calls before. */
Test(idle_places, before_the_first_call_of_a_thread_begin_with_the_thread)
{
    begin();
    put("INSERT INTO stack VALUES (40, 1); INSERT INTO stack_frame VALUES (40, 0, 25); "
        "DELETE FROM stack_frame WHERE stack_id < 10");
    launch(5000, 1000, 10000);
    wait_for(11000);
    host(400000);
    thread = 2;
    stack = 40;
    launch(5000, 1000, 10000);
    analyze();
    cr_expect_str_eq(place(GMT_TIME_HOST)->where.label, "the start of its thread");
    cr_expect_not_null(place(GMT_TIME_HOST)->until);
    gmt_fixture_free(&fixture);
}

static void make_causes(void)
{
    begin_in_library();
    stack = 35;
    launch(5000, 1000, 10000);
    wait_for(11000);
    load_from(35, 100000);
    host(900000);
    launch(5000, 1000, 10000);
    analyze();
}

/* In no fixed order. */
Test(idle_places, are_listed_by_cause_most_time_first)
{
    static const char *const formats[] = {"text", "markdown"};

    make_causes();
    for (size_t i = 0; i < 2; i++) {
        struct gmt_writer_options options = {.top = 0};
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        cr_assert_eq(gmt_writer_find(formats[i])->write(&fixture.report, &options, out), 0);
        fclose(out);
        const char *list = strstr(text, "What the GPU was idle for");
        cr_assert_not_null(list);
        const char *host_code = strstr(list, "idle: host code");
        const char *loading = strstr(list, "idle: module loading");
        cr_assert(host_code != NULL && loading != NULL);
        cr_expect_lt(host_code, loading, "%s", text);
        free(text);
    }
    gmt_fixture_free(&fixture);
}

/* Why the device is idle is what a reader asks for; what could not be checked is left out before it. */
Test(idle_places, stay_in_a_text_that_is_to_be_short)
{
    enum { GAPS = 30 };
    struct gmt_gap gaps[GAPS];

    make_causes();
    for (int i = 0; i < GAPS; i++) {
        gaps[i] = (struct gmt_gap){"symbols", gmt_arena_text(fixture.report.arena, "reason %d", i),
                                   NULL};
    }
    fixture.report.gaps = gaps;
    fixture.report.gap_count = GAPS;
    char *text = text_of(10, 45);
    cr_expect_not_null(strstr(text, "most of all for host code ("), "%s", text);
    cr_expect_not_null(strstr(text, "reason 0"), "%s", text);
    cr_expect_not_null(strstr(text, "more reasons (--top 0 shows all)"), "%s", text);
    free(text);
    gmt_fixture_free(&fixture);
}

/* Loops of launches go from place to place in the order of time, and may not reach over what they cannot see. */
Test(idle_places, of_cut_stacks_are_common_only_to_who_asks_for_it)
{
    struct gmt_stack_frames frames;
    struct gmt_common_place common;

    begin_in_library();
    stack = 30;
    launch(5000, 1000, 10000);
    analyze();
    cr_assert_eq(gmt_stack_frames_load(&frames, &fixture.timeline), 0);
    cr_expect_not(gmt_common_place_find(&frames, 30, 34, &common));
    frames.cut_are_same = true;
    cr_expect(gmt_common_place_find(&frames, 30, 34, &common));
    cr_expect_eq(common.frames[0], 30);
    gmt_stack_frames_free(&frames);
    gmt_fixture_free(&fixture);
}
