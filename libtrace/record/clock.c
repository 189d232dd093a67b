/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses between TSC and clock_gettime, and reads both at one instant. */
#include "libtrace/record/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool gmt_clock_uses_tsc;

/* CPUID 0x80000007 EDX bit 8: the TSC runs at one rate in all power states. */
static bool cpu_has_invariant_tsc(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
#else
    return false;
#endif
}

/* The kernel drops the TSC from this list when it found it unstable. Virtual machines often run on
 * kvm-clock, which is itself computed from the TSC and says nothing against it. */
static bool kernel_trusts_tsc(void)
{
    char text[128];
    int cancel_state;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                  O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    (void)pthread_setcancelstate(cancel_state, NULL);
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    return strstr(text, "tsc") != NULL || strstr(text, "kvm-clock") != NULL;
}

void gmt_clock_init(void)
{
    gmt_clock_uses_tsc = cpu_has_invariant_tsc() && kernel_trusts_tsc();
}

struct gmt_clock_pair gmt_clock_read_pair(void)
{
    struct gmt_clock_pair best = {0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = gmt_clock_ticks();
        uint64_t ns = gmt_clock_monotonic_ns();
        uint64_t after = gmt_clock_ticks();
        if (after - before < best_width) {
            best_width = after - before;
            best.ticks = gmt_clock_uses_tsc ? before + (after - before) / 2 : ns;
            best.monotonic_ns = ns;
        }
    }
    return best;
}

uint64_t gmt_clock_read_wall(uint64_t *ticks)
{
    uint64_t best_width = UINT64_MAX, wall_ns = 0;
    for (int i = 0; i < 5; i++) {
        struct timespec now = {0};
        uint64_t before = gmt_clock_ticks();
        (void)clock_gettime(CLOCK_REALTIME, &now);
        uint64_t width = gmt_clock_ticks() - before;
        if (width < best_width) {
            best_width = width;
            *ticks = before + width / 2;
            wall_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
        }
    }
    return wall_ns;
}
