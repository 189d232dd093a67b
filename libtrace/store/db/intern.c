/* SPDX-License-Identifier: Apache-2.0 */
/* Open-addressing hash table over keys kept in one arena. */
#include "libtrace/store/db/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct gmt_intern_slot {
    uint64_t hash;
    uint64_t id;
    uint64_t key; /* offset into the arena                                                  */
    uint32_t bytes;
    bool used;
};

void gmt_intern_free(struct gmt_intern *table)
{
    free(table->slots);
    free(table->arena);
    *table = (struct gmt_intern){0};
}

/* The slot that holds the key, or the free one where it belongs. The table is never full. */
static struct gmt_intern_slot *locate(const struct gmt_intern *table, uint64_t hash,
                                      const void *key, size_t bytes)
{
    size_t mask = table->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct gmt_intern_slot *slot = &table->slots[i];
        if (!slot->used || (slot->hash == hash && slot->bytes == bytes &&
                            memcmp(table->arena + slot->key, key, bytes) == 0)) {
            return slot;
        }
    }
}

static int grow_slots(struct gmt_intern *table)
{
    size_t capacity = table->capacity != 0 ? 2 * table->capacity : 64;
    struct gmt_intern_slot *slots = calloc(capacity, sizeof(*slots));
    if (slots == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        const struct gmt_intern_slot *old = &table->slots[i];
        if (old->used) {
            size_t at = old->hash & (capacity - 1);
            while (slots[at].used) {
                at = (at + 1) & (capacity - 1);
            }
            slots[at] = *old;
        }
    }
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return 0;
}

static int grow_arena(struct gmt_intern *table, size_t bytes)
{
    size_t capacity = table->arena_capacity != 0 ? table->arena_capacity : 4096;
    while (capacity - table->arena_bytes < bytes) {
        capacity *= 2;
    }
    if (capacity == table->arena_capacity) {
        return 0;
    }
    char *arena = realloc(table->arena, capacity);
    if (arena == NULL) {
        return -ENOMEM;
    }
    table->arena = arena;
    table->arena_capacity = capacity;
    return 0;
}

bool gmt_intern_find(const struct gmt_intern *table, const void *key, size_t bytes, uint64_t *id)
{
    if (table->capacity == 0) {
        return false;
    }
    const struct gmt_intern_slot *slot = locate(table, XXH3_64bits(key, bytes), key, bytes);
    if (slot->used) {
        *id = slot->id;
    }
    return slot->used;
}

int gmt_intern_id(struct gmt_intern *table, const void *key, size_t bytes, uint64_t new_id,
                  uint64_t *id)
{
    if (2 * (table->count + 1) > table->capacity && grow_slots(table) != 0) {
        return -ENOMEM;
    }
    uint64_t hash = XXH3_64bits(key, bytes);
    struct gmt_intern_slot *slot = locate(table, hash, key, bytes);
    if (slot->used) {
        *id = slot->id;
        return 1;
    }
    if (grow_arena(table, bytes) != 0) {
        return -ENOMEM;
    }
    memcpy(table->arena + table->arena_bytes, key, bytes);
    *slot = (struct gmt_intern_slot){hash, new_id, table->arena_bytes, (uint32_t)bytes, true};
    table->arena_bytes += bytes;
    table->count++;
    *id = new_id;
    return 0;
}
