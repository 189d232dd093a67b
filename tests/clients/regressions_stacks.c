/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about call stacks: code that is gone, frames that are none, a spool without room. */
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* function(argument), with `frame` where a function that keeps frames has its caller's. */
long client_call_in_frame(void *function, const void *frame, unsigned long argument);
__asm__(".text\n"
        ".type client_call_in_frame, @function\n"
        "client_call_in_frame:\n"
#if defined(__aarch64__)
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, x1\n"
        "    mov x9, x0\n"
        "    mov x0, x2\n"
        "    blr x9\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n");
#else
        "    pushq %rbp\n"
        "    movq %rsi, %rbp\n"
        "    movq %rdi, %rax\n"
        "    movq %rdx, %rdi\n"
        "    call *%rax\n"
        "    popq %rbp\n"
        "    ret\n");
#endif

static void *open_plugin(const char *name, int (**free_in_it)(CUdeviceptr))
{
    char path[4096], symbol[64];
    const char *slash = strrchr(client_program, '/');
    (void)snprintf(path, sizeof path, "%.*s/libclientplugin_%s.so",
                   slash != NULL ? (int)(slash - client_program) : 1,
                   slash != NULL ? client_program : ".", name);
    (void)snprintf(symbol, sizeof symbol, "free_in_%s", name);
    void *plugin = dlopen(path, RTLD_NOW);
    void *function = plugin != NULL ? dlsym(plugin, symbol) : NULL;
    if (function == NULL) {
        fprintf(stderr, "driverregressions: %s\n", dlerror());
        exit(4);
    }
    memcpy(free_in_it, &function, sizeof function);
    return plugin;
}

int scenario_freed_code(long n)
{
    CUdeviceptr memory;
    int (*function)(CUdeviceptr);
    (void)n;
    client_start();
    void *plugin = open_plugin("first", &function);
    CHECK(cu.cuMemAlloc(&memory, 64));
    dlclose(plugin);
    volatile uintptr_t frame[2] = {0, (uintptr_t)function + 16};
    printf("free %ld\n", client_call_in_frame((void *)cu.cuMemFree, (void *)frame, memory));
    return 0;
}

__attribute__((noinline)) static void memsets(CUdeviceptr memory)
{
    for (int i = 0; i < 1000; i++) {
        CHECK(cu.cuMemsetD8(memory, 0, 16));
    }
}

int scenario_replaced_code(long n)
{
    static const char *const names[] = {"first", "second"};
    (void)n;
    CUdeviceptr other;
    client_start();
    CHECK(cu.cuMemAlloc(&other, 64));
    for (int i = 0; i < 2; i++) {
        CUdeviceptr memory;
        int (*free_in_it)(CUdeviceptr);
        CHECK(cu.cuMemAlloc(&memory, 64));
        void *plugin = open_plugin(names[i], &free_in_it);
        printf("free in the %s: %d\n", names[i], free_in_it(memory) - 1);
        dlclose(plugin);
        memsets(other); /* an unloaded library is noticed within 256 calls of a thread */
    }
    CHECK(cu.cuMemFree(other));
    return 0;
}

int scenario_odd_frames(long n)
{
    CUdeviceptr memory;
    volatile uintptr_t frame[2] = {0, 1};
    (void)n;
    client_start();
    for (int i = 0; i < 20000; i++) {
        CHECK(cu.cuMemAlloc(&memory, 64));
        frame[1]++;
        (void)client_call_in_frame((void *)cu.cuMemFree, (void *)frame, memory);
    }
    CHECK(cu.cuMemAlloc(&memory, 64));
    memsets(memory);
    puts("done");
    return 0;
}

/* The recorder of this process, found by the trace's name in its arguments; 0 without one. */
static pid_t find_recorder(void)
{
    const char *trace = getenv("GMTRACE_OUTPUT");
    glob_t files;
    pid_t pid = 0;
    if (trace == NULL || glob("/proc/[0-9]*/cmdline", 0, NULL, &files) != 0) {
        return 0;
    }
    for (size_t i = 0; i < files.gl_pathc && pid == 0; i++) {
        char line[4096] = "";
        FILE *file = fopen(files.gl_pathv[i], "r");
        size_t got = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
        if (file != NULL) {
            (void)fclose(file);
        }
        if (memmem(line, got, "gmtrace-recorder", 16) != NULL &&
            memmem(line, got, trace, strlen(trace)) != NULL) {
            pid = (pid_t)strtol(files.gl_pathv[i] + strlen("/proc/"), NULL, 10);
        }
    }
    globfree(&files);
    return pid;
}

/* Until a process has rested for a while: it has done what there was to do. 60 s at most. */
static void wait_until_it_rests(pid_t pid)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int tries = 0, resting = 0; tries < 3000 && resting < 50; tries++) {
        char state = 'X';
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            (void)fscanf(file, "%*d (%*[^)]) %c", &state);
            (void)fclose(file);
        }
        resting = state == 'S' ? resting + 1 : 0;
        usleep(20000);
    }
}

int scenario_full_spool(long n)
{
    CUdeviceptr memory;
    char buffer[64] = {0};
    (void)n;
    client_start();
    CHECK(cu.cuMemAlloc(&memory, 4096));
    bool is_traced = getenv("GMTRACE_OUTPUT") != NULL;
    pid_t recorder = 0;
    for (int tries = 0; is_traced && recorder == 0 && tries < 6000; tries++) {
        recorder = find_recorder();
        usleep(10000);
    }
    if (recorder != 0) {
        kill(recorder, SIGSTOP);
    }
    for (int i = 0; i < 40000; i++) {
        CHECK(cu.cuMemcpyHtoD(memory, buffer, 64));
    }
    for (int i = 0; i < 20000; i++) {
        CHECK(cu.cuMemcpyDtoH(buffer, memory, 64));
        CHECK(cu.cuMemcpyDtoH(buffer, memory, 32));
        CHECK(cu.cuCtxSynchronize());
    }
    if (recorder != 0) {
        kill(recorder, SIGCONT);
        wait_until_it_rests(recorder); /* it has made room */
    }
    memsets(memory);
    puts(!is_traced || recorder != 0 ? "done" : "no recorder found");
    return 0;
}
