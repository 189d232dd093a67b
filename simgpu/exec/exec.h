/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executing kernels: what the driver part of the software device asks of the interpreter.
 *
 * The interpreter knows nothing of contexts, streams or CUDA error codes: it is given a module, a
 * launch and a map of the memory that kernels may touch, runs the launch to its end in the calling
 * thread and a pool of helpers, and says what happened. One launch runs at a time; a second caller
 * waits.
 */
#ifndef SIMGPU_EXEC_EXEC_H
#define SIMGPU_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simgpu/counts.h"
#include "simgpu/ptx/ptx.h"

/* ---- modules -------------------------------------------------------------------------------- */

/* A global or constant variable with storage. `data` is its address for device and host alike. */
struct sim_global {
    const char *name;
    uint8_t *data; /* 256-byte aligned, owned by the module unless the driver replaced it */
    size_t bytes;
    bool is_const, is_managed;
};

struct sim_kernel_info { /* what cuFuncGetAttribute and the occupancy functions need */
    const char *name;
    size_t static_shared_bytes;
    size_t local_bytes; /* per thread, this function's own */
    size_t const_bytes; /* user .const variables of the module */
    size_t param_bytes;
    unsigned max_threads_per_block; /* 1024, or .maxntid */
    unsigned param_count;
    const struct sim_param {
        size_t offset, bytes;
    } * params;
    unsigned registers; /* an estimate from liveness is not made: 0 = unknown */
    bool needs_cluster;
};

struct sim_error {
    char text[1024]; /* one line for stderr: what, kernel, thread, PTX line, source line */
};

struct sim_module;
struct sim_kernel;

/*
 * Takes ownership of `ptx` (also on failure). An instruction that the device cannot execute is no
 * error here: a launch that reaches it fails. Returns NULL and fills `error` for what can never run
 * (address size 32, unresolved external variable).
 */
struct sim_module *sim_module_new(struct ptx_module *ptx, struct sim_error *error);
void sim_module_free(struct sim_module *module);

size_t sim_module_globals(struct sim_module *module, struct sim_global **globals);
size_t sim_module_kernel_count(const struct sim_module *module);
const struct sim_kernel *sim_module_kernel(const struct sim_module *module, size_t index);
const struct sim_kernel *sim_module_find_kernel(const struct sim_module *module, const char *name);
const struct sim_kernel_info *sim_kernel_info(const struct sim_kernel *kernel);
/* The instructions a launch of `kernel` counts, in the order of sim_counts.sites. */
const struct sim_inst_info *sim_kernel_insts(const struct sim_kernel *kernel, size_t *count);
/*
 * What the functions that `kernel` can reach do beside reading and writing memory: 0 = nothing; -EPERM:
 * they print, assert, allocate, free or launch; -ENOENT: they call what has no body and no known name.
 */
int sim_kernel_effects(const struct sim_kernel *kernel);
/* Does the module declare malloc, which some kernel may call? No other function that it can call allocates. */
bool sim_module_allocates(const struct sim_module *module);

/* ---- memory --------------------------------------------------------------------------------- */

enum sim_region_flags {
    SIM_REGION_HOST = 1, /* page-locked host memory, mapped */
    SIM_REGION_MANAGED = 2,
    SIM_REGION_CONST = 4, /* a .const variable: stores are illegal */
    SIM_REGION_INVALID =
        8, /* known, but not accessible: another device's memory without peer access */
    SIM_REGION_GLOBAL = 16, /* a module's variable; name set */
};

/* Memory kernels may touch: device memory is host memory, addresses are host addresses. */
struct sim_region {
    uint64_t base;
    uint64_t bytes;
    uint32_t flags; /* enum sim_region_flags */
    uint32_t id;    /* the driver's own, handed back in sim_footprint */
    const char *name;
};

/* Sorted by base, not overlapping; must stay as it is while a launch runs. */
struct sim_map {
    const struct sim_region *regions;
    size_t count;
};

struct sim_touches;

/* ---- launches ------------------------------------------------------------------------------- */

enum sim_status {
    SIM_OK = 0,
    SIM_ILLEGAL_ADDRESS,     /* outside any allocation, or a store to constant memory */
    SIM_MISALIGNED_ADDRESS,  /* not a multiple of the access width */
    SIM_ILLEGAL_INSTRUCTION, /* not supported by the software device */
    SIM_TRAP,                /* trap */
    SIM_ASSERT,              /* __assertfail */
    SIM_STACK_OVERFLOW,      /* local memory of a thread used up */
    SIM_DEADLOCK,            /* every thread of a block waits, none can go on */
    SIM_OUT_OF_MEMORY,       /* the host has none left for the interpreter */
    SIM_OUT_OF_RESOURCES,    /* more shared memory or threads than a block can have */
    SIM_BREAKPOINT,          /* brkpt */
    SIM_TIMEOUT,             /* whoever launched it has had enough: sim_launch.progress */
};

struct sim_progress {
    uint64_t begun, blocks; /* of the grid */
};

struct sim_launch {
    const struct sim_kernel *kernel;
    uint32_t grid[3], block[3];
    size_t dynamic_shared_bytes;
    const void *params; /* laid out as in sim_kernel_info.params */
    const struct sim_map *map;
    size_t stack_bytes; /* local memory per thread, cuCtxSetLimit(CU_LIMIT_STACK_SIZE), or 0 */
    uint64_t grid_id;   /* %gridid */
    unsigned workers;   /* threads to use, 0 = all processors (SIMGPU_THREADS) */
    bool count;         /* fill `counts` */
    bool check_races;   /* look for shared-memory races */
    struct sim_touches *touches; /* NULL, or gets which bytes are read and written: touch.h */
    uint64_t
        instruction_limit; /* warp-level instructions of the launch, 0 = none; beyond: SIM_DEADLOCK */
    /* NULL, or called now and then by each worker, at once too. False: end with SIM_TIMEOUT. */
    bool (*progress)(void *argument, const struct sim_progress *progress);
    void *progress_argument;
};

/*
 * Run to the end. `counts` (may be NULL) is overwritten; release it with sim_counts_clear. Text the
 * kernel printed is kept, in block order, until sim_print_flush. After a fault other blocks stop
 * soon; memory holds what was written until then.
 */
enum sim_status sim_run(const struct sim_launch *launch, struct sim_counts *counts,
                        struct sim_error *error);

/* Write what kernels have printed to stdout. The driver calls it wherever CUDA promises the output:
 * at synchronizations and when a context goes. */
void sim_print_flush(void);

/* In a forked child: the helpers are gone. */
void sim_after_fork(void);

#endif
