/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of words. */
#include "simgpu/ptx/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const struct ptx_names *names, const char *text, size_t length)
{
    uint64_t hash = names->seed ^ length;

    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

int ptx_names_init(struct ptx_names *names, struct gmt_arena *arena)
{
    *names = (struct ptx_names){.arena = arena, .bucket_count = 1024};
    names->buckets = calloc(names->bucket_count, sizeof(struct ptx_atom *));
    /* Where memory lies differs from run to run: nobody can prepare words that all collide. */
    names->seed = (uint64_t)(uintptr_t)names->buckets * UINT64_C(0x9e3779b97f4a7c15);
    return names->buckets != NULL ? 0 : -ENOMEM;
}

void ptx_names_free(struct ptx_names *names)
{
    free(names->buckets);
    *names = (struct ptx_names){0};
}

static struct ptx_atom *find(const struct ptx_names *names, const char *text, size_t length,
                             uint32_t hash)
{
    struct ptx_atom *atom = names->buckets[hash & (names->bucket_count - 1)];

    while (atom != NULL && (atom->hash != hash || atom->length != length ||
                            memcmp(atom->text, text, length) != 0)) {
        atom = atom->next;
    }
    return atom;
}

struct ptx_atom *ptx_names_find(const struct ptx_names *names, const char *text, size_t length)
{
    return find(names, text, length, hash_of(names, text, length));
}

/* Twice the buckets; without memory the chains grow instead. */
static void grow(struct ptx_names *names)
{
    size_t count = names->bucket_count * 2;
    struct ptx_atom **buckets = calloc(count, sizeof(struct ptx_atom *));

    if (buckets == NULL) {
        return;
    }
    for (size_t i = 0; i < names->bucket_count; i++) {
        struct ptx_atom *atom = names->buckets[i];

        while (atom != NULL) {
            struct ptx_atom *next = atom->next;

            atom->next = buckets[atom->hash & (count - 1)];
            buckets[atom->hash & (count - 1)] = atom;
            atom = next;
        }
    }
    free(names->buckets);
    names->buckets = buckets;
    names->bucket_count = count;
}

struct ptx_atom *ptx_names_add(struct ptx_names *names, const char *text, size_t length)
{
    uint32_t hash = hash_of(names, text, length);
    struct ptx_atom *atom = find(names, text, length, hash);

    if (atom != NULL || length > UINT32_MAX) {
        return atom;
    }
    atom = gmt_arena_alloc(names->arena, sizeof(*atom) + length + 1);
    if (atom == NULL) {
        return NULL;
    }
    memcpy(atom->text, text, length);
    atom->hash = hash;
    atom->length = (uint32_t)length;
    if (names->count++ >= names->bucket_count) {
        grow(names);
    }
    atom->next = names->buckets[hash & (names->bucket_count - 1)];
    names->buckets[hash & (names->bucket_count - 1)] = atom;
    return atom;
}
