/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the driver for as long as the process lives, from threads that the interpreter leaves behind when it ends (ended.py). */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))
#define BEFORE 1 /* bytes filled by a call while the interpreter lives ... */
#define AFTER 2  /* ... and after its end */

static _Atomic size_t size = BEFORE;
static _Atomic bool is_over;

static void sleep_ms(long ms)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* Exit handlers run when the interpreter has ended. */
static void stay(void)
{
    size = AFTER;
    sleep_ms(100);
    is_over = true;
    sleep_ms(100); /* the last calls end */
}

EXPORTED void gmt_test_stay_after_the_end(void);
EXPORTED void gmt_test_fill_until_exit(int (*set)(uint64_t, unsigned char, size_t),
                                       uint64_t memory);

void gmt_test_stay_after_the_end(void)
{
    (void)atexit(stay);
}

/* Never returns: its caller would wait for the GIL of an interpreter that is gone. */
void gmt_test_fill_until_exit(int (*set)(uint64_t, unsigned char, size_t), uint64_t memory)
{
    while (!is_over) {
        (void)set(memory, 1, size);
        sleep_ms(1);
    }
    for (;;) {
        sleep_ms(900);
    }
}
