/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that run for long: they are named, so that nobody takes them for a hang, and ended on demand. */
#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "simgpu/driver/driver.h"

#define NOTICE_MS (UINT64_C(60) * 1000) /* SIMGPU_NOTICE_S; 0: never */
#define MOST_MS (UINT64_C(1) << 52)     /* what is longer is for ever */

/* A grid is said to be too long at a tenth of the time, if it would take ten times it. */
enum { EARLY = 10, TOO_LONG = 10 };

/* Seconds with a fraction after a point, whatever the program's locale, in ms. False: nothing else. */
static bool parse_ms(const char *text, uint64_t *ms)
{
    uint64_t value = 0, unit = 1000;

    for (; isdigit((unsigned char)*text) && value < MOST_MS; text++) {
        value = value * 10 + (uint64_t)(*text - '0') * 1000;
    }
    if (*text == '.') {
        while (isdigit((unsigned char)*++text)) {
            unit /= 10;
            value += (uint64_t)(*text - '0') * unit;
        }
    }
    *ms = value;
    return *text == '\0';
}

static uint64_t setting_ms(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t ms;

    return text != NULL && text[0] != '\0' && parse_ms(text, &ms) ? ms : otherwise;
}

/* Somebody who asked for a limit and got none would wait for ever. */
static uint64_t limit_ms(void)
{
    static atomic_bool said;
    const char *text = getenv("SIMGPU_TIMEOUT");
    const uint64_t ms = setting_ms("SIMGPU_TIMEOUT", 0);

    if (text != NULL && text[0] != '\0' && ms == 0 && !atomic_exchange(&said, true)) {
        sim_say("SIMGPU_TIMEOUT=%.32s is no number of seconds above 0: kernels have no limit",
                text);
    }
    return ms;
}

static uint64_t now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

void sim_watchdog_begin(struct sim_watchdog *watchdog, const char *kernel)
{
    *watchdog = (struct sim_watchdog){
        .kernel = kernel,
        .notice_ms = setting_ms("SIMGPU_NOTICE_S", NOTICE_MS),
        .limit_ms = limit_ms(),
        .begin_ms = now_ms(),
    };
}

/* What the blocks that have not begun will take at the pace of those that have. */
static double rest_ms(const struct sim_progress *progress, uint64_t elapsed_ms)
{
    return progress->begun == 0 ? 0
                                : (double)(progress->blocks - progress->begun) *
                                      (double)elapsed_ms / (double)progress->begun;
}

static void say(struct sim_watchdog *watchdog, const struct sim_progress *progress,
                uint64_t elapsed_ms)
{
    if (atomic_exchange(&watchdog->said, true)) {
        return;
    }
    if (progress->begun < progress->blocks) {
        sim_say("kernel %s still runs: %llu of %llu blocks have begun in %.0f s, the others take "
                "about %.0f s more at this pace. SIMGPU_TIMEOUT=seconds ends a kernel that runs "
                "longer",
                watchdog->kernel, (unsigned long long)progress->begun,
                (unsigned long long)progress->blocks, (double)elapsed_ms / 1e3,
                rest_ms(progress, elapsed_ms) / 1e3);
    } else {
        sim_say("kernel %s still runs. A kernel runs inside the call that launches it: should it "
                "wait for the host or for another stream, it will not end. SIMGPU_TIMEOUT=seconds "
                "ends a kernel that runs longer",
                watchdog->kernel);
    }
}

bool sim_watchdog_look(void *argument, const struct sim_progress *progress)
{
    struct sim_watchdog *watchdog = argument;
    const uint64_t elapsed_ms = now_ms() - watchdog->begin_ms, notice = watchdog->notice_ms;

    if (notice != 0 &&
        (elapsed_ms >= notice || (elapsed_ms >= notice / EARLY &&
                                  rest_ms(progress, elapsed_ms) >= (double)notice * TOO_LONG))) {
        say(watchdog, progress, elapsed_ms);
    }
    return watchdog->limit_ms == 0 || elapsed_ms < watchdog->limit_ms;
}
