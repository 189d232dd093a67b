/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks in every way whether CUDA is there, and prints the answers.
 *   asks_client none|local|global|scope
 * none: no driver is loaded (unless the program is linked with it); local, global: it is loaded so; scope: a
 * library is loaded that is linked with it, for itself alone, and a second one beside it that is not.
 * Then cuInit, cuMemAlloc and cuMemFree are called by whatever RTLD_DEFAULT gave.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *ask(void *handle, const char *name);

static void *ask_here(void *handle, const char *name)
{
    void *volatile found = dlsym(handle, name);
    return found;
}

static ask *find_ask(void *library, const char *name)
{
    ask *function;
    void *found = dlsym(library, name);
    if (found == NULL) {
        (void)fprintf(stderr, "asks_client: %s\n", dlerror());
        exit(4);
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

static void say(const char *who, const char *how, ask *looks_up, void *handle)
{
    static const char *const names[] = {"cuInit",
                                        "cuMemAlloc_v2",
                                        "cuGetProcAddress",
                                        "cuGetProcAddress_v2",
                                        "cuNoSuchFunction",
                                        "cuptiActivityEnable",
                                        "cuptiSubscribe",
                                        "InitializeInjection",
                                        "InitializeInjectionNvtx2",
                                        "InitializeInjectionNvtxExtension"};
    (void)dlerror();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *found = looks_up(handle, names[i]);
        const char *error = dlerror();
        printf("%s %s %s: %s, %s\n", who, how, names[i], found != NULL ? "found" : "not found",
               error != NULL ? error : "no error");
    }
}

static void say_all(const char *who, ask *looks_up, void *program)
{
    say(who, "RTLD_DEFAULT", looks_up, RTLD_DEFAULT);
    say(who, "RTLD_NEXT", looks_up, RTLD_NEXT);
    say(who, "dlopen(NULL)", looks_up, program);
}

static void use(ask *looks_up)
{
    CUresult (*init)(unsigned), (*allocate)(CUdeviceptr *, size_t), (*release)(CUdeviceptr);
    CUresult (*retain)(CUcontext *, CUdevice), (*set)(CUcontext);
    CUdeviceptr memory;
    CUcontext context;
    const struct {
        const char *name;
        void *function;
    } wanted[] = {{"cuInit", &init},
                  {"cuMemAlloc_v2", &allocate},
                  {"cuMemFree_v2", &release},
                  {"cuDevicePrimaryCtxRetain", &retain},
                  {"cuCtxSetCurrent", &set}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = looks_up(RTLD_DEFAULT, wanted[i].name);
        if (found == NULL) {
            return;
        }
        memcpy(wanted[i].function, &found, sizeof found);
    }
    int results[] = {(int)init(0), (int)retain(&context, 0), (int)set(context),
                     (int)allocate(&memory, 4096), (int)release(memory)};
    printf("calls: %d %d %d %d %d\n", results[0], results[1], results[2], results[3], results[4]);
}

int main(int argc, char **argv)
{
    const char *driver = argc > 1 ? argv[1] : "none";
    void *program = dlopen(NULL, RTLD_NOW);
    ask *user = ask_here;
    if (strcmp(driver, "local") == 0) {
        (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    } else if (strcmp(driver, "global") == 0) {
        (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    } else if (strcmp(driver, "scope") == 0) {
        void *library = dlopen("libasks_linked.so", RTLD_NOW | RTLD_LOCAL);
        user = find_ask(library, "ask_linked");
        say_all("linked library", user, program);
        say_all("library beside it", find_ask(library, "ask_beside"), program);
    }
    say_all("program", ask_here, program);
    void *versioned = dlvsym(RTLD_DEFAULT, "cuInit", "libcuda.so.1");
    const char *error = dlerror();
    printf("dlvsym: %s, %s\n", versioned != NULL ? "found" : "not found",
           error != NULL ? error : "no error");
    use(user);
    return 0;
}
