/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins that were put aside in a file of the spool: the trace gets those that are wanted, and where one
 * cannot be had, all else, and why. Who wrote the file and the records may be anybody. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/recording_internal.h"
#include "tests/unit/spool_fixture.h"

enum { CRC = 7, OTHER = 8, MAX_IMAGE = 1 << 16, INSTRUCTIONS = 16, LAUNCH_NS = 5000 };

static const char reasons_sql[] =
    "SELECT group_concat(detail, '; ') FROM (SELECT detail FROM loss WHERE kind = 'cubin not kept' "
    "ORDER BY detail)";

static struct gmt_fixture fixture;
static unsigned char image[MAX_IMAGE];
static size_t image_bytes;

static void setup(void)
{
    struct gmt_capability deep = {.state = GMT_CAP_OK};
    struct gmt_kernel kernel = {.id = 1};
    struct gmt_kernel_class class = {.id = 3, .kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    FILE *in = fopen(GMT_SOURCE_DIR "/tests/data/cubin/lines.cubin", "re");
    cr_assert_not_null(in);
    image_bytes = fread(image, 1, sizeof(image), in);
    (void)fclose(in);
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 18);
    gmt_fixture_process(&fixture, 0, 1000);
    gmt_fixture_side(&fixture, 0, GMT_REC_CAPABILITY, &deep, sizeof(deep), "instructions",
                     "1 launches", "", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL, &kernel, sizeof(kernel), "_Z1aPKfPf", NULL);
    gmt_fixture_side(&fixture, 0, GMT_REC_KERNEL_CLASS, &class, sizeof(class), NULL);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(cubin_images, .init = setup, .fini = teardown, .timeout = 60);

/* ---- what the program wrote ---- */

static void put_aside(uint64_t offset)
{
    int fd = open(gmt_fixture_path(&fixture, GMT_CUBIN_FILE), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, image, image_bytes, (off_t)offset), (ssize_t)image_bytes);
    close(fd);
}

static void want(uint32_t crc, uint64_t offset, uint64_t bytes)
{
    const struct gmt_cubin_place place = {.crc = crc, .offset = offset, .bytes = bytes};
    gmt_fixture_side(&fixture, 0, GMT_REC_CUBIN_PLACE, &place, sizeof(place), NULL);
}

static void count_launch(uint32_t crc, uint32_t launch_seq)
{
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        struct gmt_sass_instruction counts = {
            .launch_seq = launch_seq,
            .kernel_class = 3,
            .cubin_crc = crc,
            .pc_offset = 16 * i,
            .measured = (1u << GMT_SASS_SLOTS) - 1,
            .values = {[GMT_SASS_EXECUTED] = 10, [GMT_SASS_LANES] = 320, [GMT_SASS_SECTORS] = 80}};
        gmt_fixture_side(&fixture, 0, GMT_REC_SASS_INSTRUCTION, &counts, sizeof(counts),
                         "_Z1aPKfPf", NULL);
    }
}

static void launch(uint32_t launch_seq, uint64_t ns)
{
    const struct gmt_call call = {.thread = 1, .begin_ticks = ns, .end_ticks = ns + 100, .api = 1};
    const struct gmt_launch launch = {.kernel = 1,
                                      .kernel_class = 3,
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .launch_seq = launch_seq};
    gmt_fixture_call(&fixture, 0, GMT_REC_LAUNCH, &call, &launch, sizeof(launch));
}

/* ---- what the trace says ---- */

static void finish(void)
{
    int error = gmt_recording_recover(fixture.output);
    cr_assert_eq(error, 0, "%s", gmt_recording_explain(error));
    gmt_fixture_expect_text(&fixture, "PRAGMA integrity_check", "ok");
    gmt_fixture_expect_text(&fixture, "SELECT value FROM meta WHERE key = 'complete'", "1");
}

static void expect_lines(uint32_t crc)
{
    char sql[256];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM instruction WHERE cubin_crc = %u AND line IS NOT NULL",
                   crc);
    gmt_fixture_expect(&fixture, sql, INSTRUCTIONS);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT length(image) = bytes AND bytes = %zu AND substr(hex(image), 1, 8) = "
                   "'7F454C46' FROM cubin WHERE crc = %u",
                   image_bytes, crc);
    gmt_fixture_expect(&fixture, sql, 1);
}

/* Its cubin could not be had: the counts are there all the same, and so is the reason, once. */
static void expect_reason(const char *reason)
{
    char whole[160];
    (void)snprintf(whole, sizeof(whole), "crc %d: %s", CRC, reason);
    finish();
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM instruction WHERE line IS NULL AND executed = 10",
                       INSTRUCTIONS);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 0);
    gmt_fixture_expect_text(&fixture, reasons_sql, whole);
    /* What its kernel's accesses are is not known without the code. */
    gmt_fixture_expect_text(
        &fixture, "SELECT group_concat(DISTINCT kind) FROM loss WHERE kind <> 'cubin not kept'",
        "kernel class measured only in part");
}

Test(cubin_images, are_taken_from_the_file)
{
    put_aside(100);
    put_aside(100 + image_bytes);
    want(CRC, 100, image_bytes);
    want(OTHER, 100 + image_bytes, image_bytes);
    count_launch(CRC, 1);
    count_launch(OTHER, 2);
    finish();
    expect_lines(CRC);
    expect_lines(OTHER);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(cubin_images, are_taken_only_where_an_instruction_names_them)
{
    put_aside(0);
    want(OTHER, image_bytes, image_bytes); /* which the file does not even have */
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    finish();
    expect_lines(CRC);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

Test(cubin_images, of_which_the_file_has_lost_its_end_are_a_loss)
{
    put_aside(0);
    put_aside(image_bytes);
    cr_assert_eq(truncate(gmt_fixture_path(&fixture, GMT_CUBIN_FILE), (off_t)(2 * image_bytes - 1)),
                 0);
    want(CRC, image_bytes, image_bytes);
    want(OTHER, 0, image_bytes);
    count_launch(CRC, 1);
    count_launch(OTHER, 2);
    finish();
    expect_lines(OTHER); /* nothing else is lost */
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin WHERE crc = 7", 0);
    gmt_fixture_expect(&fixture,
                       "SELECT count(*) FROM instruction WHERE cubin_crc = 7 AND line IS NULL",
                       INSTRUCTIONS);
    gmt_fixture_expect_text(&fixture, reasons_sql,
                            "crc 7: the spool's file of cubins ends before it does");
}

Test(cubin_images, are_a_loss_where_there_is_no_file)
{
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    expect_reason("the spool has no file of cubins");
}

Test(cubin_images, are_not_taken_through_a_link)
{
    char target[200];
    put_aside(0);
    (void)snprintf(target, sizeof(target), "%s/elsewhere", fixture.root);
    cr_assert_eq(rename(gmt_fixture_path(&fixture, GMT_CUBIN_FILE), target), 0);
    cr_assert_eq(symlink(target, gmt_fixture_path(&fixture, GMT_CUBIN_FILE)), 0);
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    expect_reason("the spool's file of cubins cannot be opened");
}

Test(cubin_images, are_not_waited_for_from_a_pipe)
{
    cr_assert_eq(mkfifo(gmt_fixture_path(&fixture, GMT_CUBIN_FILE), 0600), 0);
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    expect_reason("the spool's file of cubins cannot be opened");
}

Test(cubin_images, are_not_taken_from_another_users_file)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can give a file away");
    }
    put_aside(0);
    cr_assert_eq(chown(gmt_fixture_path(&fixture, GMT_CUBIN_FILE), 1, (gid_t)-1), 0);
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    expect_reason("the spool's file of cubins belongs to another user");
}

Test(cubin_images, with_numbers_of_no_recorder_are_a_loss)
{
    static const struct {
        uint64_t offset, bytes;
        const char *reason;
    } rows[] = {
        {1, MAX_IMAGE, "the spool's file of cubins ends before it does"},
        {GMT_CUBIN_FILE_MOST_BYTES, 1, "the spool's file of cubins ends before it does"},
        {UINT64_C(1) << 56, UINT64_C(1) << 27, "the spool's file of cubins ends before it does"},
        {0, GMT_CUBIN_MOST_BYTES + 1, "it has more bytes than a cubin may have"},
        {0, UINT64_C(1) << 56, "it has more bytes than a cubin may have"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_aside(0);
        want(CRC, rows[i].offset, rows[i].bytes);
        count_launch(CRC, 1);
        expect_reason(rows[i].reason);
        teardown();
        setup();
    }
}

/* What does not go into a row of the database: as any record with such numbers. */
Test(cubin_images, with_impossible_numbers_are_damaged_records)
{
    put_aside(0);
    want(CRC, UINT64_MAX, image_bytes);
    want(CRC, 0, UINT64_MAX);
    want(CRC, 0, 0);
    count_launch(CRC, 1);
    finish();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 0);
    gmt_fixture_expect(&fixture, "SELECT sum(count) FROM loss WHERE kind = 'corrupt record'", 3);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM instruction", INSTRUCTIONS);
}

/* So that a small file does not make a large trace: what is taken has no more bytes than the file. */
Test(cubin_images, do_not_lie_upon_each_other)
{
    put_aside(0);
    want(CRC, 0, image_bytes);
    want(OTHER, image_bytes - 1, 1);
    want(CRC, 0, image_bytes); /* a record twice is no harm */
    count_launch(CRC, 1);
    count_launch(OTHER, 2);
    finish();
    expect_lines(CRC);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 1);
    gmt_fixture_expect_text(&fixture, reasons_sql, "crc 8: another one is in its place");
}

/* A dump of the last seconds is made of the records of all chunks, and names few launches of all. */
Test(cubin_images, of_the_last_seconds_are_those_that_their_launches_name)
{
    fixture.control->ring_ns = 1000 * 1000;
    fixture.control->ring_bytes = UINT64_C(1) << 30;
    put_aside(0);
    put_aside(image_bytes);
    want(OTHER, image_bytes, image_bytes);
    launch(1, 2000);
    count_launch(OTHER, 1);
    want(CRC, 0, image_bytes); /* also long before the window: it is said once */
    launch(2, 2000 * 1000 * 1000);
    count_launch(CRC, 2);
    finish();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch", 1);
    expect_lines(CRC);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM cubin", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
}

/* The record is in the unfinished trace already, and its chunk taken away. */
Test(cubin_images, are_taken_when_the_recorder_was_killed_after_the_record)
{
    struct gmt_recording recording;
    uint64_t records;
    put_aside(0);
    want(CRC, 0, image_bytes);
    count_launch(CRC, 1);
    gmt_fixture_close_chunk(&fixture, 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        bool good = gmt_recording_begin(&recording, fixture.spool, GMT_RECORDING_SOURCE_LIVE) ==
                        0 &&
                    gmt_recording_open_database(&recording) == 0 &&
                    gmt_recording_pass(&recording, true, &records) == 0 &&
                    gmt_recording_commit(&recording) == 0;
        (void)raise(good ? SIGKILL : SIGTERM);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cr_assert_eq(access(gmt_fixture_path(&fixture, "chunk-0"), F_OK), -1);
    gmt_fixture_expect(&fixture, "SELECT sum(length(piece)) FROM ingest_cubin", 0);
    finish();
    expect_lines(CRC);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 0);
    cr_expect_eq(access(fixture.spool, F_OK), -1, "the file goes with the spool");
}
