/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the process, for tests of what begins some: one that is inside of the loader at exit leaves memory behind. */
#ifndef GMT_TESTS_UNIT_OWN_THREADS_H
#define GMT_TESTS_UNIT_OWN_THREADS_H

#include <dirent.h>
#include <unistd.h>

/* How many there are. */
static inline unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        count += task->d_name[0] != '.';
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return count;
}

/* Waits, 10 s at most, until no more than `count` are left. */
static inline void wait_for_threads(unsigned count)
{
    for (unsigned tries = 0; count_threads() > count && tries < 10000; tries++) {
        (void)usleep(1000);
    }
}

#endif
