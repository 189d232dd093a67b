/* SPDX-License-Identifier: Apache-2.0 */
/* Moves aside what an earlier run left under the name of a trace. Others may be about to do the same. */
#include "preload/session/older.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/proc.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/record/spool_lock.h"
#include "libtrace/record/spool_names.h"

#define RECORDER_COMES_S 5 /* a recorder is up within milliseconds */
#define BYTES (PATH_MAX + 32)

static double seconds_of(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* By CLOCK_BOOTTIME; a forked child keeps that of the program that it was forked from. */
static double loaded_s;

__attribute__((constructor)) static void note_loading(void)
{
    struct timespec boot;
    if (clock_gettime(CLOCK_BOOTTIME, &boot) == 0) {
        loaded_s = seconds_of(boot);
    }
}

/* Was it made while this process was alive (by another process, or by this one before an exec), or the
 * program that it was forked from? A brother's trace is of this run, however early it ended. The launcher's
 * run, whose name begins with its start (ns by the clock that stamps files), widens that to all processes
 * under it. That clock is still for a tick (4 ms on most machines), which is longer than a small program
 * needs to make its spool: the age of a file may look that much too high. */
static bool is_of_this_run(const struct stat *status, const char *run)
{
    if (run != NULL) {
        uint64_t changed_ns = (uint64_t)status->st_mtim.tv_sec * UINT64_C(1000000000) +
                              (uint64_t)status->st_mtim.tv_nsec;
        return changed_ns >= strtoull(run, NULL, 10);
    }
    struct timespec boot, real, tick;
    long hertz = sysconf(_SC_CLK_TCK);
    if (clock_gettime(CLOCK_BOOTTIME, &boot) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0 ||
        clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0 || hertz <= 0) {
        return false;
    }
    double start_s = (double)gmt_proc_start_time(getpid()) / (double)hertz;
    start_s = loaded_s != 0 && loaded_s < start_s ? loaded_s : start_s;
    double changed_ago_s = seconds_of(real) - seconds_of(status->st_mtim) - seconds_of(tick);
    return changed_ago_s < seconds_of(boot) - start_s;
}

/* Of this user; of a link that somebody else has put there, no more than the link. */
static void remove_spool(const char *directory)
{
    int folder = gmt_spool_folder_open(directory);
    if (folder == -ELOOP) {
        (void)unlink(directory);
    }
    if (folder < 0) {
        return;
    }
    if (gmt_spool_folder_is_own(folder)) {
        gmt_spool_folder_remove(folder, directory);
    }
    close(folder);
}

/* A link is moved aside like a file: nothing is written to where it leads. */
static bool may_be_moved(const char *path, const struct stat *status)
{
    struct stat target;
    return S_ISREG(status->st_mode) ||
           (S_ISLNK(status->st_mode) && (stat(path, &target) != 0 || S_ISREG(target.st_mode)));
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/*
 * A file that holds something and is no trace: a source, or the program. What cannot be read is not known to be one. A link is
 * moved, and not what it leads to. A header of zeros is what a power cut leaves of a trace.
 */
static bool is_foreign(const char *path)
{
    static const unsigned char id[] = {
        (GMT_TRACE_APPLICATION_ID >> 24) & 0xff, (GMT_TRACE_APPLICATION_ID >> 16) & 0xff,
        (GMT_TRACE_APPLICATION_ID >> 8) & 0xff, GMT_TRACE_APPLICATION_ID & 0xff};
    unsigned char head[GMT_TRACE_APPLICATION_OFFSET + sizeof(id)] = {0};
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_trace = fd >= 0 && pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
                    (memcmp(head + GMT_TRACE_APPLICATION_OFFSET, id, sizeof(id)) == 0 ||
                     is_zero(head, sizeof(head)));
    if (fd >= 0) {
        close(fd);
    }
    return !is_trace;
}

/* Its process has ended, and its recorder is about to open it by its name. */
static bool is_expected(int folder)
{
    struct gmt_control control = {0};
    struct stat info;
    int fd = gmt_spool_file_open(folder, "control", O_RDONLY);
    if (fd < 0) {
        return false;
    }
    bool is_new = pread(fd, &control, sizeof(control), 0) == (ssize_t)sizeof(control) &&
                  control.recorder_pid == 0 && fstat(folder, &info) == 0 &&
                  time(NULL) - info.st_mtime < RECORDER_COMES_S;
    close(fd);
    return is_new;
}

/* Take the lock of those who read it: a descriptor, -1 where it cannot be locked, -EBUSY if somebody is at
 * work on it, or has just removed it or moved it away. */
static int seize(int folder, const char *spool)
{
    if (gmt_spool_is_written(folder) || is_expected(folder)) {
        return -EBUSY;
    }
    int lock = gmt_spool_lock(folder);
    if (lock < 0 && lock != -ELOOP && lock != -EBADMSG) {
        return -EBUSY; /* held, or it is not known whether it is */
    }
    if (!gmt_spool_folder_is_at(folder, spool)) {
        if (lock >= 0) {
            close(lock);
        }
        return -EBUSY;
    }
    return lock >= 0 ? lock : -1;
}

static bool move(const char *path, const char *suffix)
{
    char from[BYTES], to[BYTES];
    (void)snprintf(from, sizeof(from), "%s%s", path, suffix);
    (void)snprintf(to, sizeof(to), "%s.old%s", path, suffix);
    return rename(from, to) == 0 || errno == ENOENT;
}

/* What an even earlier run left. False: something is in the way. */
static bool remove_oldest(const char *path)
{
    char old[BYTES];
    struct stat status;
    (void)snprintf(old, sizeof(old), "%s.old", path);
    if (is_foreign(old)) {
        return false;
    }
    (void)snprintf(old, sizeof(old), "%s.old.spool", path);
    remove_spool(old);
    if (lstat(old, &status) == 0) {
        return false;
    }
    (void)snprintf(old, sizeof(old), "%s.old-journal", path);
    (void)unlink(old);
    (void)snprintf(old, sizeof(old), "%s.old", path);
    return unlink(old) == 0 || errno == ENOENT;
}

/* The journal of a trace that was left in the middle of a write belongs to that trace. */
static bool move_trace(const char *path)
{
    return !is_foreign(path) && remove_oldest(path) && move(path, "-journal") && move(path, "");
}

bool gmt_older_is_foreign(const char *path, const char *run, char found[static PATH_MAX])
{
    char spool[BYTES];
    struct stat status;
    (void)snprintf(spool, sizeof(spool), "%s.spool", path);
    bool is_there = lstat(path, &status) == 0;
    if (is_there && is_of_this_run(&status, run)) {
        return false;
    }
    if (is_there && is_foreign(path)) {
        (void)snprintf(found, PATH_MAX, "%s", path);
        return true;
    }
    if (lstat(spool, &status) == 0 ? is_of_this_run(&status, run) : !is_there) {
        return false; /* nothing is moved */
    }
    return snprintf(found, PATH_MAX, "%s.old", path) < PATH_MAX && is_foreign(found);
}

bool gmt_older_spool_move(const char *path, const char *run)
{
    char spool[BYTES];
    struct stat trace_status, spool_status;
    (void)snprintf(spool, sizeof(spool), "%s.spool", path);
    bool has_spool = lstat(spool, &spool_status) == 0;
    if ((has_spool && is_of_this_run(&spool_status, run)) ||
        (lstat(path, &trace_status) == 0 &&
         (!may_be_moved(path, &trace_status) || is_of_this_run(&trace_status, run)))) {
        return false;
    }
    if (!has_spool) {
        return true;
    }
    int folder = gmt_spool_folder_open(spool);
    if (folder == -ENOENT && lstat(spool, &spool_status) != 0) {
        return true; /* its recorder has just finished */
    }
    if (folder < 0 && folder != -ENOENT && folder != -ENOTDIR && folder != -ELOOP) {
        return false; /* somebody may be at work on it */
    }
    int lock = folder >= 0 ? seize(folder, spool) : -1;
    /* The spool last: it has the name until then. */
    bool is_moved = lock != -EBUSY && move_trace(path) && move(path, ".spool");
    if (lock >= 0) {
        close(lock);
    }
    if (folder >= 0) {
        close(folder);
    }
    return is_moved;
}

bool gmt_older_trace_move(const char *path, const char *run)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        return true;
    }
    return may_be_moved(path, &status) && !is_of_this_run(&status, run) && move_trace(path);
}
