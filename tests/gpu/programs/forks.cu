/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parent without CUDA and three children with it, each of which watches for strange children.
 *
 * Neither the parent nor a child may ever see a child process that it did not start, be it by
 * wait() or by SIGCHLD. Exits 0 and prints "forks ok" when that holds.
 */

#include "check.cuh"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3, COPIES = 50, BYTES = 4096 };

static volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t last_signalled;

static void on_sigchld(int, siginfo_t *info, void *)
{
    signals_seen = signals_seen + 1;
    last_signalled = info->si_pid;
}

__global__ void k_child(char *data)
{
    data[threadIdx.x] = 1;
}

static int fail(const char *who, const char *what, long number)
{
    fprintf(stderr, "forks: %s %s %ld\n", who, what, number);
    return 1;
}

static int child(int index)
{
    static char host[BYTES];
    char *device = nullptr;
    CHECK(cudaMalloc(&device, BYTES));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
    k_child<<<1, 32>>>(device);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(device));

    usleep(200 * 1000); /* time for a stray child to end */
    const pid_t stray = wait(nullptr);
    if (stray > 0)
        return fail("child", "waited for an unknown process", stray);
    if (errno != ECHILD)
        return fail("child", "wait() failed with errno", errno);
    if (signals_seen != 0)
        return fail("child", "got SIGCHLD from process", last_signalled);
    return index;
}

static int known_index(const pid_t *children, pid_t pid)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i] == pid)
            return i;
    return -1;
}

int main()
{
    struct sigaction action = {};
    action.sa_sigaction = on_sigchld;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGCHLD, &action, nullptr);

    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] < 0)
            return fail("parent", "could not fork, errno", errno);
        if (children[i] == 0) {
            signals_seen = 0; /* an elder sibling's may have been seen before the fork */
            exit(child(i + 10));
        }
    }

    int seen = 0;
    for (;;) {
        int status = 0;
        const pid_t pid = wait(&status);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        const int index = known_index(children, pid);
        if (index < 0)
            return fail("parent", "waited for an unknown process", pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != index + 10)
            return fail("parent", "saw a child end with wait status", status);
        seen++;
    }
    if (errno != ECHILD || seen != CHILDREN)
        return fail("parent", "saw this many children:", seen);
    if (signals_seen > CHILDREN) /* fewer are possible: pending signals merge */
        return fail("parent", "got too many SIGCHLD:", signals_seen);
    if (known_index(children, last_signalled) < 0)
        return fail("parent", "got SIGCHLD from unknown process", last_signalled);
    printf("forks ok\n");
    return 0;
}
