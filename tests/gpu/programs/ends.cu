/* SPDX-License-Identifier: Apache-2.0 */
/* Ends in a chosen way after ALLOCATIONS allocations, COPIES copies and one launch: ends HOW. */

#include "check.cuh"

#include <signal.h>
#include <stdexcept>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALLOCATIONS = 4, COPIES = 100, BYTES = 4096 };

__global__ void k_touch(char *data)
{
    data[threadIdx.x] = 1;
}

static void work()
{
    static char host[BYTES];
    char *device[ALLOCATIONS];
    for (char *&pointer : device)
        CHECK(cudaMalloc(&pointer, BYTES));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpy(device[i % ALLOCATIONS], host, BYTES, cudaMemcpyHostToDevice));
    k_touch<<<1, 32>>>(device[0]);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(device[0])); /* the others stay allocated */
    printf("allocated %d copied %d\n", ALLOCATIONS, COPIES);
    fflush(stdout);
}

static void by_return(char **)
{
}

static void by_exit(char **)
{
    exit(3);
}

static void by_underscore_exit(char **)
{
    _exit(4);
}

static void by_quick_exit(char **)
{
    quick_exit(5);
}

static void by_abort(char **)
{
    abort();
}

static void by_throw(char **)
{
    throw std::runtime_error("thrown out of main");
}

static void by_segv(char **)
{
    volatile int *nowhere = nullptr;
    *nowhere = 1;
}

static void by_kill(char **)
{
    raise(SIGKILL);
}

static void by_exec(char **program)
{
    char default_program[] = "/bin/true";
    char *default_argv[] = {default_program, nullptr};
    char **next = program[0] != nullptr ? program : default_argv;
    execv(next[0], next);
    perror(next[0]);
    exit(1);
}

static const struct {
    const char *how;
    void (*end)(char **rest);
    const char *status;
} ways[] = {
    {"return", by_return, "exit status 0"},
    {"exit", by_exit, "exit status 3"},
    {"_exit", by_underscore_exit, "exit status 4, no atexit handlers"},
    {"quick_exit", by_quick_exit, "exit status 5, no atexit handlers"},
    {"abort", by_abort, "SIGABRT"},
    {"throw", by_throw, "SIGABRT by std::terminate"},
    {"segv", by_segv, "SIGSEGV"},
    {"kill", by_kill, "SIGKILL"},
    {"exec", by_exec, "what the program after it returns, /bin/true by default"},
};

int main(int argc, char **argv)
{
    for (const auto &way : ways) {
        if (argc < 2 || strcmp(argv[1], way.how) != 0)
            continue;
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        work();
        way.end(argv + 2);
        return 0;
    }
    fprintf(stderr, "usage: ends HOW [PROGRAM ARGUMENTS...], where HOW is one of\n");
    for (const auto &way : ways)
        fprintf(stderr, "  %-10s  %s\n", way.how, way.status);
    return 2;
}
