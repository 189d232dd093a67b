/* SPDX-License-Identifier: Apache-2.0 */
/* Results of runs whose threads and processes come in another order each time. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/try/try.h"

/* What these tests do without. */
int gmt_try_programs_make(const struct gmt_try_note *note, struct gmt_try_program **programs,
                          size_t *count)
{
    (void)note;
    *programs = NULL;
    *count = 0;
    return 0;
}

void gmt_try_programs_free(struct gmt_try_program *programs, size_t count)
{
    (void)programs;
    (void)count;
}

int gmt_launcher_exit_status(int status)
{
    return status;
}

/*
 * A run as text: processes with blanks between, each its command, `:`, and its threads with `/` between, each of which has the
 * digests of its downloads as letters. `.`: a call that no digest was taken of.
 */
static struct gmt_try_run run_of(const char *text)
{
    struct gmt_try_run run = {.output = "empty", .note_fd = -1};
    run.note = calloc(1, sizeof(*run.note));
    cr_assert_not_null(run.note);
    run.note->watch = 1;
    uint32_t process = 0;
    while (*text != '\0') {
        size_t command = strcspn(text, ":");
        memcpy(run.note->identity[process].command, text, command);
        text += command + 1;
        struct gmt_try_download at = {.process = process++, .bytes = 100};
        for (; *text != '\0' && *text != ' '; text++) {
            if (*text == '/') {
                at.thread++;
                at.call = 0;
                continue;
            }
            at.low = (uint64_t)*text;
            if (*text != '.') {
                run.note->download[run.note->downloads++] = at;
            }
            at.call++;
        }
        text += *text == ' ';
    }
    run.note->processes = process;
    return run;
}

static void end(struct gmt_try_run *run)
{
    free(run->note);
}

static struct gmt_try_reference reference;

static void refer(const char *first, const char *second, const char *third)
{
    struct gmt_try_run runs[GMT_TRY_CHECKS] = {run_of(first), run_of(second), run_of(third)};
    cr_assert_eq(gmt_try_reference_make(runs, &reference), 0);
    for (unsigned i = 0; i < GMT_TRY_CHECKS; i++) {
        end(&runs[i]);
    }
}

static void narrow(const char *text)
{
    struct gmt_try_run run = run_of(text);
    cr_assert_eq(gmt_try_reference_narrow(&reference, &run), 0);
    end(&run);
}

static char what[512];

static enum gmt_try_equality equality_of(const char *text)
{
    struct gmt_try_run run = run_of(text);
    enum gmt_try_equality equality = gmt_try_equals(&reference, &run, what, sizeof(what));
    end(&run);
    return equality;
}

static void finish(void)
{
    gmt_try_reference_free(&reference);
}

#define expect_compared(equal_bytes, other_bytes) \
    do { \
        cr_assert_eq(reference.bytes, equal_bytes); \
        cr_assert_eq(reference.unchecked_bytes, other_bytes); \
    } while (0)

Test(try_compare, one_thread_is_compared_call_by_call, .fini = finish)
{
    refer("app:abcd", "app:abxd", "app:abyd");
    expect_compared(300, 100);
    cr_assert_eq(equality_of("app:abzd"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("app:abze"), GMT_TRY_DIFFERENT);
    cr_assert_str_eq(what, "download 4 of thread 1 of process 1 (100 bytes) has other bytes");
    cr_assert_eq(equality_of("app:adzb"), GMT_TRY_DIFFERENT, "in another order");
    cr_assert_eq(equality_of("app:ab"), GMT_TRY_DIFFERENT);
    cr_assert_str_eq(what, "download 4 of thread 1 of process 1 (100 bytes) is missing");
    cr_assert_eq(equality_of(""), GMT_TRY_DIFFERENT);
}

Test(try_compare, threads_are_known_by_what_came_back, .fini = finish)
{
    refer("app:abc/def/abx", "app:def/abx/abc", "app:abx/abc/def");
    expect_compared(900, 0);
    cr_assert_eq(equality_of("app:def/abc/abx"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("app:dxf/abc/abx"), GMT_TRY_DIFFERENT);
    cr_assert_str_eq(what, "download 2 of thread 2 of process 1 (100 bytes) has other bytes");
    cr_assert_eq(equality_of("app:abc/def/abc"), GMT_TRY_DIFFERENT, "the bytes of another thread");
    cr_assert_eq(equality_of("app:abc/abx"), GMT_TRY_DIFFERENT);
    cr_assert_eq(equality_of("app:abc/abx/fed"), GMT_TRY_DIFFERENT, "in another order");
    cr_assert_eq(equality_of("app:abz/def/aby"), GMT_TRY_DIFFERENT, "two of them");
}

Test(try_compare, equal_threads_are_counted, .fini = finish)
{
    refer("app:ab/ab/cd", "app:cd/ab/ab", "app:ab/cd/ab");
    expect_compared(600, 0);
    cr_assert_eq(equality_of("app:ab/cd/ab"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("app:ab/cd/cd"), GMT_TRY_DIFFERENT);
}

Test(try_compare, the_only_thread_that_varies_is_compared_where_it_does_not, .fini = finish)
{
    refer("app:abc/xyz", "app:1yz/abc", "app:abc/2yz");
    expect_compared(500, 100);
    cr_assert_eq(equality_of("app:3yz/abc"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("app:3yy/abc"), GMT_TRY_DIFFERENT);
    cr_assert_eq(equality_of("app:3yz/abd"), GMT_TRY_DIFFERENT);
}

/* Two threads take work from one list: who gets what is chance, and so is what is equal in some runs. */
Test(try_compare, threads_that_share_work_are_not_compared, .fini = finish)
{
    refer("app:abd/cef", "app:ac/bdef", "app:abe/cdf");
    expect_compared(0, 600);
    cr_assert_eq(equality_of("app:ef/abcd"), GMT_TRY_EQUAL);
}

Test(try_compare, what_moves_between_threads_is_neither_equal_nor_different, .fini = finish)
{
    refer("app:ab/cd", "app:ab/cd", "app:ab/cd");
    cr_assert_eq(equality_of("app:abcd"), GMT_TRY_MOVED);
    cr_assert_eq(equality_of("app:ad/cb"), GMT_TRY_MOVED);
    cr_assert_eq(equality_of("app:a/b/cd"), GMT_TRY_MOVED);
    cr_assert_eq(equality_of("app:abxd"), GMT_TRY_DIFFERENT, "a part of it is another");
    cr_assert_eq(equality_of("app:ad/cd"), GMT_TRY_DIFFERENT, "one is there twice, and one never");
}

Test(try_compare, processes_are_known_by_command_and_threads, .fini = finish)
{
    refer("rank:ab rank:cd tool:ef", "tool:ef rank:cd rank:ab", "rank:cd tool:ef rank:ab");
    expect_compared(600, 0);
    cr_assert_eq(equality_of("rank:cd rank:ab tool:ef"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("rank:ab tool:ef rank:cx"), GMT_TRY_DIFFERENT);
    cr_assert_str_eq(what, "download 2 of thread 1 of process 2 (100 bytes) has other bytes");
    cr_assert_eq(equality_of("rank:ef tool:ab rank:cd"), GMT_TRY_DIFFERENT,
                 "the bytes of another program");
    cr_assert_eq(equality_of("rank:ab rank:cd"), GMT_TRY_DIFFERENT, "one is not there");
    cr_assert_str_eq(what, "download 1 of thread 1 of process 3 (100 bytes) is missing");
}

Test(try_compare, a_process_whose_command_varies_is_known_by_its_threads, .fini = finish)
{
    refer("app:ab t1:cd t2:ef", "t3:ef app:ab t4:cd", "app:ab t5:cd t6:ef");
    expect_compared(600, 0);
    cr_assert_eq(equality_of("t7:ef t8:cd app:ab"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("t7:ef t8:cc app:ab"), GMT_TRY_DIFFERENT);
}

Test(try_compare, processes_that_vary_are_not_compared, .fini = finish)
{
    refer("rank:ab rank:cb", "rank:db rank:eb", "rank:fb rank:gb");
    expect_compared(0, 400);
}

/* Three runs may agree by chance. */
Test(try_compare, one_more_untouched_run_takes_back_what_agreed_by_chance, .fini = finish)
{
    refer("app:abc", "app:abc", "app:abc");
    cr_assert_eq(equality_of("app:xbc"), GMT_TRY_DIFFERENT);
    narrow("app:abd");
    expect_compared(200, 100);
    cr_assert_eq(equality_of("app:xbc"), GMT_TRY_DIFFERENT);
    narrow("app:ybc");
    expect_compared(100, 200);
    cr_assert_eq(equality_of("app:xbc"), GMT_TRY_EQUAL);
}

Test(try_compare, a_download_without_a_digest_takes_its_place, .fini = finish)
{
    refer("app:a.c", "app:a.c", "app:a.c");
    expect_compared(200, 0);
    cr_assert_eq(equality_of("app:abc"), GMT_TRY_EQUAL);
    cr_assert_eq(equality_of("app:ac"), GMT_TRY_DIFFERENT);
}

Test(try_compare, processes_beyond_those_that_there_is_room_for_are_unseen, .fini = finish)
{
    struct gmt_try_run runs[GMT_TRY_CHECKS] = {run_of("app:ab"), run_of("app:ab"),
                                               run_of("app:ab")};
    runs[0].note->processes = GMT_TRY_PROCESSES;
    cr_assert_eq(gmt_try_reference_make(runs, &reference), 0);
    cr_assert_eq(reference.unseen, 0);
    gmt_try_reference_free(&reference);
    runs[2].note->processes = GMT_TRY_PROCESSES + 1;
    cr_assert_eq(gmt_try_reference_make(runs, &reference), 0);
    cr_assert_eq(reference.unseen, GMT_UNSEEN_PROCESS);
    cr_assert_eq(gmt_try_bytes_in(runs[0].note), 200);
    for (unsigned i = 0; i < GMT_TRY_CHECKS; i++) {
        end(&runs[i]);
    }
}
