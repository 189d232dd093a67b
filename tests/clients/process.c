/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about processes: fork, exec, every way to end, descriptors, children. */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

CUdeviceptr client_some_calls(void)
{
    CUdeviceptr memory;
    char host[256] = {1};
    client_start();
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    CHECK(cu.cuMemcpyDtoH(host, memory, sizeof host));
    return memory;
}

int client_status_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int scenario_fork_early(long n)
{
    pid_t children[64];
    long count = n > 0 && n <= 64 ? n : 3;
    fflush(stdout);
    for (long i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            CHECK(cu.cuMemFree(client_some_calls()));
            exit(10 + (int)i);
        }
    }
    CHECK(cu.cuMemFree(client_some_calls()));
    for (long i = 0; i < count; i++) {
        printf("child %d\n", client_status_of(children[i]));
    }
    return 0;
}

int scenario_fork_late(long n)
{
    CUdeviceptr memory = client_some_calls();
    (void)n;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUresult result = cu.cuMemAlloc(&memory, 64);
        exit(result == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    printf("child %d\n", client_status_of(child));
    CHECK(cu.cuMemFree(memory));
    return 0;
}

int scenario_exec(long n)
{
    char *arguments[] = {(char *)(uintptr_t)client_program, "basic", NULL};
    (void)n;
    client_some_calls();
    puts("exec");
    fflush(stdout);
    execv("/proc/self/exe", arguments);
    return 5;
}

int scenario_exit_return(long n)
{
    (void)n;
    client_some_calls();
    return 7;
}

int scenario_exit_now(long n)
{
    (void)n;
    client_some_calls();
    _exit(7);
}

int scenario_exit_quick(long n)
{
    (void)n;
    client_some_calls();
    quick_exit(7);
}

int scenario_exit_abort(long n)
{
    (void)n;
    client_some_calls();
    abort();
}

/* Blocks that are filled once each: the next one is made when the last is done with. */
int scenario_exit_lost(long n)
{
    client_some_calls();
    for (int i = 0; i < 5; i++) {
        CUdeviceptr lost;
        CHECK(cu.cuMemAlloc(&lost, 1 << 20));
        CHECK(cu.cuMemsetD8(lost, (unsigned char)i, 1 << 20));
    }
    if (n > 255) {
        abort();
    }
    return (int)n;
}

int scenario_exit_segv(long n)
{
    (void)n;
    client_some_calls();
    volatile int *nowhere = NULL;
    *nowhere = 1; // NOLINT: that is the scenario
    return 0;
}

static void *call_forever(void *context)
{
    CUdeviceptr memory;
    char host[64] = {1};
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    for (;;) {
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
        usleep(20);
    }
    return NULL;
}

static void *exit_soon(void *unused)
{
    (void)unused;
    usleep(50000);
    exit(7);
}

int scenario_exit_thread(long n)
{
    pthread_t thread;
    CUcontext context = client_start();
    for (long i = 0; i < (n > 0 ? n : 4); i++) {
        pthread_create(&thread, NULL, call_forever, context);
    }
    pthread_create(&thread, NULL, exit_soon, NULL);
    pthread_join(thread, NULL);
    return 1;
}

/* As a C++ program that keeps device memory in a global object: freed after the atexit handlers. */
static CUdeviceptr kept[3];

__attribute__((destructor)) static void free_kept(void)
{
    for (int i = 0; i < 3 && kept[i] != 0; i++) {
        CHECK(cu.cuMemFree(kept[i]));
    }
}

int scenario_late_free(long n)
{
    (void)n;
    client_some_calls();
    for (int i = 0; i < 3; i++) {
        CHECK(cu.cuMemAlloc(&kept[i], 1 << 20));
    }
    puts("kept 3");
    return 0;
}

static volatile sig_atomic_t child_signals;

static void on_child(int number)
{
    (void)number;
    child_signals++;
}

/* The program has one child: a wait() loop must see that one and no other, with one SIGCHLD. */
int scenario_waitloop(long n)
{
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    int reaped = 0, strangers = 0, status;
    (void)n;
    sigaction(SIGCHLD, &action, NULL);
    CUdeviceptr memory = client_some_calls();
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    for (;;) {
        pid_t pid = wait(&status);
        if (pid < 0 && errno == ECHILD) {
            break;
        }
        reaped += pid == child;
        strangers += pid > 0 && pid != child;
    }
    CHECK(cu.cuMemFree(memory));
    printf("reaped %d, strangers %d, SIGCHLD %d\n", reaped, strangers, (int)child_signals);
    return 0;
}

int scenario_closefds(long n)
{
    (void)n;
    CUdeviceptr memory = client_some_calls();
    for (int fd = 3; fd < 1024; fd++) {
        close(fd);
    }
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuMemFree(client_some_calls()));
    int status = scenario_churn(2000);
    int first_free = dup(0);
    printf("next descriptor %d\n", first_free);
    return status;
}

int scenario_chdir(long n)
{
    (void)n;
    if (chdir("/") != 0) {
        return 1;
    }
    CHECK(cu.cuMemFree(client_some_calls()));
    return 0;
}
