/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; an entry that is removed is closed up by those behind it, so that nothing is left over. */
#include "analyzer/snapshot/address_map.h"

#include <stdlib.h>

/* The finalizer of splitmix64; source: S. Vigna, public domain reference code at prng.di.unimi.it. */
static size_t home(const struct gmt_address_map *map, uint64_t address)
{
    uint64_t z = address + 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (size_t)(z ^ (z >> 31)) & (map->size - 1);
}

/* The entry of the address, or the free one where it would be. */
static struct gmt_address_entry *find(const struct gmt_address_map *map, uint64_t address)
{
    size_t at = home(map, address);

    while (map->entries[at].value != GMT_ADDRESS_NONE && map->entries[at].address != address) {
        at = (at + 1) & (map->size - 1);
    }
    return &map->entries[at];
}

static bool grow(struct gmt_address_map *map)
{
    struct gmt_address_map larger = {.size = map->size == 0 ? 64 : 2 * map->size,
                                     .count = map->count};

    larger.entries = malloc(larger.size * sizeof(*larger.entries));
    if (larger.entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < larger.size; i++) {
        larger.entries[i] = (struct gmt_address_entry){0, GMT_ADDRESS_NONE};
    }
    for (size_t i = 0; i < map->size; i++) {
        if (map->entries[i].value != GMT_ADDRESS_NONE) {
            *find(&larger, map->entries[i].address) = map->entries[i];
        }
    }
    free(map->entries);
    *map = larger;
    return true;
}

bool gmt_address_put(struct gmt_address_map *map, uint64_t address, uint32_t value)
{
    if (2 * map->count >= map->size && !grow(map)) {
        return false;
    }
    struct gmt_address_entry *entry = find(map, address);

    map->count += entry->value == GMT_ADDRESS_NONE;
    *entry = (struct gmt_address_entry){address, value};
    return true;
}

uint32_t gmt_address_get(const struct gmt_address_map *map, uint64_t address)
{
    return map->size > 0 ? find(map, address)->value : GMT_ADDRESS_NONE;
}

uint32_t gmt_address_take(struct gmt_address_map *map, uint64_t address)
{
    struct gmt_address_entry *entry = map->size > 0 ? find(map, address) : NULL;

    if (entry == NULL || entry->value == GMT_ADDRESS_NONE) {
        return GMT_ADDRESS_NONE;
    }
    uint32_t value = entry->value;
    size_t hole = (size_t)(entry - map->entries);

    map->count--;
    for (size_t at = (hole + 1) & (map->size - 1); map->entries[at].value != GMT_ADDRESS_NONE;
         at = (at + 1) & (map->size - 1)) {
        size_t wanted = home(map, map->entries[at].address);

        /* It may move where its home does not lie behind the hole. */
        if (((at - wanted) & (map->size - 1)) >= ((at - hole) & (map->size - 1))) {
            map->entries[hole] = map->entries[at];
            hole = at;
        }
    }
    map->entries[hole].value = GMT_ADDRESS_NONE;
    return value;
}

void gmt_address_free(struct gmt_address_map *map)
{
    free(map->entries);
    *map = (struct gmt_address_map){0};
}
