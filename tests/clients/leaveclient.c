/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaveclient SCENARIO: calls that are left before they end, and threads and processes that are made and end
 * in unusual ways. Copies to the host are the calls that a trace must have; those to the device are left.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clients/leaveclient.h"

struct leave_driver leave_driver;
uint64_t leave_memory;
char leave_host[64];

static void look_up(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "leaveclient: %s\n", dlerror());
        exit(4);
    }
    memcpy(to, &found, sizeof found);
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "leaveclient: %s\n", dlerror());
        exit(4);
    }
    look_up(library, "cuInit", &leave_driver.init);
    look_up(library, "cuMemAlloc_v2", &leave_driver.alloc);
    look_up(library, "cuMemcpyHtoD_v2", &leave_driver.to_device);
    look_up(library, "cuMemcpyDtoH_v2", &leave_driver.to_host);
    look_up(library, "leave_during", &leave_driver.during);
}

void leave_begin(void)
{
    if (leave_driver.init(0) != 0 || leave_driver.alloc(&leave_memory, sizeof leave_host) != 0) {
        exit(5);
    }
}

void leave_copy_to_host(int times)
{
    for (int i = 0; i < times; i++) {
        if (leave_driver.to_host(leave_host, leave_memory, sizeof leave_host) != 0) {
            exit(5);
        }
    }
}

static const struct {
    const char *name;
    int (*run)(void);
} scenarios[] = {
    {"pending", leave_pending},
    {"cancelled", leave_cancelled},
    {"ended", leave_ended},
    {"jump", leave_jump},
    {"asynchronous", leave_asynchronous},
    {"nested", leave_nested},
    {"alternate", leave_alternate},
    {"coroutine", leave_coroutine},
    {"lost_coroutine", leave_lost_coroutine},
    {"raw_fork", leave_raw_fork},
    {"raw_fork_thread", leave_raw_fork_thread},
    {"small_stack", leave_small_stack},
    {"hold", leave_hold},
    {"truncate_own", leave_truncate_own},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            load();
            return scenarios[i].run();
        }
    }
    fputs("usage: leaveclient SCENARIO\n", stderr);
    return 2;
}
