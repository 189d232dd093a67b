/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the last launch, summed up by kind of access, from the loaded software device. */
#ifndef SIMGPU_TESTS_DEVICE_COUNTS_H
#define SIMGPU_TESTS_DEVICE_COUNTS_H

#include "simgpu/simgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over all sites of one kind (enum sim_inst_kind), and over all sites. */
struct device_counts {
    struct sim_inst_counts kind[SIM_INST_KINDS];
    uint64_t lane_bytes[SIM_INST_KINDS]; /* lanes x width, where `bytes` counts shared bytes once */
    uint64_t executed;                   /* warp-level instructions */
    uint64_t lanes;                      /* lane-level instructions */
};

/* Finds the software device among the loaded libraries and has it count. 0 or -ENODEV. */
int device_counts_begin(void);
/* From now on launches are counted, or not. */
void device_counts_switch(int on);
/* Counts of the last launch of this thread. 0, or -ENODATA if it has none. */
int device_counts_take(struct device_counts *counts);
/* Adds the counts of one launch to those of others. */
void device_counts_add(struct device_counts *sum, const struct device_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
