/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes with a rank (locks.def). With GMT_CHECK_LOCKS (CMake's option of that name) each thread keeps which it has, and
 * the process aborts where it would wait for one of a lower rank, or releases one that it does not have. Without, these
 * are pthread's functions.
 */
#ifndef GMT_THREADS_MUTEX_H
#define GMT_THREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum gmt_rank {
#define GMT_LOCK(name, protects) GMT_RANK_##name,
#include "libtrace/threads/locks.def"
#undef GMT_LOCK
    GMT_RANK_COUNT
};

struct gmt_mutex {
    pthread_mutex_t mutex;
    enum gmt_rank rank;
};

#define GMT_MUTEX(name) \
    { \
        PTHREAD_MUTEX_INITIALIZER, GMT_RANK_##name \
    }

/* Of mutex_check.c. */
void gmt_rank_wait(enum gmt_rank rank);  /* the thread is about to wait for that one */
void gmt_rank_take(enum gmt_rank rank);  /* it has it now */
void gmt_rank_leave(enum gmt_rank rank); /* it is about to release it */
void gmt_rank_forget(enum gmt_rank rank);

#ifdef GMT_CHECK_LOCKS
#define GMT_CHECK_RANK(what, lock) gmt_rank_##what((lock)->rank)
#else
#define GMT_CHECK_RANK(what, lock) ((void)(lock))
#endif

static inline void gmt_mutex_lock(struct gmt_mutex *lock)
{
    GMT_CHECK_RANK(wait, lock);
    pthread_mutex_lock(&lock->mutex);
    GMT_CHECK_RANK(take, lock);
}

/* Does not wait, and is allowed out of order. True: the thread has it. */
static inline bool gmt_mutex_try(struct gmt_mutex *lock)
{
    if (pthread_mutex_trylock(&lock->mutex) != 0) {
        return false;
    }
    GMT_CHECK_RANK(take, lock);
    return true;
}

/* Waits until that time of CLOCK_REALTIME. */
static inline bool gmt_mutex_lock_until(struct gmt_mutex *lock, const struct timespec *until)
{
    GMT_CHECK_RANK(wait, lock);
    if (pthread_mutex_timedlock(&lock->mutex, until) != 0) {
        return false;
    }
    GMT_CHECK_RANK(take, lock);
    return true;
}

static inline void gmt_mutex_unlock(struct gmt_mutex *lock)
{
    GMT_CHECK_RANK(leave, lock);
    pthread_mutex_unlock(&lock->mutex);
}

/* In a forked child: whoever had it is not here. */
static inline void gmt_mutex_renew(struct gmt_mutex *lock)
{
    GMT_CHECK_RANK(forget, lock);
    pthread_mutex_init(&lock->mutex, NULL);
}

#endif
