/* SPDX-License-Identifier: Apache-2.0 */
/* A launch under way: what its workers share and what each has of its own. */
#ifndef SIMGPU_EXEC_RUN_H
#define SIMGPU_EXEC_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "simgpu/exec/path.h"

#define SIM_MAX_WARPS (SIM_MAX_THREADS / SIM_LANES)
#define SIM_BARRIERS 16

struct sim_barrier {
    uint32_t lanes[SIM_MAX_WARPS]; /* by warp: lanes that have come */
    uint32_t threads;              /* that it waits for; 0: all */
    uint32_t votes;                /* bar.red: lanes with a true predicate */
    struct sim_inst_counts *site;  /* of the instruction that came last, NULL: not counting */
    bool in_use;
};

/* A block with all that its warps need. */
struct sim_resident {
    struct sim_block block; /* first: handlers see this */
    struct sim_warp warps[SIM_MAX_WARPS];
    struct sim_schedule schedules[SIM_MAX_WARPS];
    struct sim_barrier barriers[SIM_BARRIERS];
    uint8_t *shared;
    size_t shared_capacity;
    uint8_t *local; /* mapped */
    size_t local_capacity;
};

/* Of each function, by number in the kernel. */
struct sim_runner_code {
    struct sim_inst_counts *sites; /* op_count + 1, NULL: not used or not counting */
    struct sim_frame *frames;      /* free ones */
};

struct sim_run;

struct sim_runner {
    struct sim_worker worker; /* first: handlers see this */
    struct sim_run *run;
    struct sim_resident **residents; /* blocks under way, then spare ones */
    uint32_t resident_count, live_count;
    struct sim_runner_code *codes;
    struct sim_path *free_paths;
    struct sim_reconv *free_reconvs;
    struct gmt_arena arena;   /* of paths and reconvergence points */
    struct sim_frame *frames; /* all, by frame->all */
    uint64_t frame_bytes;     /* in frames */
    uint64_t budget;          /* instructions until it looks whether to stop */
    uint64_t late_portions;   /* of instructions, taken after a fault in a later block */
    _Atomic uint32_t fences;  /* executed: a place for them to write to */
    bool stopped;             /* the launch has ended for this worker */
    bool yielded;             /* the running path has given way */
    bool gathering;           /* a handler is called again for lanes that came together */
    bool has_spun;            /* a path has spun in this launch: look sooner */
};

#define SIM_NO_FAULT UINT64_MAX

struct sim_run {
    const struct sim_launch *launch;
    const struct sim_kernel *kernel;
    uint64_t blocks;     /* that are executed */
    uint64_t stands_for; /* blocks of the grid that each of them stands for */
    uint32_t warps_per_block, threads_per_block;
    size_t shared_bytes, stack_bytes;
    _Atomic uint64_t next_block;
    _Atomic uint64_t instructions_left; /* of instruction_limit, handed out in portions */
    _Atomic uint64_t fault_block;       /* lowest block with a fault, or SIM_NO_FAULT */
    pthread_mutex_t lock;               /* of the two below */
    enum sim_status status;
    struct sim_error *error;
};

static inline struct sim_runner *sim_runner_of(const struct sim_warp *warp)
{
    return (struct sim_runner *)warp->worker;
}
static inline struct sim_resident *sim_resident_of(const struct sim_block *block)
{
    return (struct sim_resident *)block;
}
static inline struct sim_schedule *sim_schedule_of(const struct sim_warp *warp)
{
    return &sim_resident_of(warp->block)->schedules[warp->number];
}

/* worker.c: take blocks until there are none left. */
void sim_runner_work(struct sim_runner *runner);
/* block.c: run a block until it is over (true), or only waits for other blocks (false), or the launch
 * has ended for this worker. */
bool sim_block_run(struct sim_runner *runner, struct sim_resident *resident);
/* turn.c: one turn. False if the warp could do nothing. */
bool sim_warp_turn(struct sim_warp *warp);
bool sim_schedule_is_over(const struct sim_schedule *schedule);

/* runner.c */
int sim_runner_begin(struct sim_runner *runner, struct sim_run *run, unsigned number);
void sim_runner_end(struct sim_runner *runner); /* the launch; what can be reused is kept */
/* Room for a block, the `index`-th at the same time; NULL without memory. */
struct sim_resident *sim_runner_resident(struct sim_runner *runner, uint32_t index);
/* Counts of a function, made at its first use; NULL when not counting. */
struct sim_inst_counts *sim_runner_insts(struct sim_warp *warp, const struct sim_code *code);

/* fault.c: a fault that no thread made. */
void sim_run_fail(struct sim_run *run, uint64_t block, enum sim_status status, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* pool.c: call work(argument, i) for i in [0, workers), 0 in the calling thread. */
unsigned sim_pool_workers(unsigned wanted);
void sim_pool_run(unsigned workers, void (*work)(void *argument, unsigned number), void *argument);
void sim_pool_after_fork(void);

/* print.c: what kernels print, kept per worker in the order of its blocks. */
struct sim_printer *sim_printer_new(void);
/* Take over what the workers hold, ordered by block, for sim_print_flush. */
void sim_print_collect(struct sim_printer *const *printers, size_t count);

#endif
