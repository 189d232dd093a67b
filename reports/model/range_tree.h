/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of a program as a tree: one node per path of names, whatever thread and however often. */
#ifndef GMT_REPORTS_MODEL_RANGE_TREE_H
#define GMT_REPORTS_MODEL_RANGE_TREE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is summed up by path (step > forward > conv), over all occurrences in all threads. A call counts in each path whose range
 * was open in its thread when it began, once; in paths of the process whatever its thread. NAN: not known.
 */
struct gmt_range_node {
    const char *label; /* as in gmt_range_row; NULL: others */
    int32_t parent;    /* index of the node around it, which stands before it; -1: none */
    int32_t depth;     /* 0: none is around it */
    bool of_process;   /* begun and ended by any thread: NVTX's start and end, cudaProfilerStart */
    bool
        others; /* stands for paths below its parent, or with none around, that have no node of their own */
    size_t count;        /* ranges */
    size_t threads;      /* that they were in; 0: of the process */
    double host_ns;      /* sum over the ranges; of others without those inside of others */
    double host_self_ns; /* of that, in no range inside of it */
    double device_ns,
        device_self_ns; /* kernels that calls in it launched; ... while it was the innermost one */
    double idle_ns;     /* while a thread was in it, and no device worked */
    double launches, copies, h2d_bytes, d2h_bytes;
    double allocated_bytes; /* device memory, as the driver was asked for it */
    double held_bytes;      /* of that, not freed when the range ended that it was allocated in */
    size_t findings;        /* more than half of whose cost lies in it */
    double best_ns;         /* sum of what those save */
};

/* What nodes are ordered by: host time; where a trace has none the kernels' time, else its calls. */
static inline double gmt_range_node_weight(const struct gmt_range_node *node)
{
    if (!isnan(node->host_ns)) {
        return node->host_ns;
    }
    return isnan(node->device_ns) ? node->launches + node->copies : node->device_ns;
}

#endif
