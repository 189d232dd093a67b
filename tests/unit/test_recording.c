/* SPDX-License-Identifier: Apache-2.0 */
/* A spool becomes exactly one finished trace, whoever is killed in between. Links gmt_store. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/record/spool_folder.h"
#include "libtrace/sections/section.h"
#include "libtrace/store/finished/reader.h"
#include "libtrace/store/recording/held_up.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/spool/spool_files.h"
#include "tests/unit/spool_fixture.h"

#define CHUNKS 12
#define CALLS_PER_CHUNK 12000 /* so that a recovery takes several transactions */
#define CALLS ((int64_t)CHUNKS * CALLS_PER_CHUNK)

static struct gmt_fixture fixture;

static void setup(void)
{
    gmt_fixture_make(&fixture);
}

static void teardown(void)
{
    gmt_fixture_remove(&fixture);
}

TestSuite(recording, .init = setup, .fini = teardown, .timeout = 300);

/* Transfers with distinct times, launches with 40 argument sets of a pointer and a tensor map, one of
 * the latter alone, and an allocation whose free lies in the next chunk. */
static void fill_spool(void)
{
    struct {
        struct gmt_launch launch;
        struct gmt_launch_arg args[2];
    } payload = {.launch = {.kernel = 1, .kind = GMT_LAUNCH_KERNEL}};
    const struct gmt_launch_arg map = {.alloc = 6, .offset = GMT_ARG_TENSOR_MAP};
    for (uint32_t c = 0; c < CHUNKS; c++) {
        gmt_fixture_chunk(&fixture, c, 4 << 20);
        for (uint32_t i = 0; i < CALLS_PER_CHUNK; i++) {
            uint64_t ticks = 2000 + (uint64_t)c * 10000000 + (uint64_t)i * 100;
            struct gmt_call call = {.thread = c + 1,
                                    .begin_ticks = ticks,
                                    .end_ticks = ticks + 50,
                                    .api = 1,
                                    .context = 1,
                                    .stream = 0x100 + i % 7,
                                    .bytes = 64};
            struct gmt_transfer transfer = {.direction = GMT_DIR_D2H};
            gmt_fixture_call(&fixture, c, GMT_REC_TRANSFER, &call, &transfer, sizeof(transfer));
            if (i % 3 == 0) {
                payload.launch.launch_seq = c * CALLS_PER_CHUNK + i;
                payload.args[0] = (struct gmt_launch_arg){.offset = i % 40};
                payload.args[i % 40 != 39] = map;
                payload.launch.argument_count = i % 40 != 39 ? 2 : 1;
                gmt_fixture_call(&fixture, c, GMT_REC_LAUNCH, &call, &payload, sizeof(payload));
            }
            if (i % 10 == 0) {
                struct gmt_alloc alloc = {.id = c * CALLS_PER_CHUNK + i + 1,
                                          .kind = GMT_ALLOC_DEVICE};
                gmt_fixture_call(&fixture, c, GMT_REC_ALLOC, &call, &alloc, sizeof(alloc));
                alloc.id = ((c + 1) % CHUNKS) * CALLS_PER_CHUNK + i + 1;
                gmt_fixture_call(&fixture, c, GMT_REC_FREE, &call, &alloc, sizeof(alloc));
            }
        }
        struct gmt_loss loss = {.count = 1};
        gmt_fixture_side(&fixture, c, GMT_REC_LOSS, &loss, sizeof(loss), "test", "", NULL);
    }
    gmt_fixture_process(&fixture, 0, 1500);
}

static void expect_everything_once(void)
{
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM transfer", CALLS);
    gmt_fixture_expect(&fixture, "SELECT count(DISTINCT begin_ns) FROM transfer", CALLS);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch", CALLS / 3);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch_argument", 39);
    gmt_fixture_expect(&fixture, "SELECT count(DISTINCT set_id) FROM launch_tensor_map", 40);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM launch_tensor_map", 40);
    gmt_fixture_expect(
        &fixture, "SELECT count(*) FROM launch_argument a JOIN launch_tensor_map USING (set_id)",
        39);
    gmt_fixture_expect(
        &fixture,
        "SELECT count(*) FROM allocation WHERE begin_ns IS NOT NULL AND free_begin_ns IS NOT NULL",
        CALLS / 10);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM stream", 7);
    gmt_fixture_expect(&fixture, "SELECT count FROM loss WHERE kind='test'", CHUNKS);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM meta WHERE key='complete' AND value='1'", 1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'ingest_%'",
                       0);
    cr_expect_neq(access(fixture.spool, F_OK), 0, "the spool is removed");
}

Test(recording, ingests_and_finishes_a_leftover_spool)
{
    char journal[256];
    fill_spool();
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    expect_everything_once();
    (void)snprintf(journal, sizeof(journal), "%s-journal", fixture.output);
    cr_expect_neq(access(journal, F_OK), 0, "no journal is left behind");
    cr_expect_eq(gmt_recording_recover(fixture.output), 0, "nothing is left to do");
}

/* A child that recovers, killed after a random time; true if it finished before that. */
static bool recover_in_a_child_that_is_killed(unsigned most_us)
{
    int status;
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        _exit(gmt_recording_recover(fixture.output) == 0 ? 0 : 1);
    }
    (void)usleep((unsigned)rand() % most_us);
    (void)kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "recovery failed: %d", status);
    return WIFEXITED(status);
}

static void *sleep_for_good(void *tid)
{
    *(_Atomic uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
    for (;;) {
        (void)pause();
    }
    return NULL;
}

Test(recording, looks_at_what_a_thread_is_doing)
{
    pthread_t thread;
    _Atomic uint32_t tid = 0;
    struct gmt_held_up held_up = {.looked_ns = 0};
    cr_assert_eq(pthread_create(&thread, NULL, sleep_for_good, &tid), 0);
    while (tid == 0) {
        (void)usleep(1000);
    }
    fixture.control->pid = (uint32_t)getpid();
    fixture.control->sections[0] = UINT64_C(1) << 28 | (uint64_t)GMT_SECTION_POP << 22 |
                                   (uint64_t)syscall(SYS_gettid);
    fixture.control->sections[5] = UINT64_C(1) << 28 | (uint64_t)GMT_SECTION_POP << 22 | tid;
    gmt_held_up_look(&held_up, fixture.control);
    cr_expect_str_eq(held_up.thread[0].doing, "running");
    cr_expect_eq(held_up.thread[5].word, fixture.control->sections[5]);
    for (unsigned i = 0; i < 1000 && strncmp(held_up.thread[5].doing, "sleeping", 8) != 0; i++) {
        (void)usleep(10000); /* it is about to */
        held_up.looked_ns = 0;
        gmt_held_up_look(&held_up, fixture.control);
    }
    cr_expect_eq(strncmp(held_up.thread[5].doing, "sleeping", 8), 0, "%s", held_up.thread[5].doing);
    cr_expect_eq(held_up.thread[1].word, 0u);
}

Test(recording, says_what_held_a_thread_up_when_the_process_ended)
{
    gmt_fixture_chunk(&fixture, 0, 4 << 20);
    gmt_fixture_process(&fixture, 0, 1500);
    uint64_t since_ms = fixture.control->first_pair.monotonic_ns / 1000000 + 2500;
    fixture.control->sections[1] = since_ms << 28 | (uint64_t)GMT_SECTION_POP << 22 | 4711;
    fixture.control->sections[2] = since_ms << 28 | UINT64_C(63) << 22 |
                                   4712; /* of a later version */
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    gmt_fixture_expect(
        &fixture,
        "SELECT count FROM loss WHERE kind = 'call held up' AND detail = 'thread 4711 "
        "since 2.5 s of the recording: cuptiRangeProfilerPopRange; nobody knows what it did'",
        1);
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM loss", 1);
}

Test(recording, loses_and_doubles_nothing_when_killed_at_random_moments)
{
    srand(20);
    for (int round = 0; round < 3; round++) {
        fill_spool();
        /* Longer and longer, so that it comes to an end on a machine of any speed. */
        unsigned most_us = 20000;
        while (!recover_in_a_child_that_is_killed(most_us)) {
            most_us += most_us / 2;
        }
        expect_everything_once();
        teardown();
        setup();
    }
}

Test(recording, begins_again_when_killed_before_the_first_commit)
{
    fill_spool();
    int fd = open(fixture.output, O_CREAT | O_WRONLY, 0666);
    cr_assert_geq(fd, 0);
    close(fd);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    expect_everything_once();
}

Test(recording, only_removes_the_spool_when_the_trace_was_finished)
{
    struct gmt_control control = *fixture.control;
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_assert_eq(mkdir(fixture.spool, 0777), 0);
    int fd = open(gmt_fixture_path(&fixture, "control"), O_CREAT | O_WRONLY, 0666);
    cr_assert_eq(write(fd, &control, sizeof(control)), (ssize_t)sizeof(control));
    close(fd);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_neq(access(fixture.spool, F_OK), 0);
    char old[256];
    (void)snprintf(old, sizeof(old), "%s.old", fixture.output);
    cr_expect_neq(access(old, F_OK), 0, "the trace is not taken for an earlier run's");
}

Test(recording, leaves_a_file_that_is_not_of_its_recording_alone)
{
    char text[64] = "";
    int fd = open(fixture.output, O_CREAT | O_RDWR, 0666);
    cr_assert_eq(write(fd, "something else, longer than a header", 36), 36);
    fill_spool();
    cr_assert_eq(gmt_recording_recover(fixture.output), -EEXIST);
    cr_expect_eq(pread(fd, text, sizeof(text), 0), 36);
    close(fd);
    cr_expect_str_eq(text, "something else, longer than a header");
    cr_expect_eq(access(fixture.spool, F_OK), 0, "the spool stays");
    cr_assert_eq(unlink(fixture.output), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    expect_everything_once();
}

Test(recording, does_not_touch_a_spool_that_someone_drains)
{
    enum gmt_recording_state state;
    int lock = gmt_spool_lock(gmt_spool_folder_open(fixture.spool));
    cr_assert_geq(lock, 0);
    cr_assert_eq(gmt_recording_state(fixture.output, &state), 0);
    cr_expect_eq(state, GMT_RECORDING_LIVE);
    cr_expect_eq(gmt_recording_recover(fixture.output), -EBUSY);
    cr_expect_eq(gmt_recording_wait(fixture.output, 1), -ETIMEDOUT);
    close(lock);
    cr_assert_eq(gmt_recording_state(fixture.output, &state), 0);
    cr_expect_eq(state, GMT_RECORDING_LEFTOVER);
    cr_expect_eq(gmt_recording_wait(fixture.output, 1), 0);
}

Test(recording, keeps_the_spool_when_the_database_cannot_grow_and_finishes_later)
{
    struct rlimit limit;
    fill_spool();
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 256 << 10;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int error = gmt_recording_recover(fixture.output);
    cr_expect(error == -EFBIG || error == -ENOSPC, "%s", gmt_recording_explain(error));
    cr_expect_neq(access(fixture.output, F_OK), 0, "nothing unfinished is left");
    limit.rlim_cur = before;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    expect_everything_once();
    gmt_fixture_expect(&fixture, "SELECT count(*) FROM capability WHERE name='recorder storage'",
                       0);
}

Test(recording, removes_a_spool_whose_process_died_before_it_was_filled_in)
{
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    fixture.control->magic = 0;
    cr_assert_eq(utimensat(AT_FDCWD, gmt_fixture_path(&fixture, "control"), old, 0), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_neq(access(fixture.spool, F_OK), 0);
    cr_expect_neq(access(fixture.output, F_OK), 0);
}

/* A recorder that is killed between its last file and the folder leaves the folder. */
Test(recording, takes_an_empty_spool_away_unless_it_may_just_begin)
{
    char output[192], folder[256];
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    enum gmt_recording_state state;

    (void)snprintf(output, sizeof(output), "%s/other.db", fixture.root);
    (void)snprintf(folder, sizeof(folder), "%s.spool", output);
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert_eq(gmt_recording_recover(output), 0);
    cr_expect_eq(access(folder, F_OK), 0, "a program may be about to fill it");
    cr_assert_eq(utimensat(AT_FDCWD, folder, old, 0), 0);
    cr_assert_eq(gmt_recording_state(output, &state), 0);
    cr_expect_eq(state, GMT_RECORDING_NONE);
    cr_expect_eq(access(folder, F_OK), 0, "who only looks changes nothing");
    cr_assert_eq(gmt_recording_recover(output), 0);
    cr_expect_neq(access(folder, F_OK), 0);
}
