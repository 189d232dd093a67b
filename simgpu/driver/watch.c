/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that the environment names, and callbacks of calls: what a driver does for CUPTI. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simgpu/driver/driver.h"
#include "simgpu/driver/ids.h"
#include "simgpu/simgpu.h"

_Atomic(simgpu_watcher *) sim_watcher;
static _Atomic uint32_t calls;

void sim_watch(simgpu_watcher *watcher)
{
    sim_watcher = watcher;
}

__attribute__((visibility("default"))) void simgpu_watch(simgpu_watcher *watcher)
{
    sim_watch(watcher);
}

struct simgpu_call sim_watch_begin(unsigned id, const void *parameters)
{
    struct simgpu_call call = {
        .symbol = sim_names[id],
        .parameters = parameters,
        .number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1,
    };
    simgpu_watcher *watcher = sim_watcher;
    if (watcher != NULL) {
        watcher(&call);
    }
    return call;
}

void sim_watch_end(struct simgpu_call *call, CUresult *result)
{
    simgpu_watcher *watcher = sim_watcher;
    call->result = (int *)result;
    if (watcher != NULL) {
        watcher(call);
    }
}

/* As the driver's documentation says: the library is loaded and initialized in cuInit. */
static void load_tool(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path != NULL && path[0] != '\0' ? dlopen(path, RTLD_NOW) : NULL;
    void *found = tool != NULL ? dlsym(tool, "InitializeInjection") : NULL;
    int (*start)(void);
    memcpy(&start, &found, sizeof start);
    if (found != NULL) {
        (void)start();
    }
}

void sim_load_tool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_tool);
}
