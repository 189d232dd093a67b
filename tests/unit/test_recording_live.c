/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder beside a living process: it answers when all is safe, and notices every kind of end.
 * Links gmt_store. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtrace/record/proc.h"
#include "libtrace/store/recording/recording.h"
#include "tests/unit/spool_fixture.h"

static struct gmt_fixture fixture;
static pid_t writer; /* the process whose spool it is                                  */
static int command;  /* what the writer shall do: one byte                             */
static int answer;   /* the writer is ready: one byte                                  */

static void write_call(uint64_t ticks)
{
    struct gmt_call call = {.thread = 1, .begin_ticks = ticks, .end_ticks = ticks + 1, .api = 1};
    gmt_fixture_call(&fixture, 0, GMT_REC_CALL, &call, NULL, 0);
}

/* The writer: holds the lock on the control file and maps it, as the library does, and obeys. */
static void live(int commands, int answers)
{
    char order;
    int fd = open(gmt_fixture_path(&fixture, "control"), O_RDWR | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    bool ready = fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 && write(answers, "r", 1) == 1;
    while (ready && read(commands, &order, 1) == 1) {
        switch (order) {
        case 'w': write_call(7000); break;
        case 'e': __atomic_store_n(&fixture.control->ended, 1, __ATOMIC_RELEASE); break;
        case 'x': execl("/bin/sleep", "sleep", "60", (char *)NULL); break;
        case 'c': close(fd); break;
        case 'k': (void)raise(SIGKILL); break;
        default: _exit(3);
        }
        ready = write(answers, "r", 1) == 1;
    }
    _exit(4);
}

static void setup(void)
{
    int commands[2], answers[2];
    char byte;
    gmt_fixture_make(&fixture);
    gmt_fixture_chunk(&fixture, 0, 1 << 16);
    write_call(5000); /* before the fork: from then on only the writer writes */
    cr_assert_eq(pipe2(commands, O_CLOEXEC), 0);
    cr_assert_eq(pipe2(answers, O_CLOEXEC), 0);
    writer = fork();
    cr_assert_geq(writer, 0);
    if (writer == 0) {
        close(commands[1]);
        live(commands[0], answers[1]);
    }
    close(commands[0]);
    close(answers[1]);
    command = commands[1];
    answer = answers[0];
    cr_assert_eq(read(answer, &byte, 1), 1);
    fixture.control->pid = (uint32_t)writer;
    fixture.control->pid_start = gmt_proc_start_time(writer);
}

static void teardown(void)
{
    (void)kill(writer, SIGKILL);
    (void)waitpid(writer, NULL, 0);
    gmt_fixture_remove(&fixture);
}

TestSuite(recording_live, .init = setup, .fini = teardown, .timeout = 120);

static void give_order(char order, bool answers)
{
    char byte;
    cr_assert_eq(write(command, &order, 1), 1);
    if (answers) {
        cr_assert_eq(read(answer, &byte, 1), 1);
    }
}

static pid_t start_recorder(void)
{
    pid_t recorder = fork();
    cr_assert_geq(recorder, 0);
    if (recorder == 0) {
        bool writer_gone;
        _exit(gmt_recording_run(fixture.spool, &writer_gone) == 0 ? 0 : 1);
    }
    return recorder;
}

static void wait_for_state(enum gmt_recorder_state wanted)
{
    uint32_t state;
    while ((state = __atomic_load_n(&fixture.control->recorder_state, __ATOMIC_ACQUIRE)) !=
           wanted) {
        (void)syscall(SYS_futex, &fixture.control->recorder_state, FUTEX_WAIT, state, NULL, NULL,
                      0);
    }
}

static void expect_finished(pid_t recorder, const char *reason, int64_t calls)
{
    int status;
    cr_assert_eq(waitpid(recorder, &status, 0), recorder);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "recorder: %d", status);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM api_call"), calls);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT end_reason FROM process"), reason);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"),
                     "1");
    cr_expect_neq(access(fixture.spool, F_OK), 0);
}

Test(recording_live, has_everything_committed_when_it_says_done_and_reads_on)
{
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    give_order('w', true);
    give_order('e', true);
    wait_for_state(GMT_RECORDER_DONE);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM api_call"), 2);
    cr_expect_eq(gmt_recording_recover(fixture.output), -EBUSY);
    give_order('w', true); /* a global destructor */
    give_order('k', false);
    expect_finished(recorder, "killed", 3);
}

Test(recording_live, finishes_when_the_process_is_killed)
{
    pid_t recorder = start_recorder();
    give_order('w', true);
    give_order('k', false);
    expect_finished(recorder, "killed", 2);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT exit_status FROM process"), SIGKILL);
}

Test(recording_live, finishes_when_the_process_exits_without_exit_handlers)
{
    pid_t recorder = start_recorder();
    give_order('?', false);
    expect_finished(recorder, "exit", 1);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT exit_status FROM process"), 3 << 8);
}

Test(recording_live, finishes_when_the_process_becomes_another_program)
{
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    give_order('w', true);
    give_order('x', false);
    expect_finished(recorder, "exec", 2);
    cr_expect_eq(kill(writer, 0), 0, "the process lives on");
}

Test(recording_live, goes_on_when_the_process_closes_all_its_descriptors)
{
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    give_order('c', true);
    give_order('w', true);
    give_order('e', true);
    wait_for_state(GMT_RECORDER_DONE);
    give_order('w', true);
    give_order('k', false);
    expect_finished(recorder, "killed", 3);
}

Test(recording_live, is_waited_for_and_leaves_nothing_to_recover)
{
    enum gmt_recording_state state;
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    cr_assert_eq(gmt_recording_state(fixture.output, &state), 0);
    cr_expect_eq(state, GMT_RECORDING_LIVE);
    give_order('k', false);
    cr_expect_eq(gmt_recording_wait(fixture.output, UINT64_C(60000000000)), 0);
    cr_expect_eq(gmt_recording_recover(fixture.output), 0);
    expect_finished(recorder, "killed", 1);
}

Test(recording_live, begins_a_removed_trace_anew_and_is_waited_for)
{
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    give_order('e', true);
    wait_for_state(GMT_RECORDER_DONE);
    cr_assert_eq(unlink(fixture.output), 0);
    give_order('w', true);
    give_order('k', false);
    cr_expect_eq(gmt_recording_wait(fixture.output, UINT64_C(60000000000)), 0);
    cr_expect_str_eq(gmt_fixture_text(&fixture, "SELECT value FROM meta WHERE key='complete'"), "1",
                     "the recorder is taken for dead");
    expect_finished(recorder, "killed", 2);
}

Test(recording_live, is_continued_exactly_after_its_own_death)
{
    int status;
    pid_t recorder = start_recorder();
    wait_for_state(GMT_RECORDER_READING);
    give_order('e', true);
    wait_for_state(GMT_RECORDER_DONE);
    (void)kill(recorder, SIGKILL);
    cr_assert_eq(waitpid(recorder, &status, 0), recorder);
    give_order('w', true);
    cr_expect_eq(gmt_recording_recover(fixture.output), -EBUSY, "its program still runs");
    give_order('k', false);
    cr_assert_eq(gmt_recording_wait(fixture.output, UINT64_C(60000000000)), 0);
    cr_assert_eq(gmt_recording_recover(fixture.output), 0);
    cr_expect_eq(gmt_fixture_number(&fixture, "SELECT count(*) FROM api_call"), 2);
}
