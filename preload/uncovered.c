/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points that move memory or make work but have no hook: counted by jumps of our own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "preload/hook.h"
#include "preload/jumps.h"
#include "preload/resolve.h"

/* Used by dlsym.S. */
extern const char gmt_jump_code[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) uint64_t gmt_jump_count[GMT_JUMPS];
__attribute__((visibility("hidden"))) void *gmt_jump_target[GMT_JUMPS];

static char jump_name[GMT_JUMPS][48];
static _Atomic unsigned jumps;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Names worth counting: they allocate, map, move, launch or wait inside the device ... */
static const char *const wanted[] = {
    "cuMem",
    "cuLaunch",
    "cuArray",
    "cuMipmappedArrayCreate",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuGraphicsMap",
    "cuIpcOpen",
    "cuImport",
    "cuExternalMemory",
    "cuStreamWait",
    "cuStreamWrite",
    "cuStreamBatch",
    "cuStreamAttach",
    "cuStreamAdd",
    "cuWaitExternal",
    "cuSignalExternal",
    "cuCtxEnablePeer",
    "cuModuleLoad",
    "cuLibraryLoad",
    "cuMulticast",
};
/* ... and those among them that only ask. */
static const char *const harmless[] = {
    "cuMemGet",     "cuMemHostGet",      "cuMemRangeGet", "cuMemPoolGet",   "cuMemPoolSet",
    "cuArrayGet",   "cuStreamWaitEvent", "cuMemExport",   "cuMemRetain",    "cuMemPoolExport",
    "cuArray3DGet", "cuMulticastGet",    "cuMemAddress",  "cuMemSetAccess",
};

static bool starts_with_any(const char *name, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void *jump_address(unsigned index)
{
    uintptr_t code = (uintptr_t)gmt_jump_code + ((uintptr_t)index << GMT_JUMP_SHIFT);
    void *address;
    memcpy(&address, &code, sizeof(address));
    return address;
}

void *gmt_uncovered_jump(const char *name, void *real)
{
    if (!starts_with_any(name, wanted, sizeof(wanted) / sizeof(wanted[0])) ||
        starts_with_any(name, harmless, sizeof(harmless) / sizeof(harmless[0]))) {
        return real;
    }
    void *answer = real;
    pthread_mutex_lock(&mutex);
    unsigned count = jumps;
    unsigned i = 0;
    while (i < count && gmt_jump_target[i] != real) {
        i++;
    }
    if (i == count && count < GMT_JUMPS) {
        gmt_jump_target[i] = real;
        (void)snprintf(jump_name[i], sizeof(jump_name[i]), "%s", name);
        jumps = count + 1;
    }
    if (i < GMT_JUMPS) {
        answer = jump_address(i);
    }
    pthread_mutex_unlock(&mutex);
    return answer;
}

unsigned long gmt_uncovered_calls(const char *prefix)
{
    unsigned long calls = 0;
    unsigned count = jumps;
    for (unsigned i = 0; i < count; i++) {
        if (strncmp(jump_name[i], prefix, strlen(prefix)) == 0) {
            calls += __atomic_load_n(&gmt_jump_count[i], __ATOMIC_RELAXED);
        }
    }
    return calls;
}

void gmt_uncovered_report(void)
{
    unsigned count = jumps;
    for (unsigned i = 0; i < count; i++) {
        uint64_t calls = __atomic_exchange_n(&gmt_jump_count[i], 0, __ATOMIC_RELAXED);
        if (calls != 0) {
            gmt_spool_loss("entry point not covered", jump_name[i], calls);
        }
    }
}

void gmt_uncovered_reset(void)
{
    pthread_mutex_init(&mutex, NULL);
    memset(gmt_jump_count, 0, sizeof(gmt_jump_count));
}
