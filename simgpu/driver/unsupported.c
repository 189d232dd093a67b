/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points that are not there: each says so once, and returns CUDA_ERROR_NOT_SUPPORTED. */
#include "simgpu/driver/unsupported.h"

#include "simgpu/cancel.h"
#include "simgpu/driver/driver.h"

static int refuse(const char *name, atomic_bool *said)
{
    SIM_UNCANCELLABLE;
    if (!atomic_exchange(said, true)) {
        sim_say("%s is not supported", name);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define STAND_IN(symbol) \
    int sim_no_##symbol(void) \
    { \
        static atomic_bool said; \
        return refuse(#symbol, &said); \
    }
#define UNSUPPORTED(symbol, base, since) STAND_IN(symbol)
#define UNSUPPORTED_PTSZ(symbol, base, since, since_pt) STAND_IN(symbol) STAND_IN(symbol##_ptsz)
#include "simgpu/driver/unsupported.def"
