/* SPDX-License-Identifier: Apache-2.0 */
/* A launch: checks, workers, and what they counted and printed put together. */
#include "simgpu/exec/run.h"
#include "simgpu/exec/decode.h"
#include "simgpu/exec/path.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORKERS = 256 };
#define LEAST_STACK ((size_t)64 << 10) /* local memory for recursion, unless more is asked for */

static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
static struct sim_runner runners[MAX_WORKERS];

/* ---- checks --------------------------------------------------------------------------------- */

static bool fits(const struct sim_launch *launch, const struct sim_kernel *kernel,
                 const char **what)
{
    static const uint32_t max_grid[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t max_block[3] = {1024, 1024, 64};
    uint64_t threads = 1;

    for (unsigned i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->grid[i] > max_grid[i]) {
            *what = "a grid of this size";
            return false;
        }
        if (launch->block[i] == 0 || launch->block[i] > max_block[i]) {
            *what = "a block of this size";
            return false;
        }
        threads *= launch->block[i];
    }
    if (threads > SIM_MAX_THREADS || threads > kernel->info.max_threads_per_block) {
        *what = "a block of this many threads";
        return false;
    }
    if (launch->dynamic_shared_bytes > SIM_MAX_SHARED || kernel->dynamic_at > SIM_MAX_SHARED ||
        kernel->dynamic_at + launch->dynamic_shared_bytes > SIM_MAX_SHARED) {
        *what = "more shared memory than a block can have";
        return false;
    }
    if (kernel->info.needs_cluster) {
        *what = "a cluster of blocks";
        return false;
    }
    return true;
}

/* Lanes lie an odd number of cache lines apart, so that they do not all fall into one cache set. */
static size_t stack_of(const struct sim_launch *launch, const struct sim_kernel *kernel)
{
    size_t bytes = kernel->stack_bytes;

    if (kernel->recursive) {
        bytes += launch->stack_bytes > LEAST_STACK ? launch->stack_bytes : LEAST_STACK;
    }
    return ((bytes + 63) / 64 | 1) * 64;
}

/* No block of it does anything: one shows what all do, be it a grid of 2^31-1. */
static bool returns_at_once(const struct sim_code *code)
{
    return code->ops[0].run == sim_run_return && code->ops[0].guard == SIM_ONES_AT;
}

static int begin(struct sim_run *run, const struct sim_launch *launch, struct sim_error *error)
{
    const struct sim_kernel *kernel = launch->kernel;
    const char *what = NULL;
    const uint32_t *grid = launch->grid, *block = launch->block;

    *run = (struct sim_run){.launch = launch, .kernel = kernel, .error = error};
    atomic_init(&run->fault_block, SIM_NO_FAULT);
    atomic_init(&run->instructions_left, launch->instruction_limit);
    pthread_mutex_init(&run->lock, NULL);
    if (!fits(launch, kernel, &what)) {
        sim_run_fail(run, 0, SIM_OUT_OF_RESOURCES, "%s", what);
        return -EINVAL;
    }
    if (sim_kernel_prepare(kernel) != 0) {
        sim_run_fail(run, 0, SIM_OUT_OF_MEMORY, "no memory to decode it");
        return -ENOMEM;
    }
    run->blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    run->stands_for = 1;
    if (returns_at_once(&kernel->codes[0])) {
        run->stands_for = run->blocks;
        run->blocks = 1;
    }
    run->threads_per_block = block[0] * block[1] * block[2];
    run->warps_per_block = (run->threads_per_block + SIM_LANES - 1) / SIM_LANES;
    run->shared_bytes = launch->dynamic_shared_bytes != 0
                            ? kernel->dynamic_at + launch->dynamic_shared_bytes
                            : kernel->shared_bytes;
    run->stack_bytes = stack_of(launch, kernel);
    return 0;
}

/* ---- counts --------------------------------------------------------------------------------- */

/* A generic access is of the kind that all workers found, or stays generic where they differ. */
static void merge_kind(struct sim_inst_counts *to, const struct sim_inst_counts *from,
                       uint8_t written)
{
    if (to->requests == 0) {
        to->kind = from->requests != 0 ? from->kind : written;
    } else if (from->requests != 0 && to->kind != from->kind) {
        to->kind = written;
    }
    to->touched_kinds |= from->touched_kinds;
}

static void merge_site(struct sim_inst_counts *to, const struct sim_inst_counts *from,
                       uint8_t written)
{
    merge_kind(to, from, written);
    to->executed += from->executed;
    to->lanes += from->lanes;
    to->requests += from->requests;
    to->bytes += from->bytes;
    to->sectors += from->sectors;
    to->ideal_sectors += from->ideal_sectors;
    to->lines += from->lines;
    to->wavefronts += from->wavefronts;
    to->ideal_wavefronts += from->ideal_wavefronts;
    to->addresses += from->addresses;
    to->max_degree = from->max_degree > to->max_degree ? from->max_degree : to->max_degree;
}

static void merge_sites(const struct sim_run *run, unsigned workers, struct sim_inst_counts *sites)
{
    const struct sim_kernel *kernel = run->kernel;

    for (uint32_t c = 0; c < kernel->code_count; c++) {
        const struct sim_code *code = &kernel->codes[c];

        for (uint32_t i = 0; i < code->op_count; i++) {
            const uint8_t written = (uint8_t)sim_inst_kind_of(&code->ptx->instructions[i]);
            struct sim_inst_counts *to = &sites[code->first_site + i];

            to->kind = written;
            for (unsigned w = 0; w < workers; w++) {
                if (runners[w].codes != NULL && runners[w].codes[c].sites != NULL) {
                    merge_site(to, &runners[w].codes[c].sites[i], written);
                }
            }
        }
    }
}

/* A block that stands for others has executed a return, and accessed nothing. */
static void scale_sites(const struct sim_run *run, struct sim_counts *counts)
{
    for (size_t i = 0; i < counts->site_count; i++) {
        counts->sites[i].executed *= run->stands_for;
        counts->sites[i].lanes *= run->stands_for;
    }
}

static int merge(const struct sim_run *run, unsigned workers, struct sim_counts *counts)
{
    struct sim_memory *memories[MAX_WORKERS] = {NULL};
    size_t count = 0;

    for (unsigned i = 0; i < workers; i++) {
        if (runners[i].codes != NULL) {
            memories[count++] = runners[i].worker.memory;
        }
    }
    counts->sites = calloc(run->kernel->site_count + 1, sizeof(*counts->sites));
    if (counts->sites == NULL) {
        return -ENOMEM;
    }
    counts->site_count = run->kernel->site_count;
    merge_sites(run, workers, counts->sites);
    scale_sites(run, counts);
    counts->blocks = run->blocks * run->stands_for;
    counts->warps = counts->blocks * run->warps_per_block;
    counts->threads = counts->blocks * run->threads_per_block;
    if (sim_memory_footprints(memories, count, &counts->footprints, &counts->footprint_count) !=
        0) {
        return -ENOMEM;
    }
    return sim_memory_races(memories, count, &counts->races, &counts->race_count);
}

void sim_counts_clear(struct sim_counts *counts)
{
    free(counts->sites);
    free(counts->footprints);
    free(counts->races);
    memset(counts, 0, sizeof(*counts));
}

/* ---- the launch ----------------------------------------------------------------------------- */

static void work(void *argument, unsigned number)
{
    struct sim_run *run = argument;
    struct sim_runner *runner = &runners[number];

    if (sim_runner_begin(runner, run, number) != 0) {
        sim_run_fail(run, 0, SIM_OUT_OF_MEMORY, "no memory for a worker");
        runner->stopped = true;
        return;
    }
    sim_runner_work(runner);
}

static unsigned worker_count(const struct sim_run *run)
{
    unsigned workers = sim_pool_workers(run->launch->workers);

    workers = workers < MAX_WORKERS ? workers : MAX_WORKERS;
    return workers < run->blocks ? workers : (unsigned)run->blocks;
}

static void end(struct sim_run *run, unsigned workers, struct sim_counts *counts)
{
    struct sim_printer *printers[MAX_WORKERS] = {NULL};

    for (unsigned i = 0; i < workers; i++) {
        printers[i] = runners[i].codes != NULL ? runners[i].worker.printer : NULL;
    }
    sim_print_collect(printers, workers);
    if (counts != NULL && run->launch->count && run->status == SIM_OK &&
        merge(run, workers, counts) != 0) {
        sim_run_fail(run, 0, SIM_OUT_OF_MEMORY, "no memory for its counts");
        sim_counts_clear(counts);
    }
    for (unsigned i = 0; i < workers; i++) {
        sim_runner_end(&runners[i]);
    }
}

enum sim_status sim_run(const struct sim_launch *launch, struct sim_counts *counts,
                        struct sim_error *error)
{
    struct sim_run run;
    fenv_t environment;

    error->text[0] = '\0';
    if (counts != NULL) {
        memset(counts, 0, sizeof(*counts));
    }
    pthread_mutex_lock(&one_launch);
    /* Kernels compute in the default environment, whatever the program has set for itself. */
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    if (begin(&run, launch, error) == 0) {
        const unsigned workers = worker_count(&run);

        sim_pool_run(workers, work, &run);
        end(&run, workers, counts);
    }
    fesetenv(&environment);
    pthread_mutex_unlock(&one_launch);
    pthread_mutex_destroy(&run.lock);
    return run.status;
}

void sim_after_fork(void)
{
    pthread_mutex_init(&one_launch, NULL);
    sim_pool_after_fork();
}
