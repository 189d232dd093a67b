/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes a thread, and looks which one that was (fetch_search.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/fetch_search.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"

/* Others may happen to work when it is woken: not each time, or when it sleeps, too. One that does so every WAKE_NS or more often
 * does it in a quiet time. That is made of pieces: others have run in it even if the whole process was stopped for a while. */
#define ROUNDS 4u
#define WAKE_NS UINT64_C(4000000)
#define QUIET_PIECES 9u
#define PIECE_NS UINT64_C(1000000)
#define MORE_NS UINT64_C(1000000) /* after the first that has worked, for others */
#define POLL_NS UINT64_C(50000)

struct suspect {
    uint64_t sleeps; /* gmt_task_sleeps_made */
    uint32_t tid;
};

static struct suspect *suspects;
static size_t suspect_count;

void gmt_fetch_search_rest(uint64_t ns)
{
    uint64_t now_ns = gmt_clock_monotonic_ns(), until_ns = now_ns + ns;
    while (now_ns < until_ns) {
        uint64_t left_ns = until_ns - now_ns;
        struct timespec time = {.tv_sec = (time_t)(left_ns / UINT64_C(1000000000)),
                                .tv_nsec = (long)(left_ns % UINT64_C(1000000000))};
        (void)nanosleep(&time, NULL);
        now_ns = gmt_clock_monotonic_ns();
    }
}

static void note_sleeps(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < suspect_count; i++) {
        if (gmt_task_sleeps_made(suspects[i].tid, &suspects[i].sleeps)) {
            suspects[kept++] = suspects[i];
        }
    }
    suspect_count = kept;
}

static bool has_worked(const struct suspect *suspect)
{
    uint64_t sleeps;
    return gmt_task_sleeps_made(suspect->tid, &sleeps) && sleeps != suspect->sleeps;
}

static size_t how_many_worked(void)
{
    size_t worked = 0;
    for (size_t i = 0; i < suspect_count; i++) {
        worked += has_worked(&suspects[i]);
    }
    return worked;
}

static void keep_those(bool worked)
{
    size_t kept = 0;
    for (size_t i = 0; i < suspect_count; i++) {
        if (has_worked(&suspects[i]) == worked) {
            suspects[kept++] = suspects[i];
        }
    }
    suspect_count = kept;
}

static void be_quiet(void)
{
    for (unsigned i = 0; i < QUIET_PIECES; i++) {
        gmt_fetch_search_rest(PIECE_NS);
    }
}

/* Until all have worked, or no more of them do. */
static void watch(void)
{
    uint64_t began_ns = gmt_clock_monotonic_ns(), last_ns = began_ns, now_ns = began_ns;
    size_t most = 0;
    while (most < suspect_count && now_ns - last_ns < (most == 0 ? WAKE_NS : MORE_NS)) {
        gmt_fetch_search_rest(POLL_NS);
        size_t worked = how_many_worked();
        now_ns = gmt_clock_monotonic_ns();
        if (worked > most) {
            most = worked;
            last_ns = now_ns;
        }
    }
}

static void list(const uint32_t *tids, size_t count)
{
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    suspect_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (tids[i] != own) {
            suspects[suspect_count++].tid = tids[i];
        }
    }
}

/* The only one left: it sleeps, and has not worked since. */
static bool rests(struct gmt_task_place *place)
{
    return gmt_task_is_asleep(suspects[0].tid, place) && !has_worked(&suspects[0]);
}

static uint32_t search(bool (*wake)(const void *data), const void *data,
                       struct gmt_task_place *place)
{
    struct gmt_task_place before;
    for (unsigned round = 0; round <= ROUNDS && suspect_count != 0; round++) {
        note_sleeps();
        if (!wake(data)) {
            return 0;
        }
        watch();
        if (round == 0) {
            gmt_fetch_search_rest(WAKE_NS); /* it may have much to do */
        } else {
            keep_those(true);
        }
    }
    gmt_fetch_search_rest(WAKE_NS); /* it may sleep in between, and go on */
    note_sleeps();
    be_quiet();
    keep_those(false);
    if (suspect_count != 1 || !rests(&before) || !wake(data)) {
        return 0;
    }
    /* It might have waited for something. */
    watch();
    gmt_fetch_search_rest(WAKE_NS);
    keep_those(true);
    note_sleeps();
    bool same = suspect_count == 1 && rests(place) && place->stack == before.stack &&
                place->code == before.code;
    return same ? suspects[0].tid : 0;
}

uint32_t gmt_fetch_search(const uint32_t *tids, size_t count, bool (*wake)(const void *data),
                          const void *data, struct gmt_task_place *place)
{
    uint32_t found = 0;
    suspects = calloc(count, sizeof(*suspects));
    if (suspects != NULL && count != 0) {
        list(tids, count);
        found = search(wake, data, place);
    }
    free(suspects);
    suspects = NULL;
    return found;
}
