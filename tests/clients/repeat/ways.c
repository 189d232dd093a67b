/* SPDX-License-Identifier: Apache-2.0 */
/* What goes on around the launches of a block: captures, other threads, streams that wait, arrays. */
#include "repeat/repeat.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *made(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        exit(4);
    }
    return memory;
}

/* ---- a number that threads wait for ---- */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned value;
};
#define GATE \
    { \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 \
    }

static void gate_set(struct gate *gate, unsigned value)
{
    pthread_mutex_lock(&gate->mutex);
    gate->value = value;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static void gate_wait(struct gate *gate, unsigned value)
{
    pthread_mutex_lock(&gate->mutex);
    while (gate->value < value) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
}

/* ---- a launch that is captured, and runs when its graph does ---- */

static void step_capture(struct block *block)
{
    CUstream stream = block->program->streams[block->stream];
    CUgraph graph;
    CUgraphExec executable;
    CHECK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_block(block);
    CHECK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
    for (unsigned i = 0; i <= block->variant % 2; i++) {
        CHECK(cu.cuGraphLaunch(executable, stream));
    }
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuGraphExecDestroy(executable));
    CHECK(cu.cuGraphDestroy(graph));
}

/* ---- launches while a function of the host that another stream waits for waits for this thread ---- */

struct waiting {
    struct gate gate; /* 1: the function runs, 2: it may end */
    CUcontext context;
    CUstream stream;
    bool as_callback;
};

static void CUDA_CB wait_for_launches(void *data)
{
    struct waiting *waiting = data;
    gate_set(&waiting->gate, 1);
    gate_wait(&waiting->gate, 2);
}

static void CUDA_CB call_back(CUstream stream, CUresult result, void *data)
{
    (void)stream;
    (void)result;
    wait_for_launches(data);
}

/* In a thread of its own, since the software device calls the function at once. */
static void *submit_waiting(void *data)
{
    struct waiting *waiting = data;
    CHECK(cu.cuCtxSetCurrent(waiting->context));
    if (waiting->as_callback) {
        CHECK(cu.cuStreamAddCallback(waiting->stream, call_back, waiting, 0));
    } else {
        CHECK(cu.cuLaunchHostFunc(waiting->stream, wait_for_launches, waiting));
    }
    return NULL;
}

static void step_waiting(struct block *block, bool as_callback)
{
    struct waiting waiting = {
        .gate = GATE, .context = block->program->context, .as_callback = as_callback};
    pthread_t thread;
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuStreamCreate(&waiting.stream, CU_STREAM_NON_BLOCKING));
    if (pthread_create(&thread, NULL, submit_waiting, &waiting) != 0) {
        exit(4);
    }
    gate_wait(&waiting.gate, 1);
    for (unsigned i = 0; i <= block->variant % 3; i++) {
        launch_block(block);
    }
    gate_set(&waiting.gate, 2);
    pthread_join(thread, NULL);
    CHECK(cu.cuCtxSynchronize());
    CHECK(cu.cuStreamDestroy(waiting.stream));
}

/* ---- launches while another thread copies to the same allocation, behind what the kernel writes ---- */

struct copying {
    struct gate turn, done; /* numbers of steps */
    pthread_t thread;
    const struct block *block;
    CUdeviceptr
        memory; /* three parts of `bytes`: the kernel's, what is uploaded, and a copy of it */
    size_t bytes;
    unsigned steps;
    struct rng rng;
};

static void *copy_in_turn(void *data)
{
    struct copying *copying = data;
    CUstream stream;
    CHECK(cu.cuCtxSetCurrent(copying->block->program->context));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    unsigned char *bytes = made(copying->bytes);
    for (unsigned i = 1; i <= copying->steps; i++) {
        rng_fill(&copying->rng, bytes, copying->bytes);
        gate_wait(&copying->turn, 2 * i - 1);
        CHECK(
            cu.cuMemcpyHtoDAsync(copying->memory + copying->bytes, bytes, copying->bytes, stream));
        CHECK(cu.cuMemcpyDtoDAsync(copying->memory + 2 * copying->bytes,
                                   copying->memory + copying->bytes, copying->bytes, stream));
        CHECK(cu.cuStreamSynchronize(stream));
        gate_wait(&copying->turn, 2 * i); /* the kernel is over */
        CHECK(cu.cuMemcpyDtoDAsync(copying->memory + copying->bytes, copying->memory,
                                   copying->bytes / 2, stream));
        CHECK(cu.cuStreamSynchronize(stream));
        gate_set(&copying->done, i);
    }
    free(bytes);
    CHECK(cu.cuStreamDestroy(stream));
    return NULL;
}

static void begin_copying(struct block *block)
{
    struct copying *copying = made(sizeof *copying);
    *copying = (struct copying){.turn = GATE,
                                .done = GATE,
                                .block = block,
                                .memory = block->regions[0]->address,
                                .bytes = block->regions[0]->bytes / 3,
                                .steps = block->rounds,
                                .rng = {rng_next(&block->program->rng)}};
    block->own = copying;
    if (pthread_create(&copying->thread, NULL, copy_in_turn, copying) != 0) {
        exit(4);
    }
}

static void step_copying(struct block *block)
{
    struct copying *copying = block->own;
    unsigned step = copying->steps - block->rounds + 1;
    gate_set(&copying->turn, 2 * step - 1);
    launch_block(block);
    CHECK(cu.cuStreamSynchronize(block->program->streams[block->stream]));
    gate_set(&copying->turn, 2 * step);
    gate_wait(&copying->done, step);
}

/* ---- launches while another device copies to the same allocation, behind what the kernel writes ---- */

struct beside {
    CUstream stream; /* of the other device */
    CUdeviceptr memory;
    unsigned char *bytes;
    size_t count;
};

static void begin_beside(struct block *block)
{
    struct beside *beside = made(sizeof *beside);
    beside->count = block->regions[0]->bytes / 3;
    beside->bytes = made(beside->count);
    CHECK(cu.cuCtxPushCurrent(peer_of(block->program)));
    CHECK(cu.cuStreamCreate(&beside->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuMemAlloc(&beside->memory, beside->count));
    CHECK(cu.cuCtxPopCurrent(NULL));
    block->own = beside;
}

static void wait_beside(const struct block *block)
{
    const struct beside *beside = block->own;
    CHECK(cu.cuCtxPushCurrent(block->program->peer));
    CHECK(cu.cuStreamSynchronize(beside->stream));
    CHECK(cu.cuCtxPopCurrent(NULL));
}

/* Its copy may be under way when the kernel is launched. */
static void step_beside(struct block *block)
{
    struct beside *beside = block->own;
    struct program *program = block->program;
    CUdeviceptr to = block->regions[0]->address + (1 + block->rounds % 2) * beside->count;
    rng_fill(&program->rng, beside->bytes, beside->count);
    CHECK(cu.cuCtxPushCurrent(program->peer));
    CHECK(cu.cuStreamSynchronize(beside->stream));
    CHECK(cu.cuMemcpyHtoDAsync(beside->memory, beside->bytes, beside->count, beside->stream));
    CHECK(cu.cuMemcpyPeerAsync(to, program->context, beside->memory, program->peer, beside->count,
                               beside->stream));
    CHECK(cu.cuCtxPopCurrent(NULL));
    launch_block(block);
    wait_beside(block);
}

static void finish_beside(struct block *block)
{
    struct beside *beside = block->own;
    CHECK(cu.cuCtxPushCurrent(block->program->peer));
    CHECK(cu.cuStreamDestroy(beside->stream));
    CHECK(cu.cuMemFree(beside->memory));
    CHECK(cu.cuCtxPopCurrent(NULL));
    free(beside->bytes);
    free(beside);
}

/* ---- an array, which kernels could reach without being given an address ---- */

enum { ARRAY_WIDTH = 24 };
struct array {
    CUarray array;
    unsigned words[ARRAY_WIDTH];
    CUsurfObject surface;
};

static void begin_array(struct block *block)
{
    struct array *own = made(sizeof *own);
    bool as_surface = block->hazard->way == WAY_SURFACE;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = ARRAY_WIDTH,
                                           .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                           .NumChannels = 1,
                                           .Flags = as_surface ? CUDA_ARRAY3D_SURFACE_LDST : 0};
    CHECK(cu.cuArray3DCreate(&own->array, &shape));
    rng_fill(&block->program->rng, own->words, sizeof own->words);
    CHECK(cu.cuMemcpyHtoA(own->array, 0, own->words, sizeof own->words));
    if (as_surface) {
        const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                             .res.array.hArray = own->array};
        char name[sizeof block->name + 16];
        CHECK(cu.cuSurfObjectCreate(&own->surface, &resource));
        (void)snprintf(name, sizeof name, "%s_surface", block->name);
        struct region *variable = memory_variable(block->program, 0, name);
        memory_upload(variable, &own->surface, 0, sizeof own->surface);
        variable->is_live = false; /* a handle of the driver's: it differs from run to run */
    }
    block->own = own;
}

static void finish_array(struct block *block)
{
    struct array *own = block->own;
    CHECK(cu.cuMemcpyAtoH(own->words, own->array, 0, sizeof own->words));
    hash_bytes(block->program, own->words, sizeof own->words, false);
    if (block->hazard->way == WAY_SURFACE) {
        CHECK(cu.cuSurfObjectDestroy(own->surface));
    }
    CHECK(cu.cuArrayDestroy(own->array));
    free(own);
}

/* ---- all of them ---- */

static enum way way_of(const struct block *block)
{
    return block->hazard != NULL ? block->hazard->way : WAY_PLAIN;
}

bool way_has_parts(const struct block *block)
{
    return way_of(block) == WAY_THREAD || way_of(block) == WAY_DEVICES;
}

void way_begin(struct block *block)
{
    switch (way_of(block)) {
    case WAY_DEVICES: begin_beside(block); break;
    case WAY_THREAD: begin_copying(block); break;
    case WAY_ARRAY:
    case WAY_SURFACE: begin_array(block); break;
    default: break;
    }
}

void way_step(struct block *block)
{
    switch (way_of(block)) {
    case WAY_CAPTURE: step_capture(block); break;
    case WAY_HOST_FUNCTION: step_waiting(block, false); break;
    case WAY_CALLBACK: step_waiting(block, true); break;
    case WAY_THREAD: step_copying(block); break;
    case WAY_DEVICES: step_beside(block); break;
    default: launch_block(block); break;
    }
}

void way_finish(struct block *block)
{
    struct copying *copying = block->own;
    switch (way_of(block)) {
    case WAY_THREAD:
        pthread_join(copying->thread, NULL);
        free(copying);
        break;
    case WAY_ARRAY:
    case WAY_SURFACE: finish_array(block); break;
    case WAY_DEVICES: finish_beside(block); break;
    default: break;
    }
}
