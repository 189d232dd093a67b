/* SPDX-License-Identifier: Apache-2.0 */
/* Maps byte strings to ids: each distinct one is stored once. */
#ifndef GMT_STORE_DB_INTERN_H
#define GMT_STORE_DB_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_intern {
    struct gmt_intern_slot *slots;
    size_t capacity; /* a power of two, or 0                                                   */
    size_t count;
    char *arena; /* the keys, one after another                                            */
    size_t arena_bytes, arena_capacity;
};

/* Zero-initialization is an empty table. */
void gmt_intern_free(struct gmt_intern *table);

/* Returns 1 and the id if the key is known; else 0 after storing it with `new_id`; -ENOMEM. */
int gmt_intern_id(struct gmt_intern *table, const void *key, size_t bytes, uint64_t new_id,
                  uint64_t *id);

/* True and the id if the key is known. */
bool gmt_intern_find(const struct gmt_intern *table, const void *key, size_t bytes, uint64_t *id);

#endif
