/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks meet in memory that they share; who waits sleeps. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

enum { RANKS_MOST = 16, SLOTS = 1024 };

struct slot { /* of every SLOTS-th operation; counts go on */
    _Atomic uint32_t arrived, done;
    _Atomic uint64_t end_ns;
};

struct area {
    _Atomic uint32_t joined;
    _Atomic int process[RANKS_MOST];
    int words[RANKS_MOST][2];
    _Atomic uint32_t sent[RANKS_MOST][RANKS_MOST];
    struct slot slots[SLOTS];
};

struct meeting {
    struct area *area;
    int ranks, rank;
    uint32_t operations;           /* that this rank has made */
    uint32_t received[RANKS_MOST]; /* from each other one */
};

/* The host's clock, whatever the program pretends. */
static uint64_t now_ns(void)
{
    struct timespec now;
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000u),
                                   .tv_nsec = (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static bool all_live(const struct meeting *meeting)
{
    for (int i = 0; i < meeting->ranks; i++) {
        int process = atomic_load(&meeting->area->process[i]);
        if (process != 0 && kill(process, 0) != 0 && errno == ESRCH) {
            return false;
        }
    }
    return true;
}

/* Until it is `least` or more. False: a rank has gone. */
static bool wait_for(const struct meeting *meeting, _Atomic uint32_t *word, uint32_t least)
{
    const struct timespec look = {.tv_nsec = 100000000};
    uint32_t value;
    while ((int32_t)((value = atomic_load(word)) - least) < 0) {
        long rc = syscall(SYS_futex, word, FUTEX_WAIT, value, &look, NULL, 0);
        if (rc != 0 && errno == ETIMEDOUT && !all_live(meeting)) {
            return (int32_t)(atomic_load(word) - least) >= 0;
        }
    }
    return true;
}

static void wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool meeting_create(char path[static 128])
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, 128, "%s/standin-nccl-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = length < 128 ? mkstemp(path) : -1;
    if (file >= 0) {
        close(file);
    }
    return file >= 0;
}

struct meeting *meeting_join(const char *path, int ranks, int rank)
{
    int file = ranks <= RANKS_MOST ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    struct meeting *meeting = calloc(1, sizeof(*meeting));
    if (file < 0 || meeting == NULL || ftruncate(file, sizeof(struct area)) != 0) {
        free(meeting);
        return NULL;
    }
    void *memory = mmap(NULL, sizeof(struct area), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        free(meeting);
        return NULL;
    }
    *meeting = (struct meeting){.area = memory, .ranks = ranks, .rank = rank};
    atomic_store(&meeting->area->process[rank], getpid());
    if (atomic_fetch_add(&meeting->area->joined, 1) + 1 == (uint32_t)ranks) {
        (void)unlink(path);
        wake(&meeting->area->joined);
    }
    /* Waits end at their moment. */
    (void)prctl(PR_SET_TIMERSLACK, 1);
    if (!wait_for(meeting, &meeting->area->joined, (uint32_t)ranks)) {
        meeting_leave(meeting);
        return NULL;
    }
    return meeting;
}

void meeting_leave(struct meeting *meeting)
{
    atomic_store(&meeting->area->process[meeting->rank], 0);
    (void)munmap(meeting->area, sizeof(struct area));
    free(meeting);
}

bool meeting_meet(struct meeting *meeting, uint64_t transfer_ns)
{
    struct slot *slot = &meeting->area->slots[meeting->operations % SLOTS];
    uint32_t round = meeting->operations++ / SLOTS + 1;
    if (atomic_fetch_add(&slot->arrived, 1) + 1 == round * (uint32_t)meeting->ranks) {
        atomic_store(&slot->end_ns, now_ns() + transfer_ns);
        atomic_store(&slot->done, round);
        wake(&slot->done);
    } else if (!wait_for(meeting, &slot->done, round)) {
        return false;
    }
    sleep_until(atomic_load(&slot->end_ns));
    return true;
}

void meeting_say(struct meeting *meeting, const int words[static 2])
{
    memcpy(meeting->area->words[meeting->rank], words, sizeof(meeting->area->words[0]));
}

void meeting_hear(const struct meeting *meeting, int rank, int words[static 2])
{
    memcpy(words, meeting->area->words[rank], sizeof(meeting->area->words[0]));
}

void meeting_send(struct meeting *meeting, int to)
{
    _Atomic uint32_t *sent = &meeting->area->sent[meeting->rank][to];
    atomic_fetch_add(sent, 1);
    wake(sent);
}

bool meeting_receive(struct meeting *meeting, int from, uint64_t transfer_ns)
{
    bool came = wait_for(meeting, &meeting->area->sent[from][meeting->rank],
                         ++meeting->received[from]);
    sleep_until(now_ns() + transfer_ns);
    return came;
}
