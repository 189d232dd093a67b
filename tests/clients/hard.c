/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of hardclient about processes, descriptors and the end. */
#define _GNU_SOURCE
#include "hard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void hard_copies(long n)
{
    CUdeviceptr memory;
    char host[64] = {1};
    CHECK(cu.cuMemAlloc(&memory, sizeof host));
    for (long i = 0; i < n; i++) {
        CHECK(cu.cuMemcpyHtoD(memory, host, sizeof host));
    }
    CHECK(cu.cuMemFree(memory));
}

int scenario_nothing(long n)
{
    printf("nothing %ld\n", n);
    return 0;
}

int scenario_killed(long n)
{
    client_start();
    hard_copies(n);
    puts("killed");
    fflush(stdout);
    kill(getpid(), SIGKILL);
    return 0;
}

enum { FIRST_TAKEN = 100, LAST_TAKEN = 109 };

/* What a program that knows no tracer does with numbers of descriptors that it believes to be free. */
int scenario_taken(long n)
{
    struct stat taken, output;
    int still_there = 0;
    client_start();
    hard_copies(10);
    closefrom(3);
    for (int fd = FIRST_TAKEN; fd <= LAST_TAKEN; fd++) {
        if (dup2(STDOUT_FILENO, fd) != fd) {
            return 1;
        }
    }
    hard_copies(n);
    for (int fd = FIRST_TAKEN; fd <= LAST_TAKEN; fd++) {
        still_there += fstat(fd, &taken) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
                       taken.st_dev == output.st_dev && taken.st_ino == output.st_ino;
    }
    printf("%d descriptors are the program's, the next one is %d\n", still_there, dup(0));
    return 0;
}

static bool at_end;

__attribute__((destructor)) static void call_in_destructor(void)
{
    if (at_end) {
        hard_copies(3);
        puts("destructor");
    }
}

static void call_in_handler(void)
{
    hard_copies(5);
    puts("handler");
}

static void call_in_thread_destructor(void *context)
{
    CHECK(cu.cuCtxSetCurrent(context));
    hard_copies(7);
    puts("thread");
}

static void *leave_value(void *key)
{
    CUcontext context;
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    pthread_setspecific(*(pthread_key_t *)key, context);
    return NULL;
}

int scenario_at_end(long n)
{
    pthread_key_t key;
    pthread_t thread;
    (void)n;
    client_start();
    at_end = true;
    atexit(call_in_handler);
    pthread_key_create(&key, call_in_thread_destructor);
    if (pthread_create(&thread, NULL, leave_value, &key) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    return 6;
}

int scenario_reload(long n)
{
    for (long i = 0; i < n; i++) {
        client_start();
        hard_copies(10);
        void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (driver == NULL) {
            fprintf(stderr, "hardclient: %s\n", dlerror());
            return 1;
        }
        dlclose(driver);
        dlclose(driver);
        client_load(VIA_DLSYM);
    }
    printf("%ld times\n", n);
    return 0;
}

static int status_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* No handler for fork runs: nothing in the child knows that it is one. Its calls fail or succeed as
 * untraced. */
static void call_in_child(pid_t child, const char *how)
{
    if (child == 0) {
        CUdevice device;
        char host[16];
        for (int i = 0; i < 100; i++) {
            (void)cu.cuDeviceGet(&device, 0);
            (void)cu.cuMemcpyDtoH(host, 1, sizeof host);
        }
        _exit(5);
    }
    printf("%s: %d\n", how, status_of(child));
}

int scenario_raw_fork(long n)
{
    client_start();
    for (int i = 0; i < 5; i++) {
        hard_copies(n);
        fflush(stdout);
        call_in_child((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL), "clone");
        fflush(stdout);
        call_in_child(_Fork(), "_Fork");
    }
    return 0;
}

int scenario_give_up_root(long n)
{
    client_start();
    hard_copies(n);
    int error = setuid(65534);
    hard_copies(n);
    printf("setuid %d\n", error);
    return 0;
}

int scenario_until_enough(long n)
{
    struct timespec pause = {.tv_nsec = 10000000};
    (void)n;
    client_start();
    puts("started");
    fflush(stdout);
    while (access("enough", F_OK) != 0) {
        hard_copies(20);
        nanosleep(&pause, NULL);
    }
    hard_copies(100);
    puts("ended");
    return 0;
}
