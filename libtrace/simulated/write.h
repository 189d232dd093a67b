/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the software device counted of a launch into the spool. */
#ifndef GMT_SIMULATED_WRITE_H
#define GMT_SIMULATED_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "simgpu/counts.h"

struct gmt_simulated_launch {
    uint32_t launch_seq, kernel_class;
    const char *kernel_name;
    const struct sim_counts *counts;
    const struct sim_inst_info *sites; /* NULL: not known */
    size_t site_count;
    uint32_t (*allocation_at)(uint64_t address); /* or NULL */
};

/* One GMT_REC_COUNTERS: its metrics. */
void gmt_simulated_write_sums(const struct gmt_simulated_launch *launch);
/* The instructions that were executed, what was touched of each allocation, and races. */
void gmt_simulated_write_details(const struct gmt_simulated_launch *launch);

#endif
