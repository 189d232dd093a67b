/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about code that is made at run time, as interpreters and just-in-time compilers do. */
#define _GNU_SOURCE
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CODE_BYTES = 4096, MAPPED = 0, UNMAPPED = 1, FORKED = 2 };

typedef CUresult copy_function(CUdeviceptr to, const void *from, size_t bytes);
typedef CUresult made_function(copy_function *copy, CUdeviceptr to, const void *from, size_t bytes);

/* copy(to, from, bytes), with a frame as compilers make it. */
static made_function *make_code(void)
{
    static const unsigned char code[] = {
        0x55,             /* push %rbp       */
        0x48, 0x89, 0xe5, /* mov %rsp, %rbp  */
        0x48, 0x89, 0xf8, /* mov %rdi, %rax  */
        0x48, 0x89, 0xf7, /* mov %rsi, %rdi  */
        0x48, 0x89, 0xd6, /* mov %rdx, %rsi  */
        0x48, 0x89, 0xca, /* mov %rcx, %rdx  */
        0xff, 0xd0,       /* call *%rax      */
        0x5d,             /* pop %rbp        */
        0xc3,             /* ret             */
    };
    made_function *made;
    void *memory = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    if (memory == MAP_FAILED) {
        exit(4);
    }
    memcpy(memory, code, sizeof code);
    if (mprotect(memory, CODE_BYTES, PROT_READ | PROT_EXEC) != 0) {
        exit(4);
    }
    memcpy(&made, &memory, sizeof made);
    return made;
}

/* The map is left, for a recorder that reads it later; maps.txt says what to remove. */
static void write_map(made_function *made)
{
    char path[64];
    void *start;
    memcpy(&start, &made, sizeof start);
    (void)snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *map = fopen(path, "w"), *list = fopen("maps.txt", "a");
    if (map == NULL || list == NULL) {
        exit(4);
    }
    fprintf(map, "%lx %x py::Loader.batch:/home/me/train.py\n", (unsigned long)start, CODE_BYTES);
    fprintf(list, "%s\n", path);
    fclose(map);
    fclose(list);
}

static int copy_from_made_code(made_function *made)
{
    char bytes[64] = "made";
    CUdeviceptr memory;
    client_start();
    CHECK(cu.cuMemAlloc(&memory, sizeof bytes));
    CHECK(made(cu.cuMemcpyHtoD, memory, bytes, sizeof bytes));
    CHECK(cu.cuMemFree(memory));
    return 0;
}

int scenario_made_code(long n)
{
    int status = 0;
    made_function *made = make_code();
    if (n != UNMAPPED) {
        write_map(made);
    }
    if (n != FORKED) {
        return copy_from_made_code(made);
    }
    /* The child runs code that its parent made and wrote down. */
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        exit(copy_from_made_code(made));
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}
