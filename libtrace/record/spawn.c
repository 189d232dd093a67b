/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a helper process that the application cannot notice. */
#include "libtrace/record/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)
#define MAX_ENVIRONMENT 4096u

/* glibc's own name of clone: those who put a function of theirs before `clone` (ThreadSanitizer since GCC
 * 13) take every child for a fork, and abort in one that shares its parent's memory. */
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...); // NOLINT

/* A bit for each processor that a kernel can have; it takes those that the control group may use. */
static const unsigned char all_processors[1024] = {[0 ... 1023] = 0xff};

struct spawn_job {
    const char *path;
    char *const *argv;
    char **environment;
    uint8_t *inner_stack;
    volatile int error; /* set by a child: memory is shared with it */
};

/* In the second child, in an address space that is still the application's: only system calls. */
static int run_helper(void *argument)
{
    struct spawn_job *job = argument;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) {
        (void)sigaction(number, &standard, NULL); /* handlers are a private copy of this child */
    }
    (void)setsid();
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        (void)dup2(null, 0);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
    }
#ifdef SYS_close_range
    long closed = syscall(SYS_close_range, 3u, ~0u, 0u);
#else
    long closed = -1;
#endif
    if (closed != 0) {
        for (int fd = 3; fd < 65536; fd++) {
            (void)close(fd);
        }
    }
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    /* Off the processors that the program is bound to, before it could be kept from running there. */
    (void)syscall(SYS_sched_setaffinity, 0, sizeof(all_processors), all_processors);
    execve(job->path, job->argv, job->environment);
    job->error = errno;
    _exit(127);
}

/* The first child: starts the second and is gone, so that the helper's parent is init. */
static int start_helper(void *argument)
{
    struct spawn_job *job = argument;
    if (__clone(run_helper, job->inner_stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, job) < 0) {
        job->error = errno;
    }
    _exit(0);
}

static bool is_kept(const char *variable)
{
    static const char *const dropped[] = {
        "LD_PRELOAD=", "LD_AUDIT=", "LD_LIBRARY_PATH=", "GMTRACE_", "CUDA_INJECTION64_PATH="};
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
        if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0) {
            return false;
        }
    }
    return true;
}

int gmt_spawn_detached(const char *path, char *const argv[])
{
    const size_t bytes = 2 * STACK_BYTES + (MAX_ENVIRONMENT + 1) * sizeof(char *);
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    char **environment = (char **)(void *)(memory + 2 * STACK_BYTES);
    size_t count = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        if (count < MAX_ENVIRONMENT && is_kept(*variable)) {
            environment[count++] = *variable;
        }
    }
    struct spawn_job job = {.path = path,
                            .argv = argv,
                            .environment = environment,
                            .inner_stack = memory + STACK_BYTES};

    /* A subreaper would inherit the helper and find it in its wait(). */
    int subreaper = 0;
    (void)prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&subreaper, 0, 0, 0);
    if (subreaper != 0) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    /* No handler of the application may run in a child that shares its memory. */
    sigset_t all, before;
    sigfillset(&all);
    int error = -pthread_sigmask(SIG_BLOCK, &all, &before);
    if (error == 0) {
        /* Exit signal 0: no SIGCHLD, and only wait calls with __WCLONE or __WALL see the child. */
        pid_t child = __clone(start_helper, memory + STACK_BYTES, CLONE_VM | CLONE_VFORK, &job);
        error = child < 0 ? -errno : 0;
        while (child > 0 && waitpid(child, NULL, (int)__WCLONE) < 0 && errno == EINTR) {
        }
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (subreaper != 0) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    if (error == 0) {
        error = -job.error;
    }
    munmap(memory, bytes);
    return error;
}
