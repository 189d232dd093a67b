/* SPDX-License-Identifier: Apache-2.0 */
/* What lies at an address: a hash table from addresses to indices. */
#ifndef GMT_ANALYZER_SNAPSHOT_ADDRESS_MAP_H
#define GMT_ANALYZER_SNAPSHOT_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_address_entry {
    uint64_t address;
    uint32_t value; /* GMT_ADDRESS_NONE: the entry is free */
};

#define GMT_ADDRESS_NONE UINT32_MAX

/* Zero-initialize it. */
struct gmt_address_map {
    struct gmt_address_entry *entries;
    size_t size, count; /* size: a power of two */
};

/* Replaces what was there. false: no memory. */
bool gmt_address_put(struct gmt_address_map *map, uint64_t address, uint32_t value);
/* GMT_ADDRESS_NONE: nothing is there. */
uint32_t gmt_address_get(const struct gmt_address_map *map, uint64_t address);
/* The same, and removes it. */
uint32_t gmt_address_take(struct gmt_address_map *map, uint64_t address);
void gmt_address_free(struct gmt_address_map *map);

#endif
