/* SPDX-License-Identifier: Apache-2.0 */
/* The one range that is open, for a word to the user when its kernel does not end (open_range.h). */
#include "libtrace/cupti/measure/open_range.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/record/clock.h"

#define LONG_RANGE_NS UINT64_C(10000000000)

static _Atomic uint64_t open_since_ns; /* 0 = none is open */
static const char *_Atomic measured;

void gmt_open_range_begins(const char *kernel, uint64_t now_ns)
{
    atomic_store(&measured, kernel);
    atomic_store(&open_since_ns, now_ns);
}

uint64_t gmt_open_range_ends(void)
{
    return atomic_exchange(&open_since_ns, 0);
}

void gmt_open_range_warn(void)
{
    static uint64_t warned_of_ns;
    uint64_t since_ns = atomic_load(&open_since_ns);
    if (since_ns == 0 || since_ns == warned_of_ns ||
        gmt_clock_monotonic_ns() - since_ns < LONG_RANGE_NS) {
        return;
    }
    warned_of_ns = since_ns;
    const char *name = atomic_load(&measured);
    char line[512];
    (void)snprintf(line, sizeof(line),
                   "gmtrace: kernel %.300s has been measured for over 10 s; if the program hangs "
                   "here, run it with GMTRACE_COLLECT=light\n",
                   name != NULL ? name : "?");
    (void)!write(STDERR_FILENO, line, strlen(line));
}
