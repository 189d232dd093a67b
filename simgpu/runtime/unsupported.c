/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exported functions that the device does not have, expanded from unsupported.def. They are
 * declared here without parameters, which on x86-64 may be there and stay unread; so the header that
 * declares them in full is not included.
 */
#include <driver_types.h>

#include <stdio.h>

#include "simgpu/cancel.h"
#include "simgpu/runtime/unsupported.h"

static cudaError_t refuse(const char *name, int *named)
{
    SIM_UNCANCELLABLE;
    if (__atomic_exchange_n(named, 1, __ATOMIC_RELAXED) == 0) {
        fprintf(stderr, "gmtrace software device: %s is not supported\n", name);
    }
    return sim_leave_unsupported();
}

#define SIM_UNSUPPORTED(name) \
    __attribute__((visibility("default"))) cudaError_t name(void); \
    cudaError_t name(void) \
    { \
        static int named; \
        return refuse(#name, &named); \
    }
#include "simgpu/runtime/unsupported.def"
