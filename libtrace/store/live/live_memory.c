/* SPDX-License-Identifier: Apache-2.0 */
/* A table of what is allocated, and sums of it by context. */
#include "libtrace/store/live/live_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An allocation is committed before its release, so it is read in the same pass of the reader or in the next; one
 * that is not there after so many was dropped. */
#define LOST_PASSES 1000u
#define MOST_CONTEXTS 65536u /* gmt_call.context has 16 bits */

struct gmt_live_block {
    uint32_t id; /* 0: none */
    uint16_t context;
    uint8_t kind;
    uint8_t is_freed; /* its allocation is not read yet; `bytes` is the pass of the release */
    uint64_t bytes;
};

void gmt_live_memory_free(struct gmt_live_memory *memory)
{
    free(memory->blocks);
    free(memory->contexts);
    *memory = (struct gmt_live_memory){0};
}

static size_t home_of(const struct gmt_live_memory *memory, uint32_t id)
{
    return (size_t)(id * UINT32_C(2654435761)) & (memory->capacity - 1);
}

/* Where it is, or where it would be. */
static size_t place_of(const struct gmt_live_memory *memory, uint32_t id)
{
    size_t at = home_of(memory, id);
    while (memory->blocks[at].id != 0 && memory->blocks[at].id != id) {
        at = (at + 1) & (memory->capacity - 1);
    }
    return at;
}

static void put(struct gmt_live_memory *memory, const struct gmt_live_block *block)
{
    size_t at = place_of(memory, block->id);
    memory->used += memory->blocks[at].id == 0;
    memory->blocks[at] = *block;
}

/* Those behind it move up, so that no search ends at the hole. */
static void take_out(struct gmt_live_memory *memory, size_t hole)
{
    size_t mask = memory->capacity - 1;
    memory->used--;
    for (size_t at = (hole + 1) & mask; memory->blocks[at].id != 0; at = (at + 1) & mask) {
        size_t home = home_of(memory, memory->blocks[at].id);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            memory->blocks[hole] = memory->blocks[at];
            hole = at;
        }
    }
    memory->blocks[hole] = (struct gmt_live_block){0};
}

static bool is_lost(const struct gmt_live_memory *memory, const struct gmt_live_block *block)
{
    return block->is_freed != 0 && memory->pass - (uint32_t)block->bytes > LOST_PASSES;
}

/* Half of the table stays empty; one that has become too large is made smaller at the next chance. */
static int make_room(struct gmt_live_memory *memory)
{
    if (memory->capacity != 0 && memory->used < memory->capacity / 2) {
        return 0;
    }
    struct gmt_live_memory grown = *memory;
    size_t kept = 0;
    for (size_t i = 0; i < memory->capacity; i++) {
        kept += memory->blocks[i].id != 0 && !is_lost(memory, &memory->blocks[i]);
    }
    grown.capacity = 256;
    while (grown.capacity / 4 < kept + 1) {
        grown.capacity *= 2;
    }
    grown.used = 0;
    grown.blocks = calloc(grown.capacity, sizeof(*grown.blocks));
    if (grown.blocks == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < memory->capacity; i++) {
        if (memory->blocks[i].id != 0 && !is_lost(memory, &memory->blocks[i])) {
            put(&grown, &memory->blocks[i]);
        }
    }
    free(memory->blocks);
    *memory = grown;
    return 0;
}

/* NULL: no memory. */
static struct gmt_live_context *context_of(struct gmt_live_memory *memory, uint32_t context)
{
    if (context >= memory->context_count) {
        size_t count = (size_t)context + 16;
        struct gmt_live_context *contexts = realloc(memory->contexts, count * sizeof(*contexts));
        if (contexts == NULL) {
            return NULL;
        }
        for (size_t i = memory->context_count; i < count; i++) {
            contexts[i] = (struct gmt_live_context){.device = UINT32_MAX};
        }
        memory->contexts = contexts;
        memory->context_count = count;
    }
    return &memory->contexts[context];
}

int gmt_live_memory_allocated(struct gmt_live_memory *memory, uint32_t id, unsigned kind,
                              uint16_t context, uint64_t bytes)
{
    struct gmt_live_context *sums = context_of(memory, context);
    if (make_room(memory) != 0 || sums == NULL) {
        return -ENOMEM;
    }
    kind = kind < GMT_ALLOC_KIND_COUNT ? kind : GMT_ALLOC_UNKNOWN;
    sums->memory[kind].made++;
    size_t at = place_of(memory, id);
    if (memory->blocks[at].id != 0) { /* it is free again already */
        take_out(memory, at);
        return 0;
    }
    sums->memory[kind].count++;
    sums->memory[kind].bytes += bytes;
    put(memory, &(struct gmt_live_block){
                    .id = id, .kind = (uint8_t)kind, .context = context, .bytes = bytes});
    return 0;
}

int gmt_live_memory_freed(struct gmt_live_memory *memory, uint32_t id)
{
    if (make_room(memory) != 0) {
        return -ENOMEM;
    }
    size_t at = place_of(memory, id);
    const struct gmt_live_block *block = &memory->blocks[at];
    if (block->id == 0) {
        put(memory, &(struct gmt_live_block){.id = id, .is_freed = 1, .bytes = memory->pass});
        return 0;
    }
    if (block->is_freed == 0) {
        struct gmt_live_held *held = &memory->contexts[block->context].memory[block->kind];
        held->count--;
        held->bytes -= block->bytes;
        take_out(memory, at);
    }
    return 0;
}

int gmt_live_memory_context(struct gmt_live_memory *memory, uint32_t context, uint32_t device)
{
    struct gmt_live_context *sums = context < MOST_CONTEXTS ? context_of(memory, context) : NULL;
    if (sums == NULL) {
        return context < MOST_CONTEXTS ? -ENOMEM : 0;
    }
    sums->device = device;
    return 0;
}

static void add(struct gmt_live_held *to, const struct gmt_live_held *held)
{
    to->count += held->count;
    to->bytes += held->bytes;
    to->made += held->made;
}

static bool is_host_kind(unsigned kind)
{
    return kind == GMT_ALLOC_HOST || kind == GMT_ALLOC_REGISTERED;
}

/* One that is not known yet counts as the first. */
static uint32_t place_of_device(const struct gmt_live_context *context)
{
    return context->device == UINT32_MAX        ? 0
           : context->device < GMT_LIVE_DEVICES ? context->device
                                                : GMT_LIVE_DEVICES - 1;
}

uint32_t gmt_live_memory_device(const struct gmt_live_memory *memory, uint32_t context)
{
    return context < memory->context_count ? memory->contexts[context].device : UINT32_MAX;
}

bool gmt_live_memory_is_host(const struct gmt_live_memory *memory, uint32_t id)
{
    const struct gmt_live_block *block = memory->capacity != 0
                                             ? &memory->blocks[place_of(memory, id)]
                                             : NULL;
    return block != NULL && block->id == id && is_host_kind(block->kind);
}

struct gmt_live_held gmt_live_memory_held(const struct gmt_live_memory *memory, uint32_t device)
{
    struct gmt_live_held held = {0};
    for (size_t i = 0; i < memory->context_count; i++) {
        const struct gmt_live_context *context = &memory->contexts[i];
        for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
            bool is_host = is_host_kind(kind);
            if (is_host ? device == GMT_LIVE_HOST_MEMORY : device == place_of_device(context)) {
                add(&held, &context->memory[kind]);
            }
        }
    }
    return held;
}

void gmt_live_memory_sum(const struct gmt_live_memory *memory, struct gmt_live_page *page)
{
    memset(page->host_memory, 0, sizeof(page->host_memory));
    for (size_t i = 0; i < GMT_LIVE_DEVICES; i++) {
        memset(page->device[i].memory, 0, sizeof(page->device[i].memory));
    }
    for (size_t i = 0; i < memory->context_count; i++) {
        const struct gmt_live_context *context = &memory->contexts[i];
        uint32_t device = place_of_device(context);
        for (unsigned kind = 0; kind < GMT_ALLOC_KIND_COUNT; kind++) {
            bool is_host = is_host_kind(kind);
            add(is_host ? &page->host_memory[kind] : &page->device[device].memory[kind],
                &context->memory[kind]);
        }
    }
}
