/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about starting processes: every way to get a child, a daemon, forbidden system calls. */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[] = "/proc/self/exe";

/* The same program again, with the scenario `basic`. */
static char **basic(void)
{
    static char *arguments[3];
    arguments[0] = (char *)(uintptr_t)client_program;
    arguments[1] = (char *)(uintptr_t) "basic";
    return arguments;
}

static int around(pid_t (*start)(void))
{
    CUdeviceptr memory = client_some_calls();
    fflush(stdout);
    pid_t child = start();
    printf("child %d\n", child > 0 ? client_status_of(child) : -1);
    CHECK(cu.cuMemFree(memory));
    return 0;
}

static pid_t by_vfork(void)
{
    char **arguments = basic();
    pid_t child = vfork(); // NOLINT: that is the scenario
    if (child == 0) {
        execv(self, arguments);
        _exit(5);
    }
    return child;
}

static pid_t by_posix_spawn(void)
{
    pid_t child = -1;
    return posix_spawn(&child, self, NULL, NULL, basic(), environ) == 0 ? child : -1;
}

int scenario_vfork(long n)
{
    (void)n;
    return around(by_vfork);
}

int scenario_posix_spawn(long n)
{
    (void)n;
    return around(by_posix_spawn);
}

int scenario_look(long n)
{
    CUdevice device;
    int count;
    char name[64];
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGetCount(&count));
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDeviceGetName(name, sizeof name, device));
    if (n == 1) {
        CUdeviceptr memory;
        printf("without a context %d\n", cu.cuMemAlloc(&memory, 64));
    }
    const char *ready = getenv("CLIENT_READY");
    if (ready != NULL && write(atoi(ready), "r", 1) != 1) {
        return 6;
    }
    usleep(n > 1 ? (useconds_t)n * 1000 : 0);
    return 0;
}

/* n > 1: the child ends after this program, and has begun before that ends. */
int scenario_helper(long n)
{
    char number[24], ready[16], *arguments[] = {basic()[0], (char[]){"look"}, number, NULL};
    int pipe_ends[2];
    pid_t child = -1;
    CUdeviceptr memory = client_some_calls();
    fflush(stdout);
    snprintf(number, sizeof number, "%ld", n);
    if (pipe(pipe_ends) != 0) {
        return 5;
    }
    snprintf(ready, sizeof ready, "%d", pipe_ends[1]);
    setenv("CLIENT_READY", ready, 1);
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0) {
        return 5;
    }
    close(pipe_ends[1]);
    if (n <= 1) {
        printf("child %d\n", client_status_of(child));
    } else if (read(pipe_ends[0], ready, 1) != 1) {
        return 5;
    }
    CHECK(cu.cuMemFree(memory));
    return 0;
}

int scenario_system(long n)
{
    char command[4096];
    (void)n;
    CUdeviceptr memory = client_some_calls();
    fflush(stdout);
    snprintf(command, sizeof command, "'%s' basic", client_program);
    printf("system %d\n", system(command)); // NOLINT: that is the scenario
    CHECK(cu.cuMemFree(memory));
    return 0;
}

int scenario_fork_chain(long n)
{
    fflush(stdout);
    pid_t child = n > 1 ? fork() : -1;
    if (child == 0) {
        exit(scenario_fork_chain(n - 1));
    }
    CHECK(cu.cuMemFree(client_some_calls()));
    if (child > 0) {
        printf("generation %ld: child %d\n", n, client_status_of(child));
    }
    return (int)n;
}

int scenario_fork_turns(long n)
{
    for (long i = 0; i < n; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            CHECK(cu.cuMemFree(client_some_calls()));
            exit((int)i);
        }
        printf("child %d\n", client_status_of(child));
        usleep(50000); /* the next one starts later by any clock: of files, of ticks */
    }
    return 0;
}

static void *become_another(void *unused)
{
    (void)unused;
    execv(self, basic());
    exit(5);
}

int scenario_exec_thread(long n)
{
    pthread_t thread;
    (void)n;
    client_some_calls();
    puts("exec");
    fflush(stdout);
    if (pthread_create(&thread, NULL, become_another, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    return 6;
}

static _Noreturn void be_a_daemon(void)
{
    if (setsid() < 0 || chdir("/") != 0) {
        _exit(1);
    }
    if (fork() != 0) {
        _exit(0);
    }
    umask(0);
    for (int fd = 0; fd < 1024; fd++) {
        close(fd);
    }
    for (int fd = open("/dev/null", O_RDWR); fd < 2;) {
        fd = dup(fd);
    }
    CUdeviceptr memory = client_some_calls();
    char host[64] = {1};
    for (int i = 0; i < 1000; i++) {
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    }
    CHECK(cu.cuMemFree(memory));
    exit(0);
}

int scenario_daemon(long n)
{
    (void)n;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        be_a_daemon();
    }
    printf("daemon's parent %d\n", client_status_of(child));
    return 0;
}

/* As containers do it: the call fails, nobody is killed. */
#define REFUSE(number, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

static int forbid(const struct sock_filter *filter, unsigned short count)
{
    struct sock_fprog program = {.len = count, .filter = (struct sock_filter *)(uintptr_t)filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int scenario_seccomp(long n)
{
    const struct sock_filter some[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_memfd_create, EPERM),
        REFUSE(SYS_clone3, ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_filter children[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_clone, EPERM),
#ifdef SYS_fork /* aarch64 has clone only */
        REFUSE(SYS_fork, EPERM),
        REFUSE(SYS_vfork, EPERM),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    if (forbid(some, sizeof some / sizeof some[0]) != 0 ||
        (n == 1 && forbid(children, sizeof children / sizeof children[0]) != 0)) {
        puts("no seccomp");
        return 77;
    }
    CUdeviceptr memory = client_some_calls();
    char host[64] = {1};
    for (int i = 0; i < 100; i++) {
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    }
    CHECK(cu.cuMemFree(memory));
    puts("forbidden");
    return 0;
}
