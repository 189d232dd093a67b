/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for driver functions through one lookup path, and calls one that gmtrace has no hook for: twice before the
 * recording begins and three times after.  pathsclient dlsym|proc|proc_v2|default exit|kill|fork
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* No hook: the handle of what is mapped at an address. Nothing is: it fails, which is a call all the same. */
static CUresult (*retain)(CUmemGenericAllocationHandle *, void *);

static void *ask(const char *via, const char *name, const char *symbol)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *function = NULL;
    if (strcmp(via, "default") == 0) {
        return dlsym(RTLD_DEFAULT, symbol);
    }
    if (strcmp(via, "proc") == 0) {
        CUresult (*get)(const char *, void **, int, cuuint64_t);
        void *found = dlsym(driver, "cuGetProcAddress");
        memcpy(&get, &found, sizeof get);
        (void)get(name, &function, 12000, 0);
    } else if (strcmp(via, "proc_v2") == 0) {
        CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
        void *found = dlsym(driver, "cuGetProcAddress_v2");
        memcpy(&get, &found, sizeof get);
        (void)get(name, &function, 12000, 0, NULL);
    } else {
        function = dlsym(driver, symbol);
    }
    return function;
}

static void retain_times(unsigned times)
{
    CUmemGenericAllocationHandle handle;
    while (times-- > 0) {
        (void)retain(&handle, NULL);
    }
}

static void end(const char *how)
{
    if (strcmp(how, "kill") == 0) {
        (void)kill(getpid(), SIGKILL);
    }
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        retain_times(4); /* one process each: four in the one, four in the other */
        if (child == 0) {
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    CUresult (*init)(unsigned), (*allocate)(CUdeviceptr *, size_t), (*info)(size_t *, size_t *);
    CUdeviceptr memory;
    if (argc < 3) {
        return 2;
    }
    const struct {
        const char *name, *symbol;
        void *function;
    } wanted[] = {
        {"cuInit", "cuInit", &init},
        {"cuMemAlloc", "cuMemAlloc_v2", &allocate},
        {"cuMemGetInfo", "cuMemGetInfo_v2", &info},
        {"cuMemRetainAllocationHandle", "cuMemRetainAllocationHandle", &retain},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *function = ask(argv[1], wanted[i].name, wanted[i].symbol);
        if (function == NULL) {
            fprintf(stderr, "pathsclient: no %s\n", wanted[i].name);
            return 4;
        }
        memcpy(wanted[i].function, &function, sizeof function);
    }
    retain_times(2);
    int result = init(0);
    (void)allocate(&memory, 4096); /* no context: it fails, and is recorded */
    retain_times(3);
    printf("init %d\n", result);
    (void)fflush(stdout);
    end(argv[2]);
    return 0;
}
