/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half of a spool where its writer, its files or its process come to grief. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/proc.h"
#include "libtrace/record/spool.h"
#include "libtrace/store/spool/spool_files.h"
#include "libtrace/store/spool/spool_reader.h"
#include "libtrace/threads/epoch.h"

static char folder[64], output[96];
static struct gmt_spool_reader *reader;

static void setup(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/gmtrace-spool.XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(output, sizeof(output), "%s/t.db", folder);
    (void)umask(0);
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
    (void)rmdir(folder);
}

TestSuite(spool, .init = setup, .fini = teardown, .timeout = 60);

static void write_calls(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct gmt_call *call = gmt_spool_reserve(1);
        cr_assert_not_null(call);
        gmt_spool_commit(call, GMT_REC_CALL, 1);
    }
}

/* How many calls a pass finds. */
static unsigned read_calls(bool writer_gone)
{
    struct gmt_spool_record record;
    unsigned calls = 0;
    cr_assert_eq(gmt_spool_reader_begin_pass(reader, writer_gone), 0);
    while (gmt_spool_reader_next(reader, &record)) {
        calls += record.type == GMT_REC_CALL;
    }
    gmt_spool_reader_release(reader);
    return calls;
}

Test(spool, records_after_one_that_was_never_committed_are_read)
{
    write_calls(3);
    cr_assert_not_null(gmt_spool_reserve(4));
    gmt_spool_void();
    write_calls(5);
    cr_expect_eq(read_calls(false), 8);
}

Test(spool, nothing_is_made_void_that_was_committed)
{
    write_calls(3);
    gmt_spool_void();
    gmt_spool_void();
    cr_expect_eq(read_calls(false), 3);
}

/* No handler of pthread_atfork runs: the kernel clears the epoch. */
Test(spool, a_process_that_was_made_without_fork_does_not_write_into_its_parents)
{
    if (getenv("GMT_EMULATED") != NULL) {
        cr_skip_test("qemu does not emulate MADV_WIPEONFORK");
    }
    int status;
    write_calls(3);
#ifdef SYS_fork
    pid_t child = (pid_t)syscall(SYS_fork);
#else
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (child == 0) {
        bool is_quiet = gmt_epoch() == GMT_EPOCH_FORKED && !gmt_spool_is_open() &&
                        gmt_spool_reserve(1) == NULL && gmt_spool_control() == NULL;
        _exit(is_quiet ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect(gmt_spool_is_open());
    write_calls(2);
    cr_expect_eq(read_calls(false), 5);
}

static void expect_mode(const char *name, mode_t mode)
{
    char path[256];
    struct stat info;
    (void)snprintf(path, sizeof(path), "%s/%s", gmt_spool_directory(), name);
    cr_assert_eq(stat(path, &info), 0, "%s", path);
    cr_expect_eq(info.st_mode & 07777, mode, "%s: %o", name, info.st_mode & 07777);
}

Test(spool, files_are_their_owners_alone_and_not_to_be_opened_for_writing)
{
    write_calls(1);
    expect_mode(".", 0700);
    expect_mode("control", 0400);
    expect_mode("chunk-0", 0400);
}

Test(spool, a_chunk_that_somebody_truncates_ends_and_is_counted)
{
    char path[256];
    uint64_t corrupt, truncated;
    write_calls(10);
    cr_assert_eq(read_calls(false), 10);
    (void)snprintf(path, sizeof(path), "%s/chunk-0", gmt_spool_directory());
    cr_assert_eq(chmod(path, 0600), 0);
    cr_assert_eq(truncate(path, 100), 0);
    cr_expect_eq(read_calls(true), 0);
    gmt_spool_reader_take_losses(reader, &corrupt, &truncated);
    cr_expect_eq(corrupt, 0);
    cr_expect_eq(truncated, 1);
}

/* Three records are whole. */
Test(spool, a_chunk_that_was_cut_before_it_was_read_is_counted)
{
    char path[256];
    uint64_t corrupt, truncated;
    write_calls(10);
    (void)snprintf(path, sizeof(path), "%s/chunk-0", gmt_spool_directory());
    cr_assert_eq(chmod(path, 0600), 0);
    cr_assert_eq(truncate(path, 64 + 3 * 64 + 10), 0);
    cr_expect_eq(read_calls(true), 3);
    gmt_spool_reader_take_losses(reader, &corrupt, &truncated);
    cr_expect_eq(corrupt + truncated, 1);
}

/* Moved away, and another process's folder in its place: nothing is written into that. */
Test(spool, no_chunk_is_made_in_the_folder_of_another)
{
    char own[160], moved[160], file[192];
    (void)snprintf(own, sizeof(own), "%s", gmt_spool_directory());
    (void)snprintf(moved, sizeof(moved), "%s/moved.spool", folder);
    cr_assert_eq(rename(own, moved), 0);
    cr_assert_eq(mkdir(own, 0700), 0);
    (void)snprintf(file, sizeof(file), "%s/control", own);
    int another = open(file, O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(another, 0);
    close(another);
    cr_expect_null(gmt_spool_reserve(1));
    cr_expect_eq(gmt_spool_enter(), -ESTALE);
    cr_expect_eq(gmt_spool_control()->dropped_io, 1);
    cr_expect_eq(gmt_spool_control()->io_errno, ESTALE);
    (void)snprintf(file, sizeof(file), "%s/chunk-0", own);
    cr_expect_neq(access(file, F_OK), 0);
    gmt_spool_remove(own);
    cr_assert_eq(rename(moved, own), 0);
    const struct timespec until_retried = {.tv_nsec = 200000000};
    (void)nanosleep(&until_retried, NULL);
    write_calls(3);
    cr_expect_eq(read_calls(false), 3, "it goes on where the folder is back");
}

Test(spool, a_chunk_that_somebody_removes_is_missed)
{
    char path[256];
    write_calls(10);
    (void)snprintf(path, sizeof(path), "%s/chunk-0", gmt_spool_directory());
    cr_assert_eq(unlink(path), 0);
    cr_expect_eq(read_calls(true), 0);
    cr_expect_eq(gmt_spool_reader_missing(reader), 1);
}

Test(spool, chunks_that_were_read_are_not_missed)
{
    write_calls(30000);
    cr_assert_gt(gmt_spool_control()->chunks_made, 2);
    cr_expect_eq(read_calls(false), 30000);
    cr_expect_eq(gmt_spool_reader_missing(reader), 0);
    cr_expect_eq(read_calls(true), 0);
    cr_expect_eq(gmt_spool_reader_missing(reader), 0);
}

/* Made `age_s` ago, with a control file; its path. */
static void make_leftover(const char *name, time_t age_s, char path[static 192])
{
    char file[256];
    (void)snprintf(path, 192, "%s/%s", folder, name);
    (void)snprintf(file, sizeof(file), "%s/control", path);
    cr_assert_eq(mkdir(path, 0700), 0);
    int fd = open(file, O_WRONLY | O_CREAT, 0400);
    cr_assert_geq(fd, 0);
    close(fd);
    const struct timespec times[2] = {{.tv_sec = time(NULL) - age_s},
                                      {.tv_sec = time(NULL) - age_s}};
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

Test(spool, folders_that_never_got_their_names_are_removed)
{
    static const struct {
        const char *name;
        time_t age_s;
        bool stays;
    } cases[] = {
        {".gmtrace-123-1f", 120, false},      {".gmtrace-123-2f", 10, true},
        {".gmtrace-123-3f.spool", 120, true}, {".gmtrace-doctor-3", 120, true},
        {"gmtrace-123-5f", 120, true},
    };
    char path[192], file[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_leftover(cases[i].name, cases[i].age_s, path);
        gmt_spool_leftovers_remove(output);
        cr_expect_eq(access(path, F_OK) == 0, cases[i].stays, "%s", cases[i].name);
        (void)snprintf(file, sizeof(file), "%s/control", path);
        (void)unlink(file);
        (void)rmdir(path);
    }
}

/* A program may close all descriptors that it does not know, and get their numbers for its own files. */
Test(spool, no_descriptor_of_the_program_is_closed)
{
    struct stat control, info;
    char path[160];
    int fd = 100;
    (void)snprintf(path, sizeof(path), "%s/control", gmt_spool_directory());
    cr_assert_eq(stat(path, &control), 0);
    while (fstat(fd, &info) != 0 || info.st_ino != control.st_ino) {
        cr_assert_lt(++fd, 1000, "the descriptor that holds the lock");
    }
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    cr_assert_eq(dup2(null, fd), fd);
    gmt_spool_abandon();
    cr_expect_eq(fstat(fd, &info), 0);
    close(fd);
    close(null);
}

Test(spool, a_stopped_process_is_seen_as_one)
{
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    cr_assert_eq(kill(child, SIGSTOP), 0);
    cr_assert_eq(waitpid(child, NULL, WUNTRACED), child);
    cr_expect_eq(gmt_proc_state(child), 'T');
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(gmt_proc_state(child), '\0');
}

/* ---- gmtrace's own time --------------------------------------------------------------------------- */

static void sleep_ms(unsigned ms)
{
    (void)usleep(1000 * ms);
}

/* What is spent inside of a piece of it has a row of its own, and counts once. */
Test(spool, own_time_in_own_time_counts_once)
{
    uint64_t before_ns = gmt_spool_own_total_ns();
    uint64_t outer_ns = gmt_clock_monotonic_ns();
    sleep_ms(20);
    uint64_t inner_ns = gmt_clock_monotonic_ns();
    sleep_ms(20);
    gmt_spool_own_time(GMT_OWN_LAUNCH, inner_ns, 1);
    gmt_spool_own_time_around(GMT_OWN_REPEAT, outer_ns, 1, before_ns);
    uint64_t took_ns = gmt_clock_monotonic_ns() - outer_ns;
    uint64_t counted_ns = gmt_spool_own_total_ns() - before_ns;
    cr_expect_leq(counted_ns, took_ns);
    cr_expect_geq(counted_ns, 40000000);
}

Test(spool, own_time_that_is_excused_does_not_count)
{
    uint64_t before_ns = gmt_spool_own_total_ns();
    uint64_t began_ns = gmt_clock_monotonic_ns();
    sleep_ms(20);
    gmt_spool_own_time_excused(GMT_OWN_SESSION, began_ns, 20000000);
    uint64_t took_ns = gmt_clock_monotonic_ns() - began_ns;
    cr_expect_leq(gmt_spool_own_total_ns() - before_ns, took_ns - 20000000);
    gmt_spool_own_time_excused(GMT_OWN_SESSION, began_ns, UINT64_MAX);
    cr_expect_leq(gmt_spool_own_total_ns() - before_ns, took_ns - 20000000);
}
