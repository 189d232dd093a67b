/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the end of a program, and ends it with all that it has started when it takes too long. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/launcher.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define SLICE_MS 200
#define TERM_S 3.0 /* for what the program does at SIGTERM */
#define KILL_S 5.0 /* then it is left: what waits for the driver cannot be ended */
enum { MOST_PROCESSES = 65536 };

struct process {
    pid_t pid, parent;
    bool is_ours;
};

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Has it ended, so that waitpid() does not wait? */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* Time while this process was stopped, as by Ctrl-Z, does not count. */
static bool ends_within(pid_t pid, double limit_s)
{
    double spent_s = 0;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    bool ended = has_ended(pid);
    while (!ended && spent_s < limit_s) {
        double began_s = now_s();
        (void)poll(&end, 1,
                   end.fd >= 0 ? SLICE_MS : 1); /* 1: an old kernel has no such descriptor */
        double took_s = now_s() - began_s;
        spent_s += took_s < 10 * SLICE_MS / 1e3 ? took_s : SLICE_MS / 1e3;
        ended = has_ended(pid);
    }
    if (end.fd >= 0) {
        close(end.fd);
    }
    return ended;
}

/* ---- ending it ---------------------------------------------------------------------------------- */

static bool read_process(const char *name, struct process *process)
{
    char path[300], text[512] = "";
    long parent = 0;
    (void)snprintf(path, sizeof(path), "/proc/%s/stat", name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    /* PID (NAME) STATE PARENT: the name may have blanks and parentheses. */
    const char *name_end = strrchr(text, ')');
    if (name_end == NULL || sscanf(name_end + 1, " %*c %ld", &parent) != 1) {
        return false;
    }
    *process = (struct process){.pid = (pid_t)atol(name), .parent = (pid_t)parent};
    return true;
}

/* All there are. The caller frees the list; NULL: there is no memory. */
static struct process *list_processes(size_t *count)
{
    struct process *list = calloc(MOST_PROCESSES, sizeof(*list));
    DIR *entries = list != NULL ? opendir("/proc") : NULL;
    const struct dirent *entry;
    *count = 0;
    while (entries != NULL && *count < MOST_PROCESSES && (entry = readdir(entries)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]) &&
            read_process(entry->d_name, &list[*count])) {
            (*count)++;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return list;
}

/* To all that this process has started, and what they have. */
static void signal_descendants(int number)
{
    size_t count, found;
    struct process *list = list_processes(&count);
    do {
        found = 0;
        for (size_t i = 0; i < count; i++) {
            bool is_child = list[i].parent == getpid();
            for (size_t k = 0; k < count && !is_child && !list[i].is_ours; k++) {
                is_child = list[k].is_ours && list[k].pid == list[i].parent;
            }
            found += is_child && !list[i].is_ours;
            list[i].is_ours = list[i].is_ours || is_child;
        }
    } while (found != 0);
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_ours) {
            (void)kill(list[i].pid, number);
        }
    }
    free(list);
}

/* Takes the status of each child that ends. True: there is none any more. */
static bool all_end_within(double limit_s, pid_t pid, int *status)
{
    double began_s = now_s();
    for (;;) {
        int one;
        pid_t got = waitpid(-1, &one, WNOHANG);
        if (got == pid) {
            *status = one;
        }
        if (got < 0 && errno != EINTR) {
            return true;
        }
        if (got == 0 && now_s() - began_s >= limit_s) {
            return false;
        }
        if (got == 0) {
            (void)poll(NULL, 0, 10);
        }
    }
}

/* Children of what ends are ours meanwhile, so that none is lost. */
static int end_program(pid_t pid, int *status)
{
    *status = SIGKILL; /* where it does not end */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal_descendants(SIGTERM);
    if (!all_end_within(TERM_S, pid, status)) {
        signal_descendants(SIGKILL);
        (void)all_end_within(KILL_S, pid, status);
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    return GMT_EXECUTE_LATE;
}

int gmt_launcher_wait(pid_t pid, double limit_s, int *status)
{
    pid_t waited;
    if (limit_s > 0 && !ends_within(pid, limit_s)) {
        return end_program(pid, status);
    }
    do {
        waited = waitpid(pid, status, 0);
    } while (waited < 0 && errno == EINTR);
    return waited < 0 ? -1 : 0;
}
