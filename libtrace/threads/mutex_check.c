/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that each thread takes mutexes in the order of locks.def (mutex.h). */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtrace/threads/mutex.h"

static const char *const names[] = {
#define GMT_LOCK(name, protects) #name,
#include "libtrace/threads/locks.def"
#undef GMT_LOCK
};
static_assert(GMT_RANK_COUNT <= 32, "one bit each");

/* Bit = rank. Volatile: a handler of a signal may take one and release it again. */
static _Thread_local __attribute__((tls_model("initial-exec"))) volatile uint32_t held;

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static _Noreturn void refuse(enum gmt_rank rank, const char *what)
{
    say("gmtrace: lock ");
    say(names[rank]);
    say(what);
    for (unsigned i = 0; i < GMT_RANK_COUNT; i++) {
        if ((held >> i & 1) != 0) {
            say(" ");
            say(names[i]);
        }
    }
    say("\n");
    abort();
}

void gmt_rank_wait(enum gmt_rank rank)
{
    if (held >> rank != 0) {
        refuse(rank, " is waited for by a thread that has");
    }
}

void gmt_rank_take(enum gmt_rank rank)
{
    held |= UINT32_C(1) << rank;
}

void gmt_rank_leave(enum gmt_rank rank)
{
    if ((held >> rank & 1) == 0) {
        refuse(rank, " is released by a thread that does not have it, but");
    }
    held &= ~(UINT32_C(1) << rank);
}

void gmt_rank_forget(enum gmt_rank rank)
{
    held &= ~(UINT32_C(1) << rank);
}
