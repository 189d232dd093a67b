/* SPDX-License-Identifier: Apache-2.0 */
/* Full chunks are written again when the reader has given them back, and no record is lost or read twice. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/chunk.h"
#include "libtrace/record/recycle.h"
#include "libtrace/record/spool.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/store/spool/spool_files.h"
#include "libtrace/store/spool/spool_reader.h"

static char folder[64], output[96];
static struct gmt_spool_reader *reader;
static uint64_t written, seen;

static void setup(void)
{
    /* A tmpfs, where there is one: chunks are kept on few file systems. */
    (void)snprintf(folder, sizeof(folder), "%s/gmtrace-recycle.XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(output, sizeof(output), "%s/t.db", folder);
    cr_assert_eq(gmt_spool_open(&(struct gmt_spool_config){.output = output,
                                                           .bytes_limit = UINT64_C(1) << 30}),
                 0);
    cr_assert_eq(gmt_spool_reader_open(gmt_spool_directory(), &reader), 0);
}

static void teardown(void)
{
    char spool[128];
    (void)snprintf(spool, sizeof(spool), "%s.spool", output);
    gmt_spool_reader_close(reader);
    gmt_spool_remove(spool);
    cr_expect_neq(access(spool, F_OK), 0, "nothing of the spool is left");
    (void)rmdir(folder);
}

TestSuite(recycle, .init = setup, .fini = teardown, .timeout = 120);

static void write_until(uint32_t chunks)
{
    while (gmt_spool_control()->chunk_count < chunks) {
        struct gmt_call *call = gmt_spool_reserve(1);
        cr_assert_not_null(call);
        cr_assert_eq(call->bytes, 0, "slots are empty");
        call->bytes = ++written;
        gmt_spool_commit(call, GMT_REC_CALL, 1);
    }
}

static void read_all(bool writer_gone)
{
    struct gmt_spool_record record;
    cr_assert_eq(gmt_spool_reader_begin_pass(reader, writer_gone), 0);
    while (gmt_spool_reader_next(reader, &record)) {
        cr_assert_eq(((const struct gmt_call *)record.data)->bytes, ++seen);
    }
    gmt_spool_reader_release(reader);
}

static bool exists(const char *name)
{
    char path[192];
    (void)snprintf(path, sizeof(path), "%s/%s", gmt_spool_directory(), name);
    return access(path, F_OK) == 0;
}

/* Chunks 0 and 1 are small; 2 and later ones can be kept. */
static void fill_first_of_4_mib(void)
{
    write_until(4);
    if (!gmt_recycle_is_on()) {
        cr_skip_test("chunks are not kept on this file system");
    }
    read_all(false);
    cr_assert(exists("free-2"));
    cr_assert_not(exists("chunk-2"));
}

Test(recycle, writes_again_what_was_given_back)
{
    fill_first_of_4_mib();
    for (uint32_t chunks = 5; chunks < 12; chunks++) {
        uint64_t before = gmt_spool_control()->bytes_in_use;
        write_until(chunks);
        cr_assert_eq(gmt_spool_control()->bytes_in_use, before, "no file was made");
        read_all(false);
        cr_assert_eq(seen, written);
    }
    cr_expect_eq(gmt_spool_control()->bytes_in_use, 2 * GMT_CHUNK_BYTES);
    read_all(true);
    cr_expect_eq(seen, written);
}

Test(recycle, makes_new_chunks_while_none_was_given_back)
{
    write_until(16); /* more than are kept */
    cr_assert(exists("chunk-2"));
    cr_assert_not(exists("free-2"));
    read_all(false);
    cr_expect_eq(seen, written);
    write_until(30);
    read_all(false);
    read_all(true);
    cr_expect_eq(seen, written);
}

Test(recycle, forgets_what_the_reader_removed)
{
    fill_first_of_4_mib();
    char path[192];
    (void)snprintf(path, sizeof(path), "%s/free-2", gmt_spool_directory());
    cr_assert_eq(unlink(path), 0);
    write_until(8);
    read_all(false);
    read_all(true);
    cr_expect_eq(seen, written);
}

/* A program that is killed between zeroing and renaming, or before, leaves nothing to read. */
Test(recycle, leaves_nothing_to_read_in_what_was_given_back)
{
    fill_first_of_4_mib();
    gmt_spool_reader_close(reader);
    cr_assert_eq(gmt_spool_reader_open(gmt_spool_directory(), &reader), 0);
    uint64_t before = seen;
    seen = written - 1; /* of chunk 3, which the first reader has read and this one reads again */
    read_all(true);
    cr_expect_eq(seen, written, "%lu", (unsigned long)before);
}

static void *record_one(void *done)
{
    struct gmt_call *call = gmt_spool_reserve(1);
    if (call != NULL) {
        gmt_spool_commit(call, GMT_REC_CALL, 1);
        *(bool *)done = true;
    }
    return NULL;
}

/* A thread that needs a small chunk where there is no room for one: what was given back makes some. */
Test(recycle, gives_up_what_was_given_back_where_there_is_no_room)
{
    fill_first_of_4_mib();
    struct gmt_control *control = gmt_spool_control();
    uint64_t before = control->bytes_in_use;
    control->bytes_limit = before; /* full */
    pthread_t thread;
    bool done = false;
    cr_assert_eq(pthread_create(&thread, NULL, record_one, &done), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect(done, "nothing was dropped");
    cr_expect_eq(control->dropped_full, 0);
    cr_expect_not(exists("free-2"));
    cr_expect_lt(control->bytes_in_use, before);
}

/* Where the trace finds no room the reader takes them away, and the writer makes new ones. */
Test(recycle, lets_the_reader_remove_what_it_gave_back)
{
    fill_first_of_4_mib();
    uint64_t before = gmt_spool_control()->bytes_in_use;
    gmt_spool_free_remove(gmt_spool_folder_open(gmt_spool_directory()), gmt_spool_control());
    cr_expect_not(exists("free-2"));
    cr_expect_eq(gmt_spool_control()->bytes_in_use, before - GMT_CHUNK_BYTES);
    write_until(8);
    read_all(false);
    read_all(true);
    cr_expect_eq(seen, written);
}
