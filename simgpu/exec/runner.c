/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker holds: kept from launch to launch, made ready for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simgpu/exec/memory_state.h"
#include "simgpu/exec/run.h"

struct sim_inst_counts *sim_runner_insts(struct sim_warp *warp, const struct sim_code *code)
{
    struct sim_runner *runner = sim_runner_of(warp);
    struct sim_runner_code *own = &runner->codes[code->number];

    if (!runner->run->launch->count || own->sites != NULL) {
        return own->sites;
    }
    own->sites = calloc((size_t)code->op_count + 1, sizeof(*own->sites));
    if (own->sites == NULL) {
        sim_warp_fault(warp, NULL, warp->active, SIM_OUT_OF_MEMORY, "no memory for counts");
        return NULL;
    }
    for (uint32_t i = 0; i < code->op_count; i++) {
        own->sites[i].kind = (uint8_t)sim_inst_kind_of(&code->ptx->instructions[i]);
    }
    return own->sites;
}

static int begin_shared(struct sim_resident *resident, size_t bytes)
{
    bytes = bytes != 0 ? bytes : 1;
    if (resident->shared_capacity < bytes) {
        free(resident->shared);
        resident->shared_capacity = 0;
        if (posix_memalign((void **)&resident->shared, 1024, bytes) != 0) {
            resident->shared = NULL;
            return -ENOMEM;
        }
        resident->shared_capacity = bytes;
    }
    return 0;
}

static int begin_local(struct sim_resident *resident, size_t bytes)
{
    if (resident->local_capacity < bytes) {
        if (resident->local != NULL) {
            munmap(resident->local, resident->local_capacity);
        }
        resident->local_capacity = 0;
        resident->local = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (resident->local == MAP_FAILED) {
            resident->local = NULL;
            return -ENOMEM;
        }
        resident->local_capacity = bytes;
    }
    return 0;
}

static int begin_resident(const struct sim_run *run, struct sim_resident *resident)
{
    if (begin_shared(resident, run->shared_bytes) != 0 ||
        begin_local(resident, (size_t)run->warps_per_block * SIM_LANES * run->stack_bytes) != 0) {
        return -ENOMEM;
    }
    resident->block = (struct sim_block){
        .launch = run->launch,
        .shared = resident->shared,
        .shared_bytes = run->shared_bytes,
        .warps = resident->warps,
        .warp_count = run->warps_per_block,
        .threads = run->threads_per_block,
    };
    return 0;
}

struct sim_resident *sim_runner_resident(struct sim_runner *runner, uint32_t index)
{
    if (index == runner->resident_count) {
        struct sim_resident **grown = realloc(runner->residents, (index + 1) * sizeof(void *));

        if (grown == NULL) {
            return NULL;
        }
        runner->residents = grown;
        grown[index] = calloc(1, sizeof(*grown[index]));
        if (grown[index] == NULL) {
            return NULL;
        }
        runner->resident_count++;
    }
    return begin_resident(runner->run, runner->residents[index]) == 0 ? runner->residents[index]
                                                                      : NULL;
}

/* One block's room is kept for the next launch. */
static void free_residents(struct sim_runner *runner)
{
    while (runner->resident_count > 1) {
        struct sim_resident *resident = runner->residents[--runner->resident_count];

        free(resident->shared);
        if (resident->local != NULL) {
            munmap(resident->local, resident->local_capacity);
        }
        free(resident);
    }
    runner->live_count = 0;
}

static const struct sim_map no_map; /* between launches: the last one's is its caller's */

static int begin_memory(struct sim_runner *runner)
{
    const struct sim_launch *launch = runner->run->launch;
    const struct sim_map *map = launch->map != NULL ? launch->map : &no_map;

    if (runner->worker.memory == NULL) {
        runner->worker.memory = sim_memory_new(map, launch->count);
    } else if (sim_memory_reset(runner->worker.memory, map, launch->count) != 0) {
        return -ENOMEM;
    }
    if (runner->worker.memory == NULL) {
        return -ENOMEM;
    }
    runner->worker.memory->touches = launch->touches;
    return 0;
}

int sim_runner_begin(struct sim_runner *runner, struct sim_run *run, unsigned number)
{
    runner->run = run;
    runner->worker.launch = run->launch;
    runner->worker.number = number;
    runner->budget = 1; /* look whether to go on at once */
    runner->late_portions = 0;
    runner->stopped = runner->yielded = runner->gathering = runner->has_spun = false;
    if (runner->worker.printer == NULL) {
        runner->worker.printer = sim_printer_new();
    }
    runner->codes = calloc(run->kernel->code_count, sizeof(*runner->codes));
    if (runner->codes == NULL || runner->worker.printer == NULL || begin_memory(runner) != 0) {
        return -ENOMEM;
    }
    return 0;
}

void sim_runner_end(struct sim_runner *runner)
{
    for (uint32_t i = 0; runner->codes != NULL && i < runner->run->kernel->code_count; i++) {
        free(runner->codes[i].sites);
    }
    free(runner->codes);
    runner->codes = NULL;
    while (runner->frames != NULL) {
        struct sim_frame *next = runner->frames->all;

        free(runner->frames);
        runner->frames = next;
    }
    runner->frame_bytes = 0;
    if (runner->stopped) {
        /* Paths and reconvergence points of abandoned blocks are in no list. */
        gmt_arena_free(&runner->arena);
        runner->free_paths = NULL;
        runner->free_reconvs = NULL;
    }
    free_residents(runner);
    if (runner->worker.memory != NULL) {
        sim_memory_reset(runner->worker.memory, &no_map, false);
    }
    runner->run = NULL;
}
