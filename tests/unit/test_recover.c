/* SPDX-License-Identifier: Apache-2.0 */
/* What a killed recorder left becomes a trace in a new file, and only if this user made it here; what is
 * there is not written to, and no link is followed. Links gmt_store; needs debug information of its own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/store/db/private_folder.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

#define CHUNKS 24
#define CALLS_PER_CHUNK 12000 /* so that a recorder is killed between its transactions, too */
#define CALLS ((int64_t)CHUNKS * CALLS_PER_CHUNK)

static struct gmt_fixture fixture;
static char victim[200], journal[200], new_file[200];

static void setup(void)
{
    gmt_fixture_make(&fixture);
    (void)snprintf(victim, sizeof(victim), "%s/victim", fixture.root);
    (void)snprintf(journal, sizeof(journal), "%s-journal", fixture.output);
    (void)snprintf(new_file, sizeof(new_file), "%s/new.db", fixture.root);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(recover, .init = setup, .fini = teardown, .timeout = 300);

static void fill(void)
{
    for (uint32_t c = 0; c < CHUNKS; c++) {
        gmt_fixture_chunk(&fixture, c, 2 << 20);
        for (uint32_t i = 0; i < CALLS_PER_CHUNK; i++) {
            uint64_t ticks = 2000 + (uint64_t)c * 10000000 + (uint64_t)i * 100;
            struct gmt_call call = {
                .thread = c + 1, .begin_ticks = ticks, .end_ticks = ticks + 50, .api = 1};
            gmt_fixture_call(&fixture, c, GMT_REC_CALL, &call, NULL, 0);
        }
        gmt_fixture_close_chunk(&fixture, c);
    }
}

static int64_t calls(void)
{
    return gmt_fixture_number(&fixture, "SELECT count(DISTINCT begin_ns) FROM api_call");
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* A full spool whose recorder is killed when it has taken chunks away: at once, or while it writes on. False:
 * the recorder was faster. */
static bool try_to_leave_a_part(void)
{
    int status;
    fill();
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        bool writer_gone;
        _exit(gmt_recording_run(fixture.spool, &writer_gone) == 0 ? 0 : 1);
    }
    while (__atomic_load_n(&fixture.control->chunks_read, __ATOMIC_RELAXED) == 0) {
        if (waitpid(child, &status, WNOHANG) != 0) {
            cr_assert_eq(status, 0, "the recorder ended: %d", status);
            return false;
        }
    }
    (void)usleep((unsigned)rand() % 50000);
    (void)kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void leave_a_part(void)
{
    while (!try_to_leave_a_part()) {
        teardown();
        setup();
    }
}

Test(recover, goes_on_from_what_a_killed_recorder_began)
{
    srand(15);
    for (int round = 0; round < 5; round++) {
        leave_a_part();
        cr_assert_eq(gmt_recording_recover(fixture.output), 0);
        cr_expect_eq(calls(), CALLS);
        cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM api_call"), CALLS);
        cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"),
                         "1");
        cr_expect_str_eq(gmt_fixture_text(&fixture, "PRAGMA integrity_check"), "ok");
        cr_expect_neq(access(journal, F_OK), 0);
        cr_expect_neq(access(fixture.spool, F_OK), 0);
        teardown();
        setup();
    }
}

/* A process that is killed while it makes a database: its first pages are in the file, and the journal takes
 * them back. */
static void leave_first_pages(void)
{
    int status;
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        sqlite3 *db;
        bool is_left = sqlite3_open(fixture.output, &db) == SQLITE_OK &&
                       sqlite3_exec(db,
                                    "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;"
                                    "BEGIN; CREATE TABLE meta (key, value);",
                                    NULL, NULL, NULL) == SQLITE_OK &&
                       sqlite3_db_cacheflush(db) == SQLITE_OK;
        _exit(is_left ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    struct stat file, log;
    cr_assert_eq(stat(fixture.output, &file), 0);
    cr_assert_eq(stat(journal, &log), 0);
    cr_assert(file.st_size > 0 && log.st_size > 0);
}

Test(recover, begins_anew_where_the_first_pages_were_being_written)
{
    fill();
    leave_first_pages();
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_eq(calls(), CALLS);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"),
                     "1");
    cr_expect_neq(access(journal, F_OK), 0);
    teardown();
    setup();

    /* Without its journal it may be anybody's. */
    fill();
    leave_first_pages();
    cr_assert_eq(unlink(journal), 0);
    cr_expect_eq(gmt_recording_recover(fixture.output), -EEXIST);
    cr_expect_eq(access(fixture.output, F_OK), 0);
}

Test(recover, never_calls_complete_what_lacks_a_removed_trace)
{
    leave_a_part();
    uint32_t lost = fixture.control->chunks_read;
    (void)unlink(journal);
    cr_assert_eq(unlink(fixture.output), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"),
                     "0");
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count FROM loss WHERE kind='chunk lost'"),
                 lost);
    cr_expect_lt(calls(), CALLS);
    cr_expect_gt(calls(), 0);
}

Test(recover, leaves_a_spool_of_another_boot_and_makes_a_new_file_when_asked)
{
    fill();
    (void)strcpy(fixture.control->boot_id, "00000000-0000-0000-0000-000000000000");
    cr_expect_eq(gmt_recording_recover(fixture.output), -EREMOTE);
    cr_expect_neq(access(fixture.output, F_OK), 0);
    cr_expect_neq(access(gmt_fixture_path(&fixture, "lock"), F_OK), 0, "nothing is written");
    cr_assert_eq(gmt_recording_extract(fixture.spool, new_file), 0);
    cr_expect_eq(access(gmt_fixture_path(&fixture, "chunk-0"), F_OK), 0);
    cr_expect_neq(access(gmt_fixture_path(&fixture, "lock"), F_OK), 0);
    cr_expect_eq(gmt_recording_extract(fixture.spool, new_file), -EEXIST);
    cr_assert_eq(rename(new_file, fixture.output), 0);
    cr_expect_eq(calls(), CALLS);
}

Test(recover, finishes_in_another_place_what_another_boot_began)
{
    leave_a_part();
    (void)strcpy(fixture.control->boot_id, "another");
    cr_assert_eq(gmt_recording_extract(fixture.spool, new_file), 0);
    struct stat info;
    cr_assert_eq(stat(new_file, &info), 0);
    cr_expect_eq(info.st_mode & 077, 0, "it is the user's alone");
    cr_assert_eq(rename(new_file, fixture.output), 0);
    (void)unlink(journal);
    cr_expect_eq(calls(), CALLS);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"),
                     "1");
}

Test(recover, leaves_the_spool_of_another_user)
{
    fill();
    if (geteuid() != 0) {
        cr_skip("only root can give files away");
    }
    cr_assert_eq(chown(gmt_fixture_path(&fixture, "chunk-3"), 65534, 65534), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_eq(calls(), CALLS - CALLS_PER_CHUNK, "chunks of somebody else are not read");
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count FROM loss WHERE kind='corrupt record'"),
                 1);
    teardown();
    setup();
    cr_assert_eq(chown(gmt_fixture_path(&fixture, "control"), 65534, 65534), 0);
    cr_expect_eq(gmt_recording_recover(fixture.output), -EPERM);
    cr_expect_neq(access(fixture.output, F_OK), 0);
}

Test(recover, follows_no_link)
{
    char elsewhere[200];
    enum gmt_recording_state state;
    fill();
    write_file(victim, "mine", 4);
    cr_assert_eq(symlink("victim", fixture.output), 0);
    cr_expect_eq(gmt_recording_recover(fixture.output), -ELOOP);
    cr_assert_eq(unlink(fixture.output), 0);
    cr_assert_eq(symlink("absent", fixture.output), 0);
    cr_expect_eq(gmt_recording_recover(fixture.output), -ELOOP);
    (void)snprintf(elsewhere, sizeof(elsewhere), "%s/absent", fixture.root);
    cr_expect_neq(access(elsewhere, F_OK), 0, "nothing is made where a link leads");
    cr_assert_eq(unlink(fixture.output), 0);

    (void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", fixture.root);
    cr_assert_eq(rename(fixture.spool, elsewhere), 0);
    cr_assert_eq(symlink("elsewhere", fixture.spool), 0);
    cr_assert_eq(gmt_recording_state(fixture.output, &state), 0);
    cr_expect_eq(state, GMT_RECORDING_NONE);
    cr_expect_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_neq(access(fixture.output, F_OK), 0);
    cr_expect_eq(access(gmt_fixture_path(&fixture, "chunk-0"), F_OK), 0);
}

/* The end of a rollback journal that has SQLite remove `victim` when it rolls back. */
static void name_super_journal(void)
{
    unsigned char bytes[512 + 4 + 200 + 16] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1,
                                               0x63, 0xd7, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    size_t length = strlen(victim), at = 512 + 4 + length;
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        sum += (unsigned char)victim[i];
    }
    bytes[22] = 2;  /* sectors of 512 bytes */
    bytes[26] = 32; /* pages of 8192 bytes */
    (void)snprintf((char *)bytes + 516, sizeof(bytes) - 516, "%s", victim);
    for (size_t i = 0; i < 4; i++) {
        bytes[at + i] = (unsigned char)(length >> (24 - 8 * i));
        bytes[at + 4 + i] = (unsigned char)(sum >> (24 - 8 * i));
    }
    memcpy(bytes + at + 8, magic, sizeof(magic));
    write_file(journal, bytes, at + 16);
}

Test(recover, touches_no_file_that_a_journal_names)
{
    leave_a_part();
    write_file(victim, "mine", 4);
    name_super_journal();
    cr_expect_neq(gmt_recording_recover(fixture.output), 0);
    cr_expect_eq(access(victim, F_OK), 0);
    cr_expect_eq(access(journal, F_OK), 0, "nor the journal");
    (void)gmt_recording_extract(fixture.spool, new_file);
    cr_expect_eq(access(victim, F_OK), 0);
    /* The recorder itself, which would write to the trace that is there. */
    bool writer_gone;
    (void)gmt_recording_run(fixture.spool, &writer_gone);
    cr_expect_eq(access(victim, F_OK), 0);
}

Test(recover, goes_without_a_journal_that_is_no_file)
{
    leave_a_part();
    (void)unlink(journal);
    cr_assert_eq(mkfifo(journal, 0600), 0);
    cr_expect_eq(gmt_recording_extract(fixture.spool, new_file), 0);
    cr_expect_eq(unlink(journal), 0);
}

Test(recover, makes_a_file_in_one_process_at_a_time)
{
    struct gmt_private_folder first, second;
    cr_assert_eq(gmt_private_folder_open(&first, new_file), 0);
    cr_expect_eq(gmt_private_folder_open(&second, new_file), -EBUSY);
    gmt_private_folder_close(&first);
    cr_assert_eq(gmt_private_folder_open(&second, new_file), 0);
    gmt_private_folder_close(&second);
}

/* The launcher asks each file that looks like a trace of its run. */
Test(recover, runs_nothing_of_a_file_that_is_asked_for_its_run)
{
    sqlite3 *db;
    char run[64];
    cr_assert_eq(sqlite3_open(victim, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "CREATE VIEW meta(key, value) AS WITH RECURSIVE endless(key) AS "
                              "(SELECT 'x' UNION ALL SELECT key FROM endless) "
                              "SELECT key, key FROM endless",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    cr_expect_neq(gmt_recording_run_of(victim, run, sizeof(run)), 0);
}

static __attribute__((noinline)) uintptr_t here(void)
{
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static int first_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct gmt_object *object = data;
    (void)size;
    object->load_bias = info->dlpi_addr;
    object->start = info->dlpi_addr;
    object->end = info->dlpi_addr + (UINT64_C(1) << 30);
    return 1;
}

/* A call from a line of this file. */
static void write_stack(uint64_t address)
{
    char exe[512] = "";
    struct gmt_object object = {0};
    struct gmt_stack stack = {.id = 1, .depth = 1};
    struct gmt_call call = {
        .thread = 1, .begin_ticks = 2000, .end_ticks = 2050, .api = 1, .stack = 1};
    struct gmt_transfer transfer = {.direction = GMT_DIR_D2H};
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
    (void)dl_iterate_phdr(first_object, &object);
    gmt_fixture_side(&fixture, 0, GMT_REC_OBJECT, &object, sizeof(object), exe, "", NULL);
    gmt_fixture_side_data(&fixture, 0, GMT_REC_STACK, &stack, sizeof(stack), &address,
                          sizeof(address));
    gmt_fixture_call(&fixture, 0, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
}

Test(recover, takes_text_of_sources_only_as_the_recorder)
{
    static const char named[] = "SELECT count(*) FROM v_stack WHERE function IS NOT NULL";
    static const char texts[] = "SELECT count(*) FROM source_file WHERE text IS NOT NULL";
    static const char opened[] = "SELECT count(*) FROM coverage WHERE kind = 'runtime'";
    bool writer_gone;
    uint64_t address = here();
    write_stack(address);
    cr_assert_eq(gmt_recording_run(fixture.spool, &writer_gone), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, named), 1);
    cr_expect_eq(gmt_fixture_number(&fixture, texts), 1);
    cr_expect_eq(gmt_fixture_number(&fixture, opened), 1);
    teardown();
    setup();

    write_stack(address);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, named), 1);
    cr_expect_eq(gmt_fixture_number(&fixture, texts), 0);
    teardown();
    setup();

    write_stack(address);
    fixture.control->boot_id[0] = '\0';
    cr_assert_eq(gmt_recording_extract(fixture.spool, new_file), 0);
    cr_assert_eq(rename(new_file, fixture.output), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, named), 0, "no file that it names is looked into");
    cr_expect_eq(gmt_fixture_number(&fixture, opened), 0);
}
