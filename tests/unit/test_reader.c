/* SPDX-License-Identifier: Apache-2.0 */
/* Every file that is not a finished trace is refused with its own reason. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/spool/spool_files.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;
static char message[512];

static void setup(void)
{
    gmt_fixture_make(&fixture);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(reader, .init = setup, .fini = teardown, .timeout = 60);

static int open_trace(unsigned flags)
{
    sqlite3 *db;
    int error = gmt_trace_open(fixture.output, flags, &db, message, sizeof(message));
    cr_expect_eq(db != NULL, error == 0);
    cr_expect_eq(message[0] == '\0', error == 0);
    cr_expect_null(strchr(message, '\n'));
    sqlite3_close(db);
    return error;
}

static void expect_refused(int error, const char *part)
{
    cr_expect_eq(open_trace(0), error);
    cr_expect_not_null(strstr(message, part), "'%s' is not in '%s'", part, message);
    cr_expect_not_null(strstr(message, fixture.output), "'%s' does not name the file", message);
}

static void finish(void)
{
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
}

static void change(const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(gmt_database_open(fixture.output, &db), 0);
    cr_assert_eq(gmt_database_exec(db, sql), 0, "%s", sqlite3_errmsg(db));
    gmt_database_close(db);
}

static void write_file(const char *text)
{
    FILE *file = fopen(fixture.output, "w");
    cr_assert_not_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

Test(reader, opens_a_finished_trace)
{
    finish();
    cr_expect_eq(open_trace(0), 0);
}

Test(reader, names_a_missing_file)
{
    finish();
    cr_assert_eq(unlink(fixture.output), 0);
    expect_refused(-ENOENT, "no such file");
}

Test(reader, points_to_a_leftover_spool)
{
    expect_refused(-EAGAIN, "spool");
}

Test(reader, says_that_a_recorder_is_at_work)
{
    int lock = gmt_spool_lock(gmt_spool_folder_open(fixture.spool));
    expect_refused(-EINPROGRESS, "still being recorded");
    close(lock);
}

Test(reader, refuses_a_directory)
{
    cr_assert_eq(mkdir(fixture.output, 0777), 0);
    expect_refused(-EISDIR, "directory");
}

Test(reader, refuses_an_empty_file)
{
    finish();
    cr_assert_eq(truncate(fixture.output, 0), 0);
    expect_refused(-ENODATA, "empty");
}

Test(reader, refuses_a_truncated_trace)
{
    struct stat info;
    finish();
    cr_assert_eq(stat(fixture.output, &info), 0);
    for (off_t bytes = info.st_size - 1; bytes > 100; bytes = bytes * 2 / 3) {
        cr_assert_eq(truncate(fixture.output, bytes), 0);
        expect_refused(-EBADMSG, "cut short");
    }
}

Test(reader, refuses_what_is_no_database)
{
    write_file("#!/bin/sh\necho this is a script of some length\n");
    expect_refused(-EMEDIUMTYPE, "not a trace");
}

Test(reader, refuses_a_database_of_another_program)
{
    finish();
    change("PRAGMA application_id = 1");
    expect_refused(-EMEDIUMTYPE, "no trace of gmtrace");
}

Test(reader, refuses_a_newer_format)
{
    finish();
    change("PRAGMA user_version = 99");
    expect_refused(-EPROTONOSUPPORT, "newer");
}

Test(reader, refuses_an_unfinished_trace_unless_asked)
{
    finish();
    change("UPDATE meta SET value='0' WHERE key='complete'");
    expect_refused(-EAGAIN, "not finished");
    cr_expect_eq(open_trace(GMT_TRACE_ALLOW_INCOMPLETE), 0);
}

Test(reader, refuses_what_it_may_not_read)
{
    finish();
    cr_assert_eq(chmod(fixture.output, 0), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chmod(fixture.root, 0711), 0);
        cr_assert_eq(seteuid(65534), 0);
    }
    expect_refused(-EACCES, "ermission denied");
    if (getuid() == 0) {
        cr_assert_eq(seteuid(0), 0);
    }
}
