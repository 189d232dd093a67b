/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp while it runs, and what handlers may do to it.
 *
 * Threads of a warp that diverge at a branch become paths, each with a mask, a place in the code and
 * a reconvergence point, where it meets the others again. The core runs one path until it arrives
 * there, waits or ends, then another. This is the divergence stack, held as a tree, so that a path
 * that waits (a warp barrier, a spin lock) does not keep its siblings from running.
 */
#ifndef SIMGPU_EXEC_WARP_H
#define SIMGPU_EXEC_WARP_H

#include "simgpu/exec/exec.h"
#include "simgpu/exec/op.h"

struct sim_path;   /* exec/path.h */
struct sim_block;  /* below */
struct sim_worker; /* below */

/* Windows of the generic address space; user addresses of x86-64 end below them. */
#define SIM_SHARED_WINDOW UINT64_C(0x0001000000000000)
#define SIM_LOCAL_WINDOW UINT64_C(0x0001010000000000)
#define SIM_PARAM_WINDOW UINT64_C(0x0001020000000000) /* the kernel's parameters */
#define SIM_CODE_WINDOW UINT64_C(0x0001030000000000)  /* function addresses: + 16 x (index + 1) */
#define SIM_WINDOW_BYTES UINT64_C(0x0000010000000000)

/* What handlers see of a warp. The core owns the rest (struct sim_path and its own files). */
struct sim_warp {
    uint8_t *frame;  /* of the path that runs; changes at calls only */
    uint32_t active; /* its lanes */
    uint32_t live;   /* lanes of the warp that have not exited */
    uint32_t number; /* in the block: %warpid */
    struct sim_block *block;
    struct sim_worker *worker;
    struct sim_inst_counts *sites; /* counts of the running function, NULL = not counting */
    const struct sim_code *code;   /* the running function */
    uint8_t *local;                /* local memory: lane i has local + i * local_stride */
    size_t local_stride;           /* bytes per lane: the stack limit */
    uint64_t local_base;           /* offset of the running function's own variables */
    struct sim_path *path;         /* the core's */
};

/* A block while it runs: one worker runs all its warps. */
struct sim_block {
    const struct sim_launch *launch;
    uint32_t index[3]; /* %ctaid */
    uint64_t number;   /* linear */
    uint8_t *shared;   /* static then dynamic; 16-byte aligned at least */
    size_t shared_bytes;
    struct sim_warp *warps;
    uint32_t warp_count;
    uint32_t threads;
    struct sim_races *races; /* exec/race.h, NULL = not looked for */
    uint32_t barrier_epoch;  /* grows at each block-wide barrier that completes */
};

/* A thread of the pool during a launch: what it may write without locks. */
struct sim_worker {
    const struct sim_launch *launch;
    struct sim_memory *memory; /* exec/memory.h: last region found, first-touch bitmaps */
    struct sim_printer *printer;
    unsigned number;
};

/*
 * The launch ends with `status`; the text says what (`format`), the core adds kernel, block, thread
 * (of the lowest lane of `lanes`), the PTX instruction with its line, and the source line.
 * Returns NULL, to be returned by the handler.
 */
const struct sim_op *sim_warp_fault(struct sim_warp *warp, const struct sim_op *op, uint32_t lanes,
                                    enum sim_status status, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * For instructions that wait for the other lanes of `members` (shfl.sync, vote.sync, bar.warp.sync,
 * match, redux): NULL while some live lane of `members` has not come to this very instruction: the
 * handler returns NULL at once, and is called again later with a mask that holds all lanes that
 * came together. Otherwise returns `op`, and the handler goes on with `mask`, which contains every live
 * lane of `members`.
 */
const struct sim_op *sim_warp_gather(struct sim_warp *warp, const struct sim_op *op, uint32_t mask,
                                     uint32_t members);

#endif
