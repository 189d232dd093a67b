/* SPDX-License-Identifier: Apache-2.0 */
/* Computing in one of PTX's four rounding modes. */
#ifndef SIMGPU_EXEC_ROUNDING_H
#define SIMGPU_EXEC_ROUNDING_H

#include <fenv.h>

#include "simgpu/exec/form.h"

static inline int sim_host_rounding(uint32_t flags)
{
    static const int modes[] = {[SIM_RN] = FE_TONEAREST,
                                [SIM_RZ] = FE_TOWARDZERO,
                                [SIM_RM] = FE_DOWNWARD,
                                [SIM_RP] = FE_UPWARD};
    return modes[flags & SIM_ROUND_MODE];
}

/*
 * Run `computation`, which reads array x and writes array v, in the mode that `flags` say. Compilers
 * may move arithmetic across calls that change the mode: the barriers make x known only after the
 * change, and v used before it is undone.
 */
#define SIM_ROUNDED(flags, x, v, computation) \
    do { \
        if (((flags)&SIM_ROUND_MODE) == SIM_RN) { \
            computation; \
            break; \
        } \
        fesetround(sim_host_rounding(flags)); \
        __asm__ volatile("" : "+m"(x)); \
        computation; \
        __asm__ volatile("" : "+m"(v)); \
        fesetround(FE_TONEAREST); \
    } while (0)

#endif
