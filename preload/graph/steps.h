/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch of an executable graph does, one operation after the other, so that its kernels can be launched one
 * by one, and measured, in place of one launch of the graph (hooks/graph_steps.h).
 *
 * The driver has no call that lists what an executable graph holds. So the source graph is read at instantiation,
 * and every change is followed. Where anything is not known or cannot be done by calls in one stream, there are
 * no steps: graphs with edges that ask for more than an order, host functions, events, semaphores, memory
 * nodes, cooperative kernels, copies of pageable memory, and kernels that are given memory which the host can change.
 */
#ifndef GMT_PRELOAD_GRAPH_STEPS_H
#define GMT_PRELOAD_GRAPH_STEPS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/graph/order.h"

#define GMT_STEP_ATTRIBUTES 8u

enum gmt_node_step_kind {
    GMT_STEP_NONE,  /* an empty node */
    GMT_STEP_CHILD, /* a child graph: its own steps follow */
    GMT_STEP_KERNEL,
    GMT_STEP_COPY,
    GMT_STEP_MEMSET,
    GMT_STEP_KINDS,
};

struct gmt_step_kernel {
    CUfunction function; /* or a CUkernel: a launch takes either */
    unsigned grid[3], block[3], dynamic_shared_bytes;
    unsigned attribute_count;
    CUlaunchAttribute attributes[GMT_STEP_ATTRIBUTES];
    uint32_t parameters; /* where they begin in gmt_node_steps.bytes */
    uint32_t parameter_bytes;
    uint32_t room; /* from there on */
    bool packed;   /* given as one buffer, not one by one */
};

struct gmt_node_step {
    enum gmt_node_step_kind kind;
    union {
        struct gmt_step_kernel kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS set;
        size_t child_count; /* steps that follow */
    };
};

/* Of one executable graph. Used by one thread at a time, as the graph itself is. */
struct gmt_node_steps {
    struct gmt_node_step *steps; /* in the order in which they are to be made */
    size_t count;
    struct gmt_node_index index; /* of steps, by node */
    uint8_t *bytes;              /* the kernels' parameters */
    size_t used, room;
    CUcontext context; /* NULL: no node names one */
    bool uses_priorities;
    void *memory; /* all of it is in one mapping */
    size_t mapped_bytes;

    /* Kept by the code that launches it. */
    uint64_t next_look_ns, pause_ns;
    uint32_t launches; /* since the last look */
    CUstream stream;   /* of the last launch */
    bool launched;
};

/* Read what `exec`, just made from `graph`, or updated by it, holds; steps of before are forgotten. */
void gmt_steps_read(CUgraphExec exec, CUgraph graph);

/* NULL: it is not known, or cannot be launched by steps. */
struct gmt_node_steps *gmt_steps_of(CUgraphExec exec);

/* One node gets other parameters. */
void gmt_steps_set_kernel(CUgraphExec exec, CUgraphNode node,
                          const CUDA_KERNEL_NODE_PARAMS_v2 *params);
void gmt_steps_set_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params);
void gmt_steps_set_memset(CUgraphExec exec, CUgraphNode node,
                          const CUDA_MEMSET_NODE_PARAMS *params);

/* A child graph gets the operations of `child`. */
void gmt_steps_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child);

/* What it holds is not known any more. Before the call that destroys it, too. */
void gmt_steps_forget(CUgraphExec exec);

/* The addresses of the kernel's parameters, in `out`, which has room for `room`; false: there are more, or they have
 * changed. */
bool gmt_step_parameters(const struct gmt_node_steps *steps, const struct gmt_step_kernel *kernel,
                         void **out, size_t room);

#endif
