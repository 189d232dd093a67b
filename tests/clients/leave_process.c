/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are made without fork(), and what happens to the files of a spool. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/leaveclient.h"

/* ---- processes that are made without fork() --------------------------------------------------- */

static pid_t fork_raw(void)
{
#ifdef SYS_fork
    return (pid_t)syscall(SYS_fork);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

int leave_raw_fork(void)
{
    leave_begin();
    leave_copy_to_host(10);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork_raw();
        if (child == 0) {
            leave_copy_to_host(i == 0 ? 0 : 20 + i); /* the first one never calls */
            exit(i);
        }
        int status;
        leave_copy_to_host(10);
        waitpid(child, &status, 0);
        printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
    leave_copy_to_host(10);
    return 0;
}

static void *end_at_once(void *unused)
{
    return unused;
}

/* The end of a thread in the child is not the end of the parent's. */
int leave_raw_fork_thread(void)
{
    leave_begin();
    leave_copy_to_host(10);
    fflush(stdout);
    pid_t child = fork_raw();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_at_once, NULL);
        pthread_detach(thread);
        pthread_exit(NULL);
    }
    waitpid(child, NULL, 0);
    leave_copy_to_host(10);
    return 0;
}

/* ---- files of the spool ----------------------------------------------------------------------- */

/* Waits for a line before its last calls. */
int leave_hold(void)
{
    char line[8];
    leave_begin();
    leave_copy_to_host(10);
    puts("ready");
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 6;
    }
    leave_copy_to_host(10);
    return 0;
}

/* What a clean-up may do to files of its own user. */
int leave_truncate_own(void)
{
    char path[4096 + 300];
    int truncated = 0, met = 0;
    const char *output = getenv("LEAVE_SPOOL");
    leave_begin();
    leave_copy_to_host(10);
    DIR *folder = output != NULL ? opendir(output) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", output, entry->d_name);
        bool is_mapped = strncmp(entry->d_name, "chunk-", 6) == 0 ||
                         strcmp(entry->d_name, "control") == 0 ||
                         strcmp(entry->d_name, "coverage") == 0;
        int fd = is_mapped ? open(path, O_WRONLY | O_TRUNC) : -1;
        truncated += fd >= 0 || (is_mapped && truncate(path, 0) == 0);
        met += is_mapped;
        if (fd >= 0) {
            close(fd);
        }
    }
    leave_copy_to_host(1000);
    fprintf(stderr, "met %d, truncated %d\n", met, truncated);
    return 0;
}
