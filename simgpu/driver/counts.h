/* SPDX-License-Identifier: Apache-2.0 */
/* The file SIMGPU_COUNTS: one record per entry point, updated in place. `simcounts` prints it. */
#ifndef SIMGPU_DRIVER_COUNTS_H
#define SIMGPU_DRIVER_COUNTS_H

#include <stdatomic.h>
#include <stdint.h>

struct sim_count {
    char name[56];
    _Atomic uint64_t calls;
};

#endif
