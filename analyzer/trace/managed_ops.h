/* SPDX-License-Identifier: Apache-2.0 */
/* Faults and migrations of managed memory, and how long kernels waited for them. */
#ifndef GMT_ANALYZER_TRACE_MANAGED_OPS_H
#define GMT_ANALYZER_TRACE_MANAGED_OPS_H

#include "analyzer/trace/timeline.h"

/* A row of `managed_op` that cost time. */
struct gmt_tl_managed_op {
    int64_t start_ns, end_ns; /* the latter is the former of a moment */
    uint64_t address;
    int64_t bytes;       /* of a migration; 0: not known          */
    int32_t allocation;  /* index into gmt_timeline.allocations, -1: none that is known */
    int32_t class_index; /* of the kernel that ran when it started, -1: none that is known */
    uint8_t kind;        /* enum gmt_managed_kind                 */
    bool asked;          /* the program moved it, by a prefetch */
};

/*
 * Loads them, with calls and launches in order: gmt_timeline.managed, has_managed_ops, and the time that each launch waited
 * for faults (gmt_tl_launch.faults_ns): the union of the device's faults and of migrations to it that nobody asked for, with
 * what lies between two that are GMT_FAULT_GAP_NS apart at most, as far as it lies in the launch. A launch that was measured
 * has no device time: nothing ran beside it, and what comes until the next one begins is its own. 0, -ENOMEM or -EIO.
 */
int gmt_managed_ops_load(struct gmt_timeline *timeline);

/* What of an interval is faults, ns. */
double gmt_faults_within(const struct gmt_timeline *timeline, struct gmt_interval interval);

#endif
