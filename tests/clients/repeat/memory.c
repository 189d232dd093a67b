/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of generated programs: what is in it when they begin, and the hash of all of it when they end. */
#include "repeat/repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *host_bytes(size_t count)
{
    void *bytes = calloc(1, count != 0 ? count : 1);
    if (bytes == NULL) {
        exit(4);
    }
    return bytes;
}

struct region *region_new(struct program *program, size_t bytes)
{
    if (program->region_count == MAX_REGIONS) {
        fprintf(stderr, "repeatclient: seed %llu has too much memory\n",
                (unsigned long long)program->seed);
        exit(4);
    }
    struct region *region = &program->regions[program->region_count];
    *region = (struct region){.bytes = bytes, .is_live = true, .number = program->region_count};
    program->region_count++;
    return region;
}

struct region *memory_take(struct program *program, enum place place, size_t bytes)
{
    struct region *region = region_new(program, bytes);
    place_take(program, region, place);
    return region;
}

/* ---- content ---- */

/* In the context whose memory it is. */
static void enter(const struct region *region)
{
    if (region->owner != NULL) {
        CHECK(cu.cuCtxPushCurrent(region->owner));
    }
}

static void leave(const struct region *region)
{
    if (region->owner != NULL) {
        CHECK(cu.cuCtxPopCurrent(NULL));
    }
}

/* Memory of the host is filled by the host. */
void memory_upload(struct region *region, const void *bytes, size_t offset, size_t count)
{
    if (region->host != NULL) {
        memcpy(region->host + offset, bytes, count);
        return;
    }
    enter(region);
    CHECK(cu.cuMemcpyHtoD(region->address + offset, bytes, count));
    CHECK(cu.cuCtxSynchronize());
    leave(region);
}

/* By the program or by the device: where any bytes will do they may be all alike. */
static void fill_plain(struct program *program, struct region *region)
{
    struct rng *rng = &program->rng;
    unsigned value = (unsigned)rng_next(rng);
    if (region->host != NULL || region->owner != NULL || rng_chance(rng, 60)) {
        unsigned char *bytes = host_bytes(region->bytes);
        rng_fill(rng, bytes, region->bytes);
        memory_upload(region, bytes, 0, region->bytes);
        free(bytes);
        return;
    }
    switch (rng_below(rng, 3)) {
    case 0: CHECK(cu.cuMemsetD8(region->address, (unsigned char)value, region->bytes)); break;
    case 1:
        CHECK(cu.cuMemsetD8(region->address, 1, region->bytes));
        CHECK(cu.cuCtxSynchronize()); /* the stream does not wait for the legacy one */
        CHECK(cu.cuMemsetD32Async(region->address, value, region->bytes / 4, program->streams[1]));
        break;
    default:
        CHECK(cu.cuMemsetD8Async(region->address, 2, region->bytes, program->streams[1]));
        CHECK(cu.cuMemsetD2D8Async(region->address, region->bytes / 3 + 1, (unsigned char)value,
                                   region->bytes / 3, 2, program->streams[1]));
        break;
    }
    CHECK(cu.cuCtxSynchronize());
}

static void fill(const struct block *block, unsigned pointer, struct region *region)
{
    const struct body *body = block->body;
    unsigned char *bytes;
    region->is_plain = ((body->zeroed | body->linked) >> pointer & 1) == 0;
    if (region->is_plain) {
        fill_plain(block->program, region);
        return;
    }
    bytes = host_bytes(region->bytes);
    if ((body->zeroed >> pointer & 1) == 0) {
        rng_fill(&block->program->rng, bytes, region->bytes);
        body->fill(block, pointer, bytes);
    }
    memory_upload(region, bytes, 0, region->bytes);
    free(bytes);
}

/* The name of a variable that is memory of a block. */
static struct region *variable_of(struct block *block, unsigned pointer)
{
    char name[sizeof block->name + 8];
    (void)snprintf(name, sizeof name, "%s_v%u", block->name, pointer);
    if (block->places[pointer] == PLACE_MANAGED_VARIABLE) {
        return memory_managed_variable(block->program, name);
    }
    return memory_variable(block->program, block->places[pointer] == PLACE_OTHER_VARIABLE, name);
}

/* From the last to the first: earlier ones may hold pointers to later ones. Some have bytes behind their end. */
void memory_make(struct block *block, unsigned pointer)
{
    enum place place = block->places[pointer];
    if (place == PLACE_OWN_VARIABLE || place == PLACE_OTHER_VARIABLE ||
        place == PLACE_MANAGED_VARIABLE) {
        block->regions[pointer] = variable_of(block, pointer);
    } else {
        size_t parts = way_has_parts(block) ? 3 : 1;
        size_t bytes = block->body->bytes(block, pointer) * parts;
        bytes += rng_below(&block->program->rng, 8);
        block->regions[pointer] = memory_take(block->program, place, bytes);
    }
    fill(block, pointer, block->regions[pointer]);
}

struct region *memory_make_plain(struct program *program, size_t bytes)
{
    struct region *region = memory_take(
        program, (enum place)rng_below(&program->rng, PLACE_OWN_VARIABLE), bytes);
    region->is_plain = true;
    fill_plain(program, region);
    return region;
}

void memory_make_tables(struct block *block)
{
    CUdeviceptr addresses[MAX_POINTERS], slots[MAX_POINTERS];
    size_t bytes = 8 * (size_t)block->body->given;
    char name[sizeof block->name + 8];
    for (unsigned i = 0; i < block->body->given; i++) {
        addresses[i] = block->regions[i]->address;
    }
    switch (block->reach) {
    case REACH_VARIABLE:
    case REACH_CONSTANT:
        (void)snprintf(name, sizeof name, "%s_where", block->name);
        block->table = memory_variable(block->program, 0, name);
        break;
    case REACH_TABLE:
    case REACH_TABLE2: block->table = memory_take(block->program, PLACE_ALLOC, bytes); break;
    default: return;
    }
    memory_upload(block->table, addresses, 0, bytes);
    if (block->reach == REACH_TABLE2) {
        block->tables = memory_take(block->program, PLACE_ASYNC, bytes);
        for (unsigned i = 0; i < block->body->given; i++) {
            slots[i] = block->table->address + 8 * (size_t)i;
        }
        memory_upload(block->tables, slots, 0, bytes);
    }
}

struct region *memory_variable(struct program *program, unsigned module, const char *name)
{
    struct region *region = region_new(program, 0);
    if (program->as_libraries) {
        CHECK(cu.cuLibraryGetGlobal(&region->address, &region->bytes, program->libraries[module],
                                    name));
    } else {
        CHECK(
            cu.cuModuleGetGlobal(&region->address, &region->bytes, program->modules[module], name));
    }
    return region;
}

struct region *memory_managed_variable(struct program *program, const char *name)
{
    struct region *region;
    if (program->as_libraries) {
        region = region_new(program, 0);
        CHECK(
            cu.cuLibraryGetManaged(&region->address, &region->bytes, program->libraries[0], name));
    } else {
        region = memory_variable(program, 0, name);
    }
    region->host = (unsigned char *)region->address;
    return region;
}

/* ---- the hash ---- */

static uint64_t word_of(const struct program *program, const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    for (unsigned i = 0; word >= UINT64_C(1) << 32 && i < program->region_count; i++) {
        const struct region *region = &program->regions[i];
        if (region->is_live && word - region->address < region->bytes) {
            return (uint64_t)(region->number + 1) << 48 ^ (word - region->address);
        }
    }
    return word;
}

/* Addresses differ from run to run: with_pointers takes them as a number of the region and a place in it. */
void hash_bytes(struct program *program, const void *bytes, size_t count, bool with_pointers)
{
    const unsigned char *in = bytes;
    uint64_t hash = program->hash ^ count;
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = 0;
        if (with_pointers && count - at >= 8) {
            word = word_of(program, in + at);
        } else {
            memcpy(&word, in + at, count - at < 8 ? count - at : 8);
        }
        hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 32;
    }
    program->hash = hash;
}

/* Nothing may be under way. */
void memory_hash(struct program *program, const struct region *region)
{
    if (region->host != NULL) {
        hash_bytes(program, region->host, region->bytes, !region->is_plain);
        return;
    }
    void *bytes = host_bytes(region->bytes);
    enter(region);
    CHECK(cu.cuMemcpyDtoH(bytes, region->address, region->bytes));
    leave(region);
    hash_bytes(program, bytes, region->bytes, !region->is_plain);
    free(bytes);
}

/* What was in it stays in the hash. */
void memory_release(struct program *program, struct region *region)
{
    memory_hash(program, region);
    region->is_live = false;
    if (region->release != NULL) {
        region->release(program, region);
    }
}
