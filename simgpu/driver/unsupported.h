/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points that are not there, by names that do not contradict cuda.h's declarations. */
#ifndef SIMGPU_DRIVER_UNSUPPORTED_H
#define SIMGPU_DRIVER_UNSUPPORTED_H

/* On x86-64 the caller removes the arguments, so one that takes none can stand for every signature. */
#define STAND_IN(symbol) \
    int sim_no_##symbol(void) __asm__(#symbol) __attribute__((visibility("default")));
#define UNSUPPORTED(symbol, base, since) STAND_IN(symbol)
#define UNSUPPORTED_PTSZ(symbol, base, since, since_pt) STAND_IN(symbol) STAND_IN(symbol##_ptsz)
#include "simgpu/driver/unsupported.def"
#undef STAND_IN

#endif
