/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks FIRST COUNT SEEDS [PLAN [zero]] (harness.h): generated programs that allocate and free device memory and page-locked
 * memory of a few sizes, with work under way, in streams of all kinds and in threads; that ask for ranges, identities and free
 * memory, use all memory that there is, name memory that they have freed, capture, and make contexts anew. Under each seed every
 * answer and every byte is what CUDA documents of memory that is allocated and freed. zero: new page-locked memory is zero.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "freed.h"
#include "harness.h"

#define SLOTS 8
#define STREAMS 4
#define SIZES 3
#define STEPS 80
#define MOST ((size_t)6 << 20) /* of two threads */
#define IDS 512

/* Memory that the program has. */
struct slot {
    CUdeviceptr memory; /* 0: none */
    uint8_t *locked;    /* NULL: none */
    size_t bytes, locked_bytes;
    CUstream stream; /* all that uses the memory is in it */
    uint8_t *model;  /* what the memory holds when that is done */
    unsigned long long id;
};

struct actor {
    uint64_t random;
    struct slot *slots;
    unsigned count;
    uint8_t *landing; /* page-locked, and never freed */
    bool is_alone;
};

static CUcontext context;
static CUstream streams[STREAMS];
static struct slot slots[SLOTS];
static size_t sizes[SIZES], free_at_first;
static unsigned long long ids[IDS]; /* of allocations that were asked for them and are gone */
static unsigned id_count;

static unsigned draw(struct actor *a, unsigned bound)
{
    return harness_draw(&a->random, bound);
}

/* ---- allocating and freeing --------------------------------------------------------------------- */

static void fill(struct actor *a, struct slot *slot)
{
    uint8_t value = (uint8_t)draw(a, 256);
    OK(cuMemsetD8Async(slot->memory, value, slot->bytes, slot->stream));
    memset(slot->model, value, slot->bytes);
}

/* Its range, kind and context are those of new memory. */
static void examine(const struct slot *slot)
{
    CUdeviceptr base = 0;
    CUcontext of = NULL;
    unsigned type = 0, managed = 2;
    size_t bytes = 0;
    OK(cuMemGetAddressRange(&base, &bytes, slot->memory + slot->bytes / 2));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, slot->memory));
    managed = 0;
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, slot->memory));
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, slot->memory));
    if (base != slot->memory || bytes != slot->bytes || type != CU_MEMORYTYPE_DEVICE ||
        managed != 0 || of != context) {
        harness_fail("an allocation of %zu bytes has %zu, type %u, managed %u", slot->bytes, bytes,
                     type, managed);
    }
}

static void allocate(struct actor *a, struct slot *slot)
{
    slot->bytes = sizes[draw(a, SIZES)];
    slot->stream = streams[a->is_alone ? draw(a, STREAMS) : 2 + draw(a, 2)];
    slot->id = 0;
    OK(cuMemAlloc(&slot->memory, slot->bytes));
    if (draw(a, 2) == 0) {
        examine(slot);
    }
    fill(a, slot);
}

static void forget(struct slot *slot)
{
    if (slot->id != 0 && id_count < IDS) {
        ids[id_count++] = slot->id;
    }
    slot->memory = 0;
}

/* Work is under way, and its result is on its way to the host: freeing other memory waits for that. */
static void free_memory(struct actor *a, struct slot *slot)
{
    struct slot *other = &a->slots[draw(a, a->count)];
    bool lands = other->memory != 0 && draw(a, 2) == 0;
    if (lands) {
        memset(a->landing, 0xab, other->bytes);
        OK(cuMemcpyDtoHAsync(a->landing, other->memory, other->bytes, other->stream));
    }
    OK(cuMemFree(slot->memory));
    if (lands) {
        harness_same(a->landing, other->model, other->bytes, "before memory was freed");
    }
    forget(slot);
}

static const unsigned flags_of[] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED};

static void allocate_locked(struct actor *a, struct slot *slot)
{
    unsigned choice = draw(a, 4), flags = 0;
    slot->locked_bytes = sizes[draw(a, SIZES)];
    if (choice == 3) {
        OK(cuMemAllocHost((void **)&slot->locked, slot->locked_bytes));
    } else {
        OK(cuMemHostAlloc((void **)&slot->locked, slot->locked_bytes, flags_of[choice]));
    }
    OK(cuMemHostGetFlags(&flags, slot->locked));
    if ((flags & ~(unsigned)CU_MEMHOSTALLOC_DEVICEMAP) != (choice == 3 ? 0 : flags_of[choice])) {
        harness_fail("flags of page-locked memory are %u", flags);
    }
    for (size_t i = 0; harness_word != NULL && i < slot->locked_bytes; i += 64) {
        if (slot->locked[i] != 0) {
            harness_fail("new page-locked memory is not zero");
        }
    }
    memset(slot->locked, (int)draw(a, 256), slot->locked_bytes);
}

/* Copies from it, or to it, are under way when it is freed. */
static void free_locked(struct actor *a, struct slot *slot)
{
    struct slot *other = &a->slots[draw(a, a->count)];
    size_t bytes = slot->locked_bytes < other->bytes ? slot->locked_bytes : other->bytes;
    if (other->memory != 0 && draw(a, 2) == 0) {
        memset(slot->locked, (int)draw(a, 256), bytes);
        memcpy(other->model, slot->locked, bytes);
        OK(cuMemcpyHtoDAsync(other->memory, slot->locked, bytes, other->stream));
    } else if (other->memory != 0) {
        OK(cuMemcpyDtoHAsync(slot->locked, other->memory, bytes, other->stream));
    }
    OK(cuMemFreeHost(slot->locked));
    slot->locked = NULL;
}

static void verify(struct slot *slot)
{
    uint8_t *host = malloc(slot->bytes);
    OK(cuMemcpyDtoHAsync(host, slot->memory, slot->bytes, slot->stream));
    OK(cuStreamSynchronize(slot->stream));
    harness_same(host, slot->model, slot->bytes, "memory");
    free(host);
}

/* ---- what would show that memory is kept --------------------------------------------------------- */

/* No other allocation has had the identity of this one. */
static void identify(struct slot *slot)
{
    unsigned long long id = 0;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_BUFFER_ID;
    void *value = &id;
    if (slot->bytes % 3 == 0) {
        OK(cuPointerGetAttributes(1, &attribute, &value, slot->memory + 1));
    } else {
        OK(cuPointerGetAttribute(&id, attribute, slot->memory));
    }
    for (unsigned i = 0; i < id_count; i++) {
        if (ids[i] == id) {
            harness_fail("two allocations have the identity %llu", id);
        }
    }
    slot->id = id;
}

static void count_memory(void)
{
    size_t now = 0, total = 0, held = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        held += slots[i].memory != 0 ? slots[i].bytes : 0;
    }
    OK(cuMemGetInfo(&now, &total));
    if (now + held != free_at_first) {
        harness_fail("%zu bytes are free, expected %zu", now, free_at_first - held);
    }
}

/* Asking how much is free does not wait for work that waits for what the host does next. */
static void count_beside_work(void)
{
    CUdeviceptr memory;
    OK(cuMemAlloc(&memory, sizes[0]));
    OK(cuMemFree(memory));
    harness_begin_waiting_work(streams[2]);
    count_memory();
    if (!harness_end_waiting_work(streams[2])) {
        harness_fail("asking for free memory waits for work of the device");
    }
}

/* All that is not held can be had, by any function. */
static void use_all(struct actor *a)
{
    CUdeviceptr memory = 0;
    size_t left = free_at_first;
    for (unsigned i = 0; i < SLOTS; i++) {
        left -= slots[i].memory != 0 ? slots[i].bytes : 0;
    }
    switch (draw(a, 3)) {
    case 0:
        OK(cuMemAlloc(&memory, left));
        OK(cuMemFree(memory));
        break;
    case 1:
        OK(cuMemAllocManaged(&memory, left, CU_MEM_ATTACH_GLOBAL));
        OK(cuMemFree(memory));
        break;
    default:
        OK(cuMemAllocAsync(&memory, left, streams[2]));
        OK(cuMemFreeAsync(memory, streams[2]));
        OK(cuStreamSynchronize(streams[2]));
        break;
    }
}

/* Memory that was freed is not there. */
static void name_freed(struct actor *a, struct slot *slot)
{
    CUdeviceptr gone = slot->memory;
    free_memory(a, slot);
    freed_name(draw(a, FREED_CALLS), gone, a->landing, streams[2]);
}

static void name_freed_locked(struct slot *slot)
{
    void *gone = slot->locked;
    unsigned flags = 0;
    CUdeviceptr device = 0;
    OK(cuMemFreeHost(gone));
    slot->locked = NULL;
    harness_expect(cuMemHostGetFlags(&flags, gone), CUDA_ERROR_INVALID_VALUE,
                   "asking for the flags of freed memory");
    harness_expect(cuMemHostGetDevicePointer(&device, gone, 0), CUDA_ERROR_INVALID_VALUE,
                   "asking for the address of freed memory");
    harness_expect(cuMemFreeHost(gone), CUDA_ERROR_INVALID_VALUE,
                   "freeing page-locked memory twice");
}

/* Freed in another way: what is there next is something else. */
static void free_otherwise(struct actor *a, struct slot *slot)
{
    CUdeviceptr gone = slot->memory, managed = 0;
    OK(cuMemFreeAsync(gone, slot->stream));
    OK(cuStreamSynchronize(slot->stream));
    forget(slot);
    OK(cuMemAllocManaged(&managed, slot->bytes, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemFree(managed));
    allocate(a, slot);
    examine(slot);
}

/* ---- captures, contexts, errors ------------------------------------------------------------------ */

static void capture(struct actor *a, struct slot *slot)
{
    static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                CU_STREAM_CAPTURE_MODE_RELAXED};
    CUgraph graph;
    CUdeviceptr memory = 0;
    unsigned mode = draw(a, 2);
    OK(cuStreamSynchronize(slot->stream));
    OK(cuStreamBeginCapture(streams[3], modes[mode]));
    if (mode == 0) {
        harness_expect(cuMemFree(slot->memory), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "freeing in a capture");
        harness_expect(cuMemAlloc(&memory, slot->bytes), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "allocating in a capture");
    } else {
        OK(cuMemFree(slot->memory));
        forget(slot);
    }
    OK(cuStreamEndCapture(streams[3], &graph));
    OK(cuGraphDestroy(graph));
}

/* Memory of each context is its own; work of one uses memory of the other when that is freed. */
static void second_context(struct actor *a, struct slot *slot)
{
    CUdeviceptr memory;
    CUcontext of = NULL;
    CUstream stream;
    OK(cuStreamSynchronize(slot->stream));
    CUcontext second = harness_new_context();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        OK(cuMemAlloc(&memory, slot->bytes));
        OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
        if (of != second) {
            harness_fail("memory is of another context");
        }
        OK(cuMemFree(memory));
    }
    memset(a->landing, 0xac, slot->bytes);
    OK(cuMemcpyDtoHAsync(a->landing, slot->memory, slot->bytes, stream));
    OK(cuCtxSetCurrent(context));
    OK(cuMemFree(slot->memory));
    forget(slot);
    harness_same(a->landing, slot->model, slot->bytes, "work of another context");
    OK(cuCtxDestroy(second));
    OK(cuCtxSetCurrent(context));
}

static void open_all(struct actor *a)
{
    size_t total = 0;
    context = harness_new_context();
    streams[0] = CU_STREAM_LEGACY;
    for (unsigned i = 1; i < STREAMS; i++) {
        OK(cuStreamCreate(&streams[i], i == 1 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i].memory = 0;
        slots[i].locked = NULL;
    }
    OK(cuMemHostAlloc((void **)&a->landing, MOST, 0));
    OK(cuMemGetInfo(&free_at_first, &total));
}

static void restart(struct actor *a)
{
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy(context));
    open_all(a);
}

/* Freeing waits for a kernel that fails, and says so; nothing can be had from then on. */
static void fault(struct actor *a)
{
    CUdeviceptr memory[2], next = 0;
    void *locked = NULL;
    for (int i = 0; i < 2; i++) {
        OK(cuMemAlloc(&memory[i], sizes[0]));
    }
    OK(cuMemHostAlloc(&locked, sizes[0], 0));
    CUfunction kernel = harness_failing_kernel();
    OK(cuMemFree(memory[1])); /* of the size that is asked for below */
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, streams[2], NULL, NULL));
    CUresult result = draw(a, 2) == 0 ? cuMemFree(memory[0]) : cuMemFreeHost(locked);
    harness_expect(result, CUDA_ERROR_ILLEGAL_ADDRESS, "freeing behind a kernel that failed");
    harness_expect(cuMemAlloc(&next, sizes[0]), CUDA_ERROR_ILLEGAL_ADDRESS,
                   "allocating behind a kernel that failed");
}

/* ---- the test ----------------------------------------------------------------------------------- */

static void step_alone(struct actor *a, struct slot *slot, unsigned what)
{
    switch (what) {
    case 0: count_memory(); break;
    case 1: use_all(a); break;
    case 2: identify(slot); break;
    case 3: name_freed(a, slot); break;
    case 4: capture(a, slot); break;
    case 5: free_otherwise(a, slot); break;
    case 6:
        if (draw(a, 3) == 0) {
            second_context(a, slot);
        }
        break;
    default:
        if (draw(a, 3) == 0) {
            restart(a);
        }
        break;
    }
}

static void step(struct actor *a)
{
    struct slot *slot = &a->slots[draw(a, a->count)];
    unsigned what = draw(a, 32);
    if (what < 12) {
        if (slot->locked == NULL) {
            allocate_locked(a, slot);
        } else if (what == 0 && a->is_alone) {
            name_freed_locked(slot);
        } else {
            free_locked(a, slot);
        }
    } else if (slot->memory == 0) {
        allocate(a, slot);
    } else if (what < 20) {
        free_memory(a, slot);
    } else if (what < 24) {
        verify(slot);
    } else if (a->is_alone) {
        step_alone(a, slot, what - 24);
    }
}

static void *act(void *actor)
{
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < STEPS; i++) {
        step(actor);
    }
    return NULL;
}

static void act_in_threads(struct actor *all)
{
    pthread_t threads[2];
    struct actor own[2];
    for (unsigned i = 0; i < 2; i++) {
        own[i] = (struct actor){all->random + i, slots + i * SLOTS / 2, SLOTS / 2, NULL, false};
        own[i].landing = all->landing + i * MOST / 2;
        (void)pthread_create(&threads[i], NULL, act, &own[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* In a process of its own. */
static void run(void)
{
    struct actor all = {harness_program + 1, slots, SLOTS, NULL, true};
    bool is_large = harness_word != NULL; /* the device has such memory of new pages */
    size_t unit = is_large ? (size_t)1 << 20 : (size_t)256 << harness_program % 3;
    for (unsigned i = 0; i < SIZES; i++) {
        sizes[i] = unit * (i + 1) - (i == 1 ? 64 : 0);
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i].model = malloc(unit * SIZES);
    }
    OK(cuInit(0));
    open_all(&all);
    if (harness_program % 4 == 3) {
        act_in_threads(&all);
    } else {
        for (int i = 0; i < (is_large ? STEPS / 4 : STEPS); i++) {
            step(&all);
        }
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i].memory != 0) {
            verify(&slots[i]);
        }
    }
    if (harness_program % 16 == 1 && harness_seed == 1) { /* the device gives such work a second */
        count_beside_work();
    }
    OK(cuCtxSynchronize());
    harness_expect_no_conflict();
    if (harness_program % 4 == 0) {
        fault(&all);
    }
}

int main(int argc, char **argv)
{
    static const enum gmt_fix fixes[] = {GMT_FIX_BLOCK_CACHE, GMT_FIX_PINNED_CACHE};
    setenv("SIMGPU_MEMORY_MB", argc > 5 ? "64" : "16", 1);
    return harness_main(argc, argv, run, fixes, sizeof fixes / sizeof fixes[0]);
}
