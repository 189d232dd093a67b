/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: which function a name means to a program of some CUDA version. */
#include <string.h>

#include "simgpu/driver/driver.h"
#include "simgpu/driver/unsupported.h"

struct export_entry {
    const char *base;
    int since;
    bool per_thread;
    void *function;
};

static const struct export_entry entries[] = {
#define ENTRY(symbol, base, since, per_thread) {#base, since, per_thread, (void *)symbol},
#define SIM(symbol, base, since, params, args) ENTRY(symbol, base, since, false)
#define SIM_PTDS(symbol, base, since, since_pt, params, args) \
    ENTRY(symbol, base, since, false) ENTRY(symbol##_ptds, base, since_pt, true)
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) \
    ENTRY(symbol, base, since, false) ENTRY(symbol##_ptsz, base, since_pt, true)
#define SIM_ALSO(symbol, base, since) ENTRY(symbol, base, since, false)
#include "simgpu/driver/functions.def"
#define UNSUPPORTED(symbol, base, since) {#base, since, false, (void *)sim_no_##symbol},
#define UNSUPPORTED_PTSZ(symbol, base, since, since_pt) \
    {#base, since, false, (void *)sim_no_##symbol}, \
        {#base, since_pt, true, (void *)sim_no_##symbol##_ptsz},
#include "simgpu/driver/unsupported.def"
};

static void *sim_lookup(const char *name, int version, bool per_thread, bool *known)
{
    const struct export_entry *best = NULL;
    *known = false;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        const struct export_entry *entry = &entries[i];
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
