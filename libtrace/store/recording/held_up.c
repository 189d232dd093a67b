/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at threads that are held up, and writes what was seen (held_up.h). */
#include "libtrace/store/recording/held_up.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/sections/section.h"
#include "libtrace/store/recording/recording_internal.h"

#define LOOK_NS UINT64_C(1000000000)

static void read_of_thread(uint32_t pid, uint32_t tid, const char *file, char *text, size_t bytes)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
}

void gmt_held_up_doing(uint32_t pid, uint32_t tid, char doing[static GMT_HELD_UP_BYTES])
{
    char stat[256], function[64];
    read_of_thread(pid, tid, "stat", stat, sizeof(stat));
    read_of_thread(pid, tid, "wchan", function, sizeof(function));
    /* The name is in parentheses, and may hold anything. */
    const char *end = strrchr(stat, ')');
    char state = end != NULL && end[1] == ' ' ? end[2] : '\0';
    bool is_named = strcmp(function, "0") != 0 &&
                    function[strspn(function, "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == '\0';
    bool is_asleep = state != '\0' && state != 'R';
    (void)snprintf(doing, GMT_HELD_UP_BYTES, "%s%s%s",
                   state == '\0' ? "in a state that is not known"
                   : is_asleep   ? "sleeping"
                                 : "running",
                   is_asleep && is_named && function[0] != '\0' ? " in " : "",
                   is_asleep && is_named ? function : "");
}

void gmt_held_up_look(struct gmt_held_up *held_up, const struct gmt_control *control)
{
    struct gmt_section_seen seen;
    uint64_t now_ns = gmt_clock_monotonic_ns();
    if (now_ns - held_up->looked_ns < LOOK_NS) {
        return;
    }
    held_up->looked_ns = now_ns;
    for (unsigned at = 0; at < GMT_SECTION_WORDS; at++) {
        uint64_t word = __atomic_load_n(&control->sections[at], __ATOMIC_RELAXED);
        if (gmt_section_see(control, at, &seen) && now_ns > seen.since_ns + LOOK_NS) {
            gmt_held_up_doing(control->pid, seen.tid, held_up->thread[at].doing);
            held_up->thread[at].word = word;
        }
    }
}

/* Of a process that has ended before this one began to read, nobody knows for how long. */
int gmt_held_up_store(struct gmt_recording *recording)
{
    const struct gmt_control *control = recording->control;
    bool ended_before = recording->is_copy && !recording->is_dump;
    uint64_t now_ns = gmt_clock_monotonic_ns(), began_ns = control->first_pair.monotonic_ns;
    struct gmt_section_seen seen;
    int error = 0;
    for (unsigned at = 0; at < GMT_SECTION_WORDS && error == 0; at++) {
        if (!gmt_section_see(control, at, &seen) ||
            (!ended_before && !gmt_section_is_long(&seen, now_ns))) {
            continue;
        }
        char detail[384];
        uint64_t since_ns = seen.since_ns > began_ns ? seen.since_ns - began_ns : 0;
        bool is_known = recording->held_up.thread[at].word == control->sections[at];
        (void)snprintf(detail, sizeof(detail), "thread %u since %.1f s of the recording: %s; %s",
                       seen.tid, (double)since_ns / 1e9, seen.text,
                       is_known ? recording->held_up.thread[at].doing : "nobody knows what it did");
        error = gmt_ingest_loss(recording->ingest, "call held up", detail, 1);
    }
    return error;
}
