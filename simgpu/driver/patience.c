/* SPDX-License-Identifier: Apache-2.0 */
/* Naming a kernel that runs for long: a program that waits for itself then does not look like a hang. */
#include <stdlib.h>
#include <time.h>

#include "simgpu/driver/driver.h"

#define NOTICE_S 60 /* SIMGPU_NOTICE_S; 0: never */

static long notice_s(void)
{
    const char *text = getenv("SIMGPU_NOTICE_S");
    char *end;
    long value = text != NULL ? strtol(text, &end, 10) : NOTICE_S;
    return text != NULL && (end == text || *end != '\0' || value < 0) ? NOTICE_S : value;
}

static long now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec;
}

void sim_patience_begin(struct sim_patience *patience, const char *kernel)
{
    const long wait = notice_s();
    *patience = (struct sim_patience){.kernel = kernel, .until_s = wait > 0 ? now_s() + wait : 0};
}

void sim_patience_look(void *argument)
{
    struct sim_patience *patience = argument;
    if (patience->until_s != 0 && now_s() >= patience->until_s &&
        !atomic_exchange(&patience->said, true)) {
        sim_say("kernel %s still runs. A kernel runs inside the call that launches it: should it "
                "wait for "
                "the host or for another stream, it will not end",
                patience->kernel);
    }
}
