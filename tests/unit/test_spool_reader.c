/* SPDX-License-Identifier: Apache-2.0 */
/* The spool reader sees every committed record once and nothing else. Links gmt_store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/store/spool/spool_reader.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;
static struct gmt_spool_reader *reader;

static void setup(void)
{
    gmt_fixture_make(&fixture);
    cr_assert_eq(gmt_spool_reader_open(fixture.spool, &reader), 0);
}

static void teardown(void)
{
    gmt_spool_reader_close(reader);
    gmt_fixture_remove(&fixture);
}

TestSuite(spool_reader, .init = setup, .fini = teardown, .timeout = 60);

/* Records of a pass. */
static unsigned read_pass(bool writer_gone)
{
    struct gmt_spool_record record;
    unsigned count = 0;
    cr_assert_eq(gmt_spool_reader_begin_pass(reader, writer_gone), 0);
    while (gmt_spool_reader_next(reader, &record)) {
        count++;
    }
    return count;
}

static void write_sync(uint32_t chunk)
{
    gmt_fixture_call(&fixture, chunk, GMT_REC_SYNC, &(struct gmt_call){.thread = 1}, NULL, 0);
}

static void expect_losses(uint64_t corrupt, uint64_t truncated)
{
    uint64_t corrupt_seen, truncated_seen;
    gmt_spool_reader_take_losses(reader, &corrupt_seen, &truncated_seen);
    cr_expect_eq(corrupt_seen, corrupt);
    cr_expect_eq(truncated_seen, truncated);
}

static bool exists(const char *name)
{
    return access(gmt_fixture_path(&fixture, name), F_OK) == 0;
}

Test(spool_reader, reads_each_record_once_while_the_chunk_grows)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    write_sync(0);
    write_sync(0);
    cr_assert_eq(read_pass(false), 2);
    cr_assert_eq(read_pass(false), 0);
    write_sync(0);
    cr_assert_eq(read_pass(false), 1);
}

Test(spool_reader, sees_a_record_only_when_it_is_committed)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    struct gmt_call *call = gmt_fixture_reserve(&fixture, 0, 1);
    call->thread = 7;
    cr_assert_eq(read_pass(false), 0);
    gmt_fixture_commit(call, GMT_REC_SYNC, 1);
    cr_assert_eq(read_pass(false), 1);
}

Test(spool_reader, drops_a_torn_tail_and_finishes_the_chunk_when_the_writer_is_gone)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    write_sync(0);
    struct gmt_call *torn = gmt_fixture_reserve(&fixture, 0, 2);
    torn->thread = 7;
    cr_assert_eq(read_pass(true), 1);
    expect_losses(0, 0);
    gmt_spool_reader_release(reader);
    cr_expect_not(exists("chunk-0"));
    cr_expect_eq(fixture.control->bytes_in_use, 0);
}

Test(spool_reader, keeps_an_open_chunk_and_unlinks_a_closed_one)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    gmt_fixture_chunk(&fixture, 1, 8192);
    write_sync(0);
    write_sync(1);
    gmt_fixture_close_chunk(&fixture, 1);
    cr_assert_eq(read_pass(false), 2);
    gmt_spool_reader_release(reader);
    cr_expect(exists("chunk-0"));
    cr_expect_not(exists("chunk-1"));
    cr_expect_eq(fixture.control->bytes_in_use, 4096);
}

static void close_and_keep(uint32_t chunk)
{
    struct gmt_chunk_header *header = (void *)fixture.chunk[chunk].map;
    __atomic_store_n(&header->closed, GMT_CHUNK_KEPT, __ATOMIC_RELEASE);
}

Test(spool_reader, gives_back_what_the_writer_keeps_as_long_as_it_lives)
{
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        gmt_fixture_chunk(&fixture, chunk, 4096);
        write_sync(chunk);
    }
    close_and_keep(0);
    cr_assert_eq(read_pass(false), 2);
    gmt_spool_reader_release(reader);
    cr_expect(exists("free-0"));
    cr_expect_not(exists("chunk-0"));
    cr_expect_eq(fixture.control->bytes_in_use, 2 * 4096);
    close_and_keep(1);
    cr_assert_eq(read_pass(true), 0);
    gmt_spool_reader_release(reader);
    cr_expect_not(exists("free-1"));
    cr_expect_not(exists("chunk-1"));
    cr_expect_eq(fixture.control->bytes_in_use, 4096);
}

Test(spool_reader, does_not_unlink_before_the_release)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    gmt_fixture_close_chunk(&fixture, 0);
    cr_assert_eq(read_pass(true), 0);
    cr_expect(exists("chunk-0"));
}

Test(spool_reader, finds_chunks_made_later)
{
    cr_assert_eq(read_pass(false), 0);
    gmt_fixture_chunk(&fixture, 0, 4096);
    write_sync(0);
    cr_assert_eq(read_pass(false), 1);
    gmt_fixture_chunk(&fixture, 1, 4096);
    write_sync(1);
    cr_assert_eq(read_pass(false), 1);
}

Test(spool_reader, stops_at_a_commit_word_that_is_none)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    write_sync(0);
    uint32_t *word = gmt_fixture_reserve(&fixture, 0, 1);
    *word = 0x12340107; /* one slot, of a wrong magic */
    write_sync(0);
    cr_assert_eq(read_pass(false), 1);
    cr_assert_eq(read_pass(false), 0);
    expect_losses(1, 0);
    cr_assert_eq(read_pass(true), 0);
    expect_losses(0, 0);
}

Test(spool_reader, stops_at_a_record_longer_than_its_chunk)
{
    gmt_fixture_chunk(&fixture, 0, 256);
    gmt_fixture_commit(gmt_fixture_reserve(&fixture, 0, 1), GMT_REC_CALL, 200);
    cr_assert_eq(read_pass(true), 0);
    expect_losses(1, 0);
}

Test(spool_reader, reads_a_truncated_file_up_to_its_end)
{
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    for (int i = 0; i < 1000; i++) {
        write_sync(0);
    }
    cr_assert_eq(truncate(gmt_fixture_path(&fixture, "chunk-0"), 64 + 10 * 64 + 32), 0);
    cr_assert_eq(read_pass(true), 10);
    expect_losses(0, 1);
}

Test(spool_reader, tolerates_files_that_are_too_short_or_not_chunks)
{
    gmt_fixture_chunk(&fixture, 0, 4096);
    gmt_fixture_chunk(&fixture, 1, 4096);
    gmt_fixture_chunk(&fixture, 2, 4096);
    write_sync(0);
    ((struct gmt_chunk_header *)(void *)fixture.chunk[1].map)->magic = 42;
    cr_assert_eq(truncate(gmt_fixture_path(&fixture, "chunk-2"), 3), 0);
    cr_assert_eq(read_pass(true), 1);
    expect_losses(1, 0);
}

Test(spool_reader, goes_on_where_another_reader_stopped)
{
    struct gmt_chunk_position position;
    size_t cursor = 0;
    gmt_fixture_chunk(&fixture, 0, 4096);
    write_sync(0);
    cr_assert_eq(read_pass(false), 1);
    cr_assert(gmt_spool_reader_changed(reader, &cursor, &position));
    gmt_spool_reader_close(reader);
    write_sync(0);
    cr_assert_eq(gmt_spool_reader_open(fixture.spool, &reader), 0);
    cr_assert_eq(gmt_spool_reader_resume(reader, &position), 0);
    cr_assert_eq(read_pass(false), 1);
}

static int open_result(void)
{
    struct gmt_spool_reader *other;
    int error = gmt_spool_reader_open(fixture.spool, &other);
    cr_expect_null(other);
    return error;
}

Test(spool_reader, states_why_a_control_file_is_refused)
{
    fixture.control->version = 99;
    cr_expect_eq(open_result(), -EPROTONOSUPPORT);
    fixture.control->version = GMT_SPOOL_VERSION;
    fixture.control->byte_order = 0x04030201;
    cr_expect_eq(open_result(), -EILSEQ);
    fixture.control->magic = __builtin_bswap64(GMT_SPOOL_MAGIC);
    cr_expect_eq(open_result(), -EILSEQ);
    fixture.control->magic = 1;
    cr_expect_eq(open_result(), -EBADMSG);
    fixture.control->magic = 0;
    cr_expect_eq(open_result(), -ENODATA);
    unlink(gmt_fixture_path(&fixture, "control"));
    cr_expect_eq(open_result(), -ENOENT);
}

Test(spool_reader, reads_a_copy_of_a_control_file_that_is_truncated)
{
    struct gmt_spool_reader *copy;
    int folder = gmt_spool_folder_open(fixture.spool);
    cr_assert_geq(folder, 0);
    cr_assert_eq(gmt_spool_reader_open_at(folder, true, (uid_t)-1, &copy), 0);
    cr_assert_eq(truncate(gmt_fixture_path(&fixture, "control"), 0), 0);
    cr_expect_eq(gmt_spool_reader_control(copy)->version, GMT_SPOOL_VERSION);
    gmt_spool_reader_close(copy);
    close(folder);
}

static void limit_files(rlim_t most)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(spool_reader, reads_more_chunks_than_it_may_have_open)
{
    for (uint32_t chunk = 0; chunk < 40; chunk++) {
        gmt_fixture_chunk(&fixture, chunk, 4096);
        write_sync(chunk);
    }
    limit_files(32);
    gmt_spool_reader_close(reader);
    cr_assert_eq(gmt_spool_reader_open(fixture.spool, &reader), 0);
    cr_expect_eq(read_pass(true), 40);
    cr_expect_eq(gmt_spool_reader_shortage(reader), 0);
    expect_losses(0, 0);
}

Test(spool_reader, keeps_chunks_that_it_cannot_open_for_want_of_descriptors)
{
    for (uint32_t chunk = 0; chunk < 4; chunk++) {
        gmt_fixture_chunk(&fixture, chunk, 4096);
        write_sync(chunk);
    }
    struct gmt_spool_record record;
    unsigned before = 0;
    cr_assert_eq(gmt_spool_reader_begin_pass(reader, true), 0);
    limit_files(0);
    while (gmt_spool_reader_next(reader, &record)) {
        before++;
    }
    cr_expect_lt(before, 4);
    cr_expect_eq(gmt_spool_reader_shortage(reader), -EMFILE);
    gmt_spool_reader_release(reader);
    cr_expect(exists("chunk-3"));
    limit_files(64);
    cr_expect_eq(before + read_pass(true), 4);
    cr_expect_eq(gmt_spool_reader_shortage(reader), 0);
    expect_losses(0, 0);
}
