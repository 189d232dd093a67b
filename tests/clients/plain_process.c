/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of plainclient about processes: children, exec, the ways to end. */
#define _GNU_SOURCE
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

int plain_status_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int plain_forks(long n)
{
    long ended[256] = {0};
    fflush(stdout);
    for (long i = 0; i < n; i++) {
        pid_t child = fork();
        if (child < 0) {
            printf("fork: %d\n", errno);
            return 1;
        }
        if (child == 0) {
            _exit((int)(i % 100));
        }
    }
    for (int status; wait(&status) > 0;) {
        ended[WEXITSTATUS(status)]++;
    }
    for (int i = 0; i < 256; i++) {
        if (ended[i] > 0) {
            printf("%ld ended with %d\n", ended[i], i);
        }
    }
    return 0;
}

static int forked_before, forked_after;

static void before_fork(void)
{
    forked_before++;
}

static void after_fork(void)
{
    forked_after++;
}

static void *fork_once(void *status)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(forked_before * 10 + forked_after);
    }
    *(int *)status = plain_status_of(child);
    return NULL;
}

int plain_fork_in_thread(long n)
{
    pthread_t thread;
    int status = -1;
    (void)n;
    fflush(stdout);
    pthread_atfork(before_fork, after_fork, after_fork);
    if (pthread_create(&thread, NULL, fork_once, &status) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    printf("child %d, handlers %d %d\n", status, forked_before, forked_after);
    return 0;
}

int plain_vfork(long n)
{
    (void)n;
    fflush(stdout);
    pid_t child = vfork(); // NOLINT: that is the scenario
    if (child == 0) {
        execl(SELF, "plainclient", "no_children", NULL);
        _exit(127);
    }
    printf("child %d\n", plain_status_of(child));
    return 0;
}

int plain_raw_clone(long n)
{
    (void)n;
    fflush(stdout);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        syscall(SYS_exit_group, 6);
    }
    printf("child %d\n", plain_status_of(child));
    return 0;
}

int plain_daemon(long n)
{
    int ends[2];
    char text[16] = {0};
    (void)n;
    fflush(stdout);
    if (pipe(ends) != 0) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            close(ends[0]);
            if (daemon(0, 0) == 0 && write(ends[1], "daemon", 6) < 0) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    printf("child %d\n", plain_status_of(child));
    printf("%zd bytes: ", read(ends[0], text, sizeof text - 1));
    puts(text);
    return 0;
}

int plain_fexecve(long n)
{
    char *arguments[] = {"plainclient", "count_arguments", NULL}, *environment[] = {NULL};
    (void)n;
    int file = open(SELF, O_RDONLY | O_CLOEXEC);
    fexecve(file, arguments, environment);
    perror("fexecve");
    return 1;
}

int plain_no_arguments(long n)
{
    (void)n;
    char *arguments[] = {NULL};
    execv(SELF, arguments);
    perror("execv");
    return 1;
}

int plain_odd_environment(long n)
{
    char *preload = getenv("LD_PRELOAD"), text[4096] = "=";
    char *arguments[] = {"plainclient", "count_arguments", NULL};
    char *environment[] = {"no value", "", "=", "GMTRACE", "LD_", text, NULL};
    (void)n;
    if (preload != NULL) {
        (void)snprintf(text, sizeof text, "LD_PRELOAD=%s", preload);
    }
    execve(SELF, arguments, environment);
    perror("execve");
    return 1;
}

/* Variables that a tracer adds are no difference; those that it takes away are one. */
int plain_count_arguments(long n)
{
    long variables = 0;
    (void)n;
    for (char **at = environ; *at != NULL; at++) {
        variables++;
    }
    printf("%d arguments, %s variables\n", plain_arguments, variables < 10 ? "few" : "many");
    return 0;
}

int plain_no_environment(long n)
{
    (void)n;
    fflush(stdout);
    environ = NULL;
    return system("echo a child"); // NOLINT: that is the scenario
}

static void say_first(void)
{
    puts("handler 1");
}

static void say_second(void)
{
    puts("handler 2");
}

static int at_end;

__attribute__((destructor)) static void say_last(void)
{
    if (at_end) {
        puts("destructor");
        fflush(stdout);
    }
}

int plain_exit_order(long n)
{
    (void)n;
    at_end = 1;
    atexit(say_first);
    atexit(say_second);
    return 9;
}

int plain_quick_exit(long n)
{
    at_quick_exit(say_first);
    atexit(say_second);
    at_end = 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    quick_exit((int)n);
}

static volatile sig_atomic_t children_ended;

static void on_child(int number)
{
    (void)number;
    children_ended++;
}

int plain_no_children(long n)
{
    (void)n;
    signal(SIGCHLD, on_child);
    pid_t found = waitpid(-1, NULL, __WALL);
    printf("wait %d errno %d, SIGCHLD %d\n", (int)found, errno, (int)children_ended);
    return 0;
}

int plain_ptrace(long n)
{
    int stops = 0, status = 0;
    (void)n;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        raise(SIGUSR1);
        execl(SELF, "plainclient", "no_children", NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        stops++;
        ptrace(PTRACE_CONT, child, NULL, NULL);
    }
    printf("%d stops, status %d\n", stops, WEXITSTATUS(status));
    return 0;
}
