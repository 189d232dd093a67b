/* SPDX-License-Identifier: Apache-2.0 */
/* A generated program runs: its blocks take turns, with copies, other memory and other streams between. */
#include "repeat/repeat.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what is there from the beginning to the end ---- */

static void load(struct program *program)
{
    for (unsigned i = 0; i < 2; i++) {
        if (program->as_libraries) {
            CHECK(cu.cuLibraryLoadData(&program->libraries[i], program->ptx[i].bytes, NULL, NULL, 0,
                                       NULL, NULL, 0));
        } else {
            CHECK(cu.cuModuleLoadData(&program->modules[i], program->ptx[i].bytes));
        }
    }
}

static void unload(struct program *program)
{
    for (unsigned i = 0; i < 2; i++) {
        if (program->as_libraries) {
            CHECK(cu.cuLibraryUnload(program->libraries[i]));
        } else {
            CHECK(cu.cuModuleUnload(program->modules[i]));
        }
    }
}

static void start(struct program *program)
{
    CHECK(cu.cuDeviceGet(&program->device, 0));
    CHECK(cu.cuCtxCreate(&program->context, NULL, 0, program->device));
    for (unsigned i = 1; i < STREAMS; i++) {
        CHECK(cu.cuStreamCreate(&program->streams[i], i == 1 || rng_chance(&program->rng, 50)
                                                          ? CU_STREAM_NON_BLOCKING
                                                          : CU_STREAM_DEFAULT));
    }
    CHECK(cu.cuEventCreate(&program->event, CU_EVENT_DISABLE_TIMING));
    load(program);
}

static void begin_block(struct block *block)
{
    for (unsigned i = block->body->pointers; i-- > 0;) {
        memory_make(block, i);
    }
    memory_make_tables(block);
    block->kernel = launch_find(block->program, block->name);
    if (block->body->begin != NULL) {
        block->body->begin(block);
    }
    way_begin(block);
}

/* ---- between two launches ---- */

/* Memory of the device, and as much of it as at[0] bytes from at[1] on. NULL: there is none. */
static struct region *draw_part(struct program *program, size_t at[2])
{
    struct region *region = &program->regions[rng_below(&program->rng, program->region_count)];
    if (!region->is_live || !region->is_plain || region->host != NULL || region->owner != NULL) {
        return NULL;
    }
    at[1] = rng_below(&program->rng, (unsigned)region->bytes);
    at[0] = 1 + rng_below(&program->rng, (unsigned)(region->bytes - at[1]));
    return region;
}

static void set_some(struct program *program)
{
    size_t at[2];
    const struct region *region = draw_part(program, at);
    if (region != NULL) {
        CHECK(cu.cuMemsetD8Async(region->address + at[1], (unsigned char)rng_next(&program->rng),
                                 at[0], program->streams[rng_below(&program->rng, STREAMS)]));
    }
}

static void copy_some(struct program *program)
{
    size_t to[2], from[2];
    const struct region *target = draw_part(program, to), *source = draw_part(program, from);
    if (target != NULL && source != NULL && target != source) {
        CHECK(cu.cuMemcpyDtoDAsync(target->address + to[1], source->address + from[1],
                                   to[0] < from[0] ? to[0] : from[0],
                                   program->streams[rng_below(&program->rng, STREAMS)]));
    }
}

static void transfer_some(struct program *program, bool is_upload)
{
    unsigned char bytes[512];
    size_t at[2];
    const struct region *region = draw_part(program, at);
    if (region == NULL) {
        return;
    }
    size_t count = at[0] < sizeof bytes ? at[0] : sizeof bytes;
    if (is_upload) {
        rng_fill(&program->rng, bytes, count);
        CHECK(cu.cuMemcpyHtoD(region->address + at[1], bytes, count));
    } else {
        CHECK(cu.cuMemcpyDtoH(bytes, region->address + at[1], count));
        hash_bytes(program, bytes, count, false);
    }
}

/* Memory that comes and goes. Its bytes may come from the others. */
static void other_memory(struct program *program)
{
    struct region *region = &program->regions[rng_below(&program->rng, program->region_count)];
    if (region->is_spare && region->is_live) {
        memory_release(program, region);
    } else if (program->region_count < MAX_REGIONS - 4) {
        region = memory_make_plain(program, 1 + rng_below(&program->rng, 1200));
        region->is_spare = true;
    }
}

static void between(struct program *program)
{
    unsigned draw = rng_below(&program->rng, 100);
    if (draw >= 45) {
        return;
    }
    CHECK(cu.cuCtxSynchronize());
    if (draw < 10) {
        set_some(program);
    } else if (draw < 20) {
        copy_some(program);
    } else if (draw < 35) {
        transfer_some(program, draw < 27);
    } else {
        other_memory(program);
    }
    CHECK(cu.cuCtxSynchronize());
}

/* In another stream from now on, behind what the block has done in this one. */
static void change_stream(struct block *block)
{
    struct program *program = block->program;
    unsigned to = rng_below(&program->rng, STREAMS);
    if (!block->keeps_stream && rng_chance(&program->rng, 30)) {
        CHECK(cu.cuEventRecord(program->event, program->streams[block->stream]));
        CHECK(cu.cuStreamWaitEvent(program->streams[to], program->event, 0));
        block->stream = to;
    }
}

static bool step(struct program *program)
{
    struct block *ready[MAX_BLOCKS];
    unsigned count = 0;
    for (unsigned i = 0; i < program->block_count; i++) {
        if (program->blocks[i].rounds != 0) {
            ready[count++] = &program->blocks[i];
        }
    }
    if (count == 0) {
        return false;
    }
    struct block *block = ready[rng_below(&program->rng, count)];
    change_stream(block);
    way_step(block);
    block->rounds--;
    between(program);
    return true;
}

void program_run(struct program *program)
{
    program_write(program);
    start(program);
    for (unsigned i = 0; i < program->block_count; i++) {
        begin_block(&program->blocks[i]);
    }
    CHECK(cu.cuCtxSynchronize());
    while (step(program)) {
    }
    CHECK(cu.cuCtxSynchronize());
    for (unsigned i = 0; i < program->block_count; i++) {
        struct block *block = &program->blocks[i];
        if (block->body->finish != NULL) {
            block->body->finish(block);
        }
        way_finish(block);
    }
    CHECK(cu.cuCtxSynchronize());
    for (unsigned i = 0; i < program->region_count; i++) {
        if (program->regions[i].is_live) {
            memory_hash(program, &program->regions[i]);
        }
    }
}

void program_end(struct program *program)
{
    for (unsigned i = program->region_count; i-- > 0;) {
        struct region *region = &program->regions[i];
        if (region->is_live && region->release != NULL) {
            region->release(program, region);
        }
    }
    if (program->pool != NULL) {
        CHECK(cu.cuMemPoolDestroy(program->pool));
    }
    if (program->host_pool != NULL) {
        CHECK(cu.cuMemPoolDestroy(program->host_pool));
    }
    unload(program);
    for (unsigned i = 1; i < STREAMS; i++) {
        CHECK(cu.cuStreamDestroy(program->streams[i]));
    }
    CHECK(cu.cuEventDestroy(program->event));
    if (program->peer != NULL) {
        if (program->has_access) {
            CHECK(cu.cuCtxDisablePeerAccess(program->peer));
        }
        CHECK(cu.cuCtxDestroy(program->peer));
    }
    CHECK(cu.cuCtxDestroy(program->context));
    free(program->ptx[0].bytes);
    free(program->ptx[1].bytes);
}
