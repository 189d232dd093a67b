/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of plainclient about signals, filters of system calls and descriptors. */
#define _GNU_SOURCE
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t received;
static sigjmp_buf before;

static void count(int number)
{
    (void)number;
    received++;
}

static void jump(int number)
{
    received++;
    siglongjmp(before, number);
}

static void print_signal_state(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0) {
            fputs(line, stdout);
        }
    }
    if (status != NULL) {
        (void)fclose(status);
    }
}

int plain_signals(long n)
{
    (void)n;
    print_signal_state();
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (number != SIGKILL && number != SIGSTOP && signal(number, count) != SIG_ERR) {
            raise(number);
        }
        signal(number, SIG_DFL);
    }
    printf("%d received\n", (int)received);
    print_signal_state();
    return 0;
}

int plain_segv(long n)
{
    stack_t other = {.ss_size = (size_t)SIGSTKSZ * 4};
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
    (void)n;
    other.ss_sp = malloc(other.ss_size);
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(before, 1) == 0) {
        volatile int *nowhere = NULL;
        *nowhere = 1; // NOLINT: that is the scenario
    }
    printf("%d faults\n", (int)received);
    free(other.ss_sp);
    return 0;
}

int plain_timers(long n)
{
    struct itimerval every = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000}, never = {0};
    signal(SIGALRM, count);
    setitimer(ITIMER_REAL, &every, NULL);
    while (received < n) {
        free(malloc(64));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    puts("enough signals");
    return 0;
}

int plain_jumps(long n)
{
    signal(SIGUSR1, jump);
    for (volatile long i = 0; i < n; i++) {
        if (sigsetjmp(before, 1) == 0) {
            raise(SIGUSR1);
        }
    }
    printf("%d jumps\n", (int)received);
    return 0;
}

int plain_signalfd(long n)
{
    struct signalfd_siginfo information;
    sigset_t set;
    (void)n;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    raise(SIGUSR1);
    while (read(file, &information, sizeof information) == (ssize_t)sizeof information) {
        printf("signal %u\n", information.ssi_signo);
    }
    return 0;
}

/* A system call that is not in the list would end the program: at its end, too. */
int plain_seccomp(long n)
{
    (void)n;
    puts("strict");
    fflush(stdout);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
        perror("prctl");
        return 1;
    }
    if (write(STDOUT_FILENO, "written\n", 8) != 8) {
        syscall(SYS_exit, 1);
    }
    syscall(SYS_exit, 5);
    return 0;
}

int plain_no_new_privileges(long n)
{
    (void)n;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    execl("/proc/self/exe", "plainclient", "no_children", NULL);
    return 1;
}

int plain_descriptors(long n)
{
    (void)n;
    for (int fd = 0; fd < 4096; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            printf("%d is open\n", fd);
        }
    }
    printf("the next one is %d\n", open("/dev/null", O_RDONLY | O_CLOEXEC));
    return 0;
}
