/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions, their call counters, and cuGetProcAddress: all expanded from functions.def. */
#include "simgpu/driver/driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simgpu/driver/counts.h"

#define SIM_EXPORT __attribute__((visibility("default")))

enum sim_id {
#define SIM(symbol, base, since, params, args) ID_##symbol,
#define SIM_PTDS(symbol, base, since, since_pt, params, args) ID_##symbol, ID_##symbol##_ptds,
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) ID_##symbol, ID_##symbol##_ptsz,
#include "simgpu/driver/functions.def"
    ID_COUNT
};

static const char *const sim_names[ID_COUNT] = {
#define SIM(symbol, base, since, params, args) #symbol,
#define SIM_PTDS(symbol, base, since, since_pt, params, args) #symbol, #symbol "_ptds",
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) #symbol, #symbol "_ptsz",
#include "simgpu/driver/functions.def"
};

/* ---- counters: in a shared file when SIMGPU_COUNTS names one, so that they outlive any end ---- */

static struct sim_count sim_private_counts[ID_COUNT];
static struct sim_count *sim_counts = sim_private_counts;

static void sim_counts_path(char *path, size_t bytes, const char *pattern)
{
    size_t used = 0;
    for (const char *p = pattern; *p != '\0' && used + 16 < bytes; p++) {
        if (p[0] == '%' && p[1] == 'p') {
            used += (size_t)snprintf(path + used, bytes - used, "%d", (int)getpid());
            p++;
        } else {
            path[used++] = *p;
        }
    }
    path[used] = '\0';
}

static void sim_counts_open(void)
{
    const char *pattern = getenv("SIMGPU_COUNTS");
    if (pattern == NULL || pattern[0] == '\0') {
        return;
    }
    char path[4096];
    sim_counts_path(path, sizeof path, pattern);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return;
    }
    size_t bytes = sizeof sim_private_counts;
    if (posix_fallocate(fd, 0, (off_t)bytes) == 0) {
        void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            sim_counts = map;
            for (unsigned i = 0; i < ID_COUNT; i++) {
                memccpy(sim_counts[i].name, sim_names[i], '\0', sizeof sim_counts[i].name - 1);
            }
        }
    }
    close(fd);
}

/* A forked child counts for itself: in a file of its own where the name holds %p. */
static void sim_counts_in_child(void)
{
    const char *pattern = getenv("SIMGPU_COUNTS");
    if (pattern != NULL && strstr(pattern, "%p") != NULL) {
        sim_counts_open();
    }
}

__attribute__((constructor)) static void sim_start(void)
{
    sim_counts_open();
    pthread_atfork(NULL, NULL, sim_counts_in_child);
}

static bool sim_works_uninitialized(unsigned id)
{
    switch (id) {
    case ID_cuInit:
    case ID_cuDriverGetVersion:
    case ID_cuGetProcAddress:
    case ID_cuGetProcAddress_v2:
    case ID_cuGetErrorName:
    case ID_cuGetErrorString:
    case ID_cuGetExportTable:
    case ID_cuThreadExchangeStreamCaptureMode: return true;
    default: return false;
    }
}

CUresult sim_enter(unsigned id, bool per_thread)
{
    atomic_fetch_add_explicit(&sim_counts[id].calls, 1, memory_order_relaxed);
    sim_thread.per_thread = per_thread;
    return sim_works_uninitialized(id) ? CUDA_SUCCESS : sim_call_allowed();
}

/* ---- definitions ---- */

#define DEFINE(symbol, impl, per_thread, params, args) \
    SIM_EXPORT CUresult CUDAAPI symbol params \
    { \
        CUresult allowed = sim_enter(ID_##symbol, per_thread); \
        return allowed != CUDA_SUCCESS ? allowed : impl args; \
    }

#define SIM(symbol, base, since, params, args) DEFINE(symbol, sim_##symbol, false, params, args)
#define SIM_PTDS(symbol, base, since, since_pt, params, args) \
    DEFINE(symbol, sim_##symbol, false, params, args) \
    DEFINE(symbol##_ptds, sim_##symbol, true, params, args)
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) \
    DEFINE(symbol, sim_##symbol, false, params, args) \
    DEFINE(symbol##_ptsz, sim_##symbol, true, params, args)
#include "simgpu/driver/functions.def"

/* ---- cuGetProcAddress ---- */

struct sim_entry {
    const char *base;
    int since;
    bool per_thread;
    void *function;
};

static const struct sim_entry sim_entries[] = {
#define ENTRY(symbol, base, since, per_thread) {#base, since, per_thread, (void *)symbol},
#define SIM(symbol, base, since, params, args) ENTRY(symbol, base, since, false)
#define SIM_PTDS(symbol, base, since, since_pt, params, args) \
    ENTRY(symbol, base, since, false) ENTRY(symbol##_ptds, base, since_pt, true)
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) \
    ENTRY(symbol, base, since, false) ENTRY(symbol##_ptsz, base, since_pt, true)
#define SIM_ALSO(symbol, base, since) ENTRY(symbol, base, since, false)
#include "simgpu/driver/functions.def"
};

static void *sim_lookup(const char *name, int version, bool per_thread, bool *known)
{
    const struct sim_entry *best = NULL;
    *known = false;
    for (size_t i = 0; i < sizeof sim_entries / sizeof sim_entries[0]; i++) {
        const struct sim_entry *entry = &sim_entries[i];
        if (strcmp(entry->base, name) != 0) {
            continue;
        }
        *known = true;
        if (entry->since > version || (entry->per_thread && !per_thread)) {
            continue;
        }
        if (best == NULL || entry->per_thread > best->per_thread ||
            (entry->per_thread == best->per_thread && entry->since >= best->since)) {
            best = entry;
        }
    }
    return best == NULL ? NULL : best->function;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *symbolStatus)
{
    if (symbol == NULL || pfn == NULL || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    bool known;
    bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *pfn = sim_lookup(symbol, cudaVersion, per_thread, &known);
    if (symbolStatus != NULL) {
        *symbolStatus = *pfn != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
                        : known      ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return *pfn != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    return sim_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
