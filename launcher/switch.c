/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace on, off and status: switch the recording of a process, and say how it stands. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/recorded.h"
#include "libtrace/base/printable.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/spool_folder.h"
#include "libtrace/sections/section.h"
#include "libtrace/store/recording/held_up.h"
#include "libtrace/store/recording/recording.h"
#include "libtrace/store/recording/ring.h"
#include "libtrace/store/spool/spool_files.h"

#define SEEN_WITHIN_NS UINT64_C(20000000) /* a program that makes calls has seen it by then */
#define LOOK_NS 100000

/* Set the word, and wait until a call has seen it. *took_ns: how long that took, UINT64_MAX: none has. */
static int set(const struct gmt_recorded *recorded, bool off, uint64_t *took_ns)
{
    struct gmt_control *control = NULL;
    int fd = -1, folder = gmt_spool_folder_open(recorded->spool);
    int error = folder < 0 ? folder : gmt_spool_folder_is_own(folder) ? 0 : -EPERM;
    *took_ns = UINT64_MAX;
    if (error == 0) {
        error = gmt_spool_control_map(folder, false, &control, &fd);
    }
    if (error == 0 && control->version < 12) {
        error = -EPROTONOSUPPORT;
    }
    if (error == 0) {
        uint64_t began_ns = gmt_clock_monotonic_ns(), now_ns = began_ns;
        __atomic_store_n(&control->switched_off, off, __ATOMIC_RELEASE);
        while (*took_ns == UINT64_MAX && now_ns - began_ns < SEEN_WITHIN_NS) {
            bool seen = __atomic_load_n(&control->switch_seen, __ATOMIC_ACQUIRE) == off;
            now_ns = gmt_clock_monotonic_ns();
            *took_ns = seen ? now_ns - began_ns : UINT64_MAX;
            if (!seen) {
                (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
            }
        }
    }
    if (control != NULL) {
        munmap(control, sizeof(*control));
    }
    if (fd >= 0) {
        close(fd);
    }
    if (folder >= 0) {
        close(folder);
    }
    return error;
}

int gmt_launcher_switch(char *const argv[])
{
    struct gmt_recorded recorded;
    uint64_t took_ns;
    bool off = strcmp(argv[0], "off") == 0;
    if (argv[1] == NULL || argv[2] != NULL || argv[1][0] == '-') {
        bool asks = argv[1] != NULL && strcmp(argv[1], "--help") == 0;
        FILE *out = asks ? stdout : stderr;
        gmt_say(out, "Usage: gmtrace %s PID\n", argv[0]);
        gmt_say(out,
                "Switch the recording of copies, memsets, launches and waits of a process %s. "
                "Memory, streams and code are recorded all the time.\n",
                argv[0]);
        return asks ? 0 : GMT_EXIT_FAILED;
    }
    if (gmt_recorded_find_named(argv[1], &recorded) != 0) {
        return GMT_EXIT_FAILED;
    }
    int error = set(&recorded, off, &took_ns);
    if (error != 0) {
        gmt_say(stderr, "gmtrace: process %ld: %s\n", (long)recorded.pid,
                gmt_recording_explain(error));
        return GMT_EXIT_FAILED;
    }
    if (took_ns == UINT64_MAX) {
        gmt_say(stderr, "gmtrace: recording of process %ld: %s takes effect at the next call\n",
                (long)recorded.pid, argv[0]);
    } else {
        gmt_say(stderr, "gmtrace: recording of process %ld is %s (after %.1f ms)\n",
                (long)recorded.pid, argv[0], (double)took_ns / 1e6);
    }
    return 0;
}

/* ---- what recording costs --------------------------------------------------------------------- */

static double since(const struct gmt_control *before, const struct gmt_control *now, int sum)
{
    return (double)(now->overhead_ns[sum] - (before != NULL ? before->overhead_ns[sum] : 0));
}

/* The error is that of a sum: squares are what adds up. */
static double error_since(const struct gmt_control *before, const struct gmt_control *now)
{
    double all = (double)now->overhead_ns[GMT_OVERHEAD_ERROR];
    double first = before != NULL ? (double)before->overhead_ns[GMT_OVERHEAD_ERROR] : 0;
    return all > first ? sqrt(all * all - first * first) : 0;
}

static const struct {
    int sum;
    const char *name;
} parts[] = {
    {GMT_OVERHEAD_OF_HOOKS, "calls"},
    {GMT_OVERHEAD_OF_STACKS, "stacks"},
    {GMT_OVERHEAD_OF_HASHING, "hashing"},
    {GMT_OVERHEAD_OF_COUNTERS, "counters"},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Of the parts whose sum is in `which`, as 1 << sum, together. */
static double sum_of(const struct gmt_control *before, const struct gmt_control *now,
                     uint32_t which)
{
    double sum_ns = 0;
    for (size_t i = 0; i < PARTS; i++) {
        sum_ns += (which & (1u << parts[i].sum)) != 0 ? since(before, now, parts[i].sum) : 0;
    }
    return sum_ns;
}

static void print_parts(FILE *out, const struct gmt_control *before, const struct gmt_control *now,
                        uint32_t which, double percent)
{
    const char *comma = "";
    for (size_t i = 0; i < PARTS; i++) {
        if ((which & (1u << parts[i].sum)) != 0) {
            fprintf(out, "%s%s %.2f", comma, parts[i].name,
                    since(before, now, parts[i].sum) * percent);
            comma = ", ";
        }
    }
}

static void print_shed(FILE *out, const struct gmt_control *now)
{
    if (now->overhead_stack_one_in > 1) {
        fprintf(out, ", one stack in %u is read", now->overhead_stack_one_in);
    }
    if (now->overhead_hashing_permille < 1000) {
        fprintf(out, ", hashing at %.3g %%", now->overhead_hashing_permille / 10.0);
    }
    if (now->overhead_counters_permille < 1000) {
        fprintf(out, ", counters at %.3g %%", now->overhead_counters_permille / 10.0);
    }
    if (now->version >= 15 && now->overhead_device_known != 0 &&
        now->overhead_device_known <= 1000) {
        fprintf(out, ", device records are on for %.3g %% of the time",
                (now->overhead_device_known - 1) / 10.0);
    }
}

/* What CUPTI's records took of calls; 0 and false: that is not known. */
static bool device_since(const struct gmt_control *before, const struct gmt_control *now,
                         double *ns, double *error_ns)
{
    bool is_known = now->version >= 15 && now->overhead_device_known != 0 &&
                    now->overhead_device_error_ns != UINT64_MAX;
    bool is_added = is_known && before != NULL && before->overhead_device_error_ns != UINT64_MAX;
    *ns = is_known ? (double)(now->overhead_device_ns - (is_added ? before->overhead_device_ns : 0))
                   : 0;
    *error_ns = is_known ? (double)(now->overhead_device_error_ns -
                                    (is_added ? before->overhead_device_error_ns : 0))
                         : 0;
    return is_known;
}

void gmt_overhead_print(FILE *out, const char *head, const struct gmt_control *before,
                        const struct gmt_control *now)
{
    if (now->version < 14 || now->overhead_ns[GMT_OVERHEAD_BEGIN] == 0) {
        return;
    }
    bool is_new = before != NULL &&
                  before->overhead_ns[GMT_OVERHEAD_BEGIN] == now->overhead_ns[GMT_OVERHEAD_BEGIN] &&
                  now->overhead_ns[GMT_OVERHEAD_END] > before->overhead_ns[GMT_OVERHEAD_END];
    const struct gmt_control *from = is_new ? before : NULL;
    double time_ns = is_new ? since(from, now, GMT_OVERHEAD_END)
                            : since(NULL, now, GMT_OVERHEAD_END) -
                                  since(NULL, now, GMT_OVERHEAD_BEGIN);
    double percent = time_ns > 0 ? 100 / time_ns : 0;
    double device = 0, device_error = 0;
    bool has_device = device_since(from, now, &device, &device_error);
    /* Of no limit nothing is apart. */
    uint32_t apart = now->overhead_budget_ppm != 0 ? now->overhead_apart : 0;
    fprintf(out, "%s%.2f +-%.2f %%", head, (sum_of(from, now, ~apart) + device) * percent,
            (error_since(from, now) + device_error) * percent);
    if (now->overhead_budget_ppm != 0) {
        fprintf(out, " of %.3g %%", now->overhead_budget_ppm / 1e4);
    }
    fputs(" (", out);
    print_parts(out, from, now, ~apart, percent);
    if (has_device) {
        fprintf(out, ", device records %.2f", device * percent);
    }
    fputc(')', out);
    if (sum_of(from, now, apart) > 0) {
        fprintf(out, " besides %.2f %% by budgets of their own (",
                sum_of(from, now, apart) * percent);
        print_parts(out, from, now, apart, percent);
        fputc(')', out);
    }
    print_shed(out, now);
}

static void print_held_up(const struct gmt_control *control)
{
    struct gmt_section_seen seen;
    uint64_t now_ns = gmt_clock_monotonic_ns();
    for (unsigned at = 0; at < GMT_SECTION_WORDS; at++) {
        if (gmt_section_see(control, at, &seen) && gmt_section_is_long(&seen, now_ns)) {
            char doing[GMT_HELD_UP_BYTES];
            gmt_held_up_doing(control->pid, seen.tid, doing);
            printf("; thread %u has been held up for %.1f s: %s; it is %s", seen.tid,
                   (double)(now_ns - seen.since_ns) / 1e9, seen.text, doing);
        }
    }
}

static void print_status(const struct gmt_recorded *recorded, void *count)
{
    const struct gmt_control *control = &recorded->control;
    bool has_switch = control->version >= 12, off = has_switch && control->switched_off != 0;
    bool is_seen = !has_switch || off == (control->switch_seen != 0);
    uint64_t dropped = control->dropped_full + control->dropped_io;
    bool has_recorder = control->recorder_pid != 0 && gmt_recorded_has_recorder(recorded);
    printf("process %ld: %s%s; ", (long)recorded->pid, off ? "off" : "on",
           is_seen ? "" : ", takes effect at the next call");
    if (gmt_ring_is_on(control)) {
        printf("the last %.4g s, %.4g MiB, for dumps beside %s; ", (double)control->ring_ns / 1e9,
               (double)control->ring_bytes / 0x1p20, control->output);
    } else {
        printf("the whole run, into %s; ", control->output);
    }
    printf("%.1f MiB in the spool; ", (double)control->bytes_in_use / 0x1p20);
    if (has_recorder) {
        printf("recorder %u", control->recorder_pid);
    } else {
        printf("its recorder %s", control->recorder_pid != 0 ? "is gone" : "is not up yet");
    }
    if (dropped != 0) {
        printf("; %llu records dropped", (unsigned long long)dropped);
    }
    gmt_overhead_print(stdout, "; overhead ", NULL, control);
    print_held_up(control);
    putchar('\n');
    ++*(unsigned *)count;
}

int gmt_launcher_status(char *const argv[])
{
    struct gmt_recorded recorded;
    unsigned count = 0;
    if (argv[1] != NULL && (argv[2] != NULL || argv[1][0] == '-')) {
        bool asks = strcmp(argv[1], "--help") == 0;
        FILE *out = asks ? stdout : stderr;
        gmt_say(out, "Usage: gmtrace status [PID]\n");
        gmt_say(out, "Say of a process, or of all that you have, how it is being recorded.\n");
        return asks ? 0 : GMT_EXIT_FAILED;
    }
    if (argv[1] == NULL) {
        gmt_recorded_each(print_status, &count);
        if (count == 0) {
            gmt_say(stderr, "gmtrace: no process of yours is being recorded\n");
        }
    } else if (gmt_recorded_find_named(argv[1], &recorded) == 0) {
        print_status(&recorded, &count);
    }
    return count != 0 ? 0 : GMT_EXIT_FAILED;
}
