/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, kernels and decoded functions, as the core of the interpreter holds them.
 *
 * A kernel has its own decoded copy of every function it can reach: offsets of shared variables are
 * then constants, laid out per kernel. Decoding happens at the kernel's first launch.
 */
#ifndef SIMGPU_EXEC_CODE_H
#define SIMGPU_EXEC_CODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/arena.h"
#include "simgpu/exec/exec.h"
#include "simgpu/exec/memory.h"
#include "simgpu/exec/op.h"

/* The values of a warp's lanes are read and written at once. */
#define SIM_LANES_ALIGNMENT 64

/* Something with one value per lane in a frame: lane i at offset + i * stride. */
struct sim_lane_slot {
    uint32_t offset, stride, bytes;
};

/* A lane array that is filled when a frame is made: a special register of `bytes` bytes per lane. */
struct sim_special_slot {
    uint32_t special; /* row of special.def */
    uint32_t offset, bytes;
};

/* The address of a variable in local memory: depends on how deep the call is. */
struct sim_local_slot {
    uint32_t offset, bytes;
    uint64_t address; /* from the function's local_base */
};

/* Parameters of a device function whose address is taken live in local memory too. */
struct sim_spilled_param {
    uint32_t param; /* index of the parameter */
    uint64_t at;    /* from local_base */
};

/* Instructions that read a special register which changes while a frame lives: the clocks. */
struct sim_fresh_op {
    sim_handler run;
    struct sim_special_slot *specials;
    uint32_t count;
};

/* A decoded function. The frame's image holds its constants; all else in it is zero. */
struct sim_code {
    const struct ptx_function *ptx;
    struct sim_kernel *kernel;
    uint32_t number; /* in sim_kernel.codes */
    uint32_t op_count;
    uint32_t first_site;   /* of the function's instructions in sim_counts.sites */
    struct sim_op *ops;    /* op_count and one more: the return at the function's end */
    uint8_t *image;        /* frame_bytes */
    uint32_t frame_bytes;  /* multiple of 64 */
    uint32_t registers_at; /* the part that a new frame must have zero */
    uint32_t registers_bytes;
    struct sim_special_slot *specials;
    struct sim_local_slot *local_addresses;
    struct sim_spilled_param *spilled;
    uint32_t special_count, local_address_count, spilled_count;
    struct sim_fresh_op *fresh;             /* per op, NULL where no op of the function needs it */
    struct sim_lane_slot *params, *returns; /* of a device function, in its frame */
    struct sim_param_slot *local_params;    /* .param variables of the body, by index in locals */
    struct sim_param_slot *param_slots, *return_slots;
    uint64_t *local_offsets; /* .shared and .local variables of the body, by index in locals */
    uint64_t local_bytes;    /* own local memory per thread, multiple of 32 */
};

struct sim_kernel {
    struct sim_module *module;
    const struct ptx_function *ptx;
    struct sim_kernel_info info;
    struct sim_code *codes; /* [0] is the kernel itself */
    uint32_t code_count;
    uint32_t *code_of;        /* by ptx_function.index: number in codes, or UINT32_MAX */
    uint64_t *shared_offsets; /* by index in ptx_module.variables; SIM_NOT_LAID_OUT if not used */
    uint64_t shared_bytes;    /* static */
    uint64_t dynamic_at;      /* where dynamic shared memory begins */
    uint64_t stack_bytes;     /* local memory that suffices without recursion */
    struct sim_inst_info *sites;
    size_t site_count;
    bool recursive; /* perhaps: stack_bytes is not enough then */
    bool decoded;
};
#define SIM_NOT_LAID_OUT UINT64_MAX

struct sim_module {
    struct ptx_module *ptx;
    struct sim_global *globals;
    size_t global_count;
    uint32_t *global_of; /* by ptx_variable.index: index in globals, or UINT32_MAX */
    uint8_t **placed;    /* by global: where relocations think it is */
    void *storage;       /* mapping that holds the globals */
    size_t storage_bytes;
    struct sim_kernel *kernels;
    size_t kernel_count;
    bool *address_taken; /* by ptx_function.index */
    struct gmt_arena arena;
    pthread_mutex_t lock; /* lazy parts: sites and decoding */
};

/* A call costs at least this much local memory: what bounds recursion without local variables. */
#define SIM_CALL_BYTES 32u
#define SIM_MAX_THREADS 1024u        /* of a block */
#define SIM_MAX_SHARED (227u << 10)  /* of a block, as compute capability 9.0 */
#define SIM_MAX_PARAM_BYTES (32764u) /* of a kernel */

/* The definition that a name stands for (itself, or the one a declaration means), or NULL. */
const struct ptx_function *sim_definition(const struct sim_module *module,
                                          const struct ptx_function *function);
const struct ptx_variable *sim_variable_definition(const struct sim_module *module,
                                                   const struct ptx_variable *variable);
uint64_t sim_function_address(const struct ptx_function *function);
/* The kernel's code of the function at a generic address, NULL if there is none. */
const struct sim_code *sim_code_at(const struct sim_kernel *kernel, uint64_t address);

/* layout.c: which functions a kernel reaches, its shared memory, stack and information. */
int sim_kernel_lay_out(struct sim_kernel *kernel);
/* decode.c: all functions of the kernel; 0 or -ENOMEM. */
int sim_kernel_decode(struct sim_kernel *kernel);
/* inst_info.c: 0 or -ENOMEM. */
int sim_kernel_make_insts(struct sim_kernel *kernel);
enum sim_inst_kind sim_inst_kind_of(const struct ptx_instruction *instruction);
/* Decoded, relocated and ready to run: 0 or -ENOMEM. */
int sim_kernel_prepare(const struct sim_kernel *kernel);

#endif
