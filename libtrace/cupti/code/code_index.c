/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels and what their code can reach: a hash table that only grows (code_index.h). */
#include "libtrace/cupti/code/code_index.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/cupti/code/cubin_effects.h"
#include "libtrace/cupti/code/cubin_symbols.h"
#include "libtrace/threads/mutex.h"

#define MOST_ENTRIES (UINT64_C(1) << 19) /* in a table of twice as many slots, of 16 bytes */
#define MOST_NAME_BYTES (UINT64_C(4) << 20)
#define FEWEST_SLOTS (UINT64_C(1) << 10)

enum {
    MOST_LISTS = 4096, /* of variables: they are gone through where one is added */
    MOST_OF_A_NAME = 64
};

/* What code of a cubin can reach. Never freed, never changed. */
struct reach {
    int result;         /* 0, -EPERM or -ENOENT */
    size_t bytes;       /* of `names` */
    uint64_t hash;      /* of `names` */
    struct reach *next; /* in `lists` */
    char names[];       /* of variables, one after the other, each with its NUL */
};

/* A function's name, and what it reaches in a cubin that has it. A name has as many as there are. */
struct index_entry {
    uint64_t hash;
    const struct reach *reach; /* NULL: an empty slot */
};

/* Shared by all cubins of which there is no more to say. */
static const struct reach no_variables = {.result = 0};
static const struct reach has_effects = {.result = -EPERM};
static const struct reach not_known = {.result = -ENOENT};

static struct gmt_mutex lock = GMT_MUTEX(CODE_INDEX);
static struct index_entry *table;
static uint64_t slots, used; /* slots: a power of two */
static struct reach *lists;
static size_t list_count, list_bytes;
static _Atomic bool missed, allocates;
/* What a fork left, which another thread may have been changing: not freed, and no leak either. */
static struct index_entry *volatile parents_table;
static struct reach *volatile parents_lists;

/* Eight bytes at a time: names of template instances have hundreds. After MurmurHash64A (A. Appleby). */
static uint64_t hash_of(const char *text, size_t bytes)
{
    const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t hash = bytes * factor;
    while (bytes != 0) {
        uint64_t word = 0;
        size_t part = bytes < sizeof(word) ? bytes : sizeof(word);
        memcpy(&word, text, part);
        word *= factor;
        word ^= word >> 47;
        hash = (hash ^ word * factor) * factor;
        text += part;
        bytes -= part;
    }
    hash ^= hash >> 47;
    hash *= factor;
    return hash ^ hash >> 47;
}

/* ---- the table -------------------------------------------------------------------------------- */

/* The slot of this pair, or the empty one where it belongs. There is always one. */
static struct index_entry *slot_for(struct index_entry *in, uint64_t size, uint64_t hash,
                                    const struct reach *reach)
{
    uint64_t at = hash & (size - 1);
    while (in[at].reach != NULL && (in[at].hash != hash || in[at].reach != reach)) {
        at = (at + 1) & (size - 1);
    }
    return &in[at];
}

/* By four: most of what a large cubin costs are the pages of new tables. */
static bool grow(void)
{
    if (used < slots / 2) {
        return true;
    }
    uint64_t size = slots != 0 ? slots * 4 : FEWEST_SLOTS;
    struct index_entry *grown = size <= 2 * MOST_ENTRIES ? calloc(size, sizeof(*grown)) : NULL;
    if (grown == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < slots; i++) {
        if (table[i].reach != NULL) {
            *slot_for(grown, size, table[i].hash, table[i].reach) = table[i];
        }
    }
    free(table);
    table = grown;
    slots = size;
    return true;
}

static void insert(uint64_t hash, const struct reach *reach)
{
    if (!grow()) {
        missed = true;
        return;
    }
    struct index_entry *entry = slot_for(table, slots, hash, reach);
    used += entry->reach == NULL;
    *entry = (struct index_entry){.hash = hash, .reach = reach};
}

struct adding {
    const struct reach *reach;
    const bool *effects; /* of sections; NULL: `reach` is that of all functions */
    uint64_t most_bytes; /* of names, that may still be read: those of an odd image could overlap */
};

static void insert_function(void *data, const char *name, uint64_t section)
{
    struct adding *adding = data;
    if (name[0] == '$') { /* a part of a kernel: nobody launches it */
        return;
    }
    size_t bytes = strnlen(name, adding->most_bytes);
    if (bytes == adding->most_bytes) {
        missed = true;
        return;
    }
    adding->most_bytes -= bytes;
    bool effect = adding->effects != NULL && adding->effects[section];
    insert(hash_of(name, bytes), effect ? &has_effects : adding->reach);
}

/* ---- lists of variables ------------------------------------------------------------------------ */

static void add_bytes(void *data, const char *name)
{
    size_t *bytes = data;
    *bytes += *bytes <= MOST_NAME_BYTES ? strlen(name) + 1 : 0;
}

static void append(void *data, const char *name)
{
    struct reach *list = data;
    size_t bytes = strlen(name) + 1;
    memcpy(list->names + list->bytes, name, bytes);
    list->bytes += bytes;
}

/* NULL: there is no room for it. */
static const struct reach *list_of(const struct gmt_cubin_symbols *symbols)
{
    size_t bytes = 0;
    gmt_cubin_symbols_visit(symbols,
                            &(struct gmt_cubin_visitor){.variable = add_bytes, .data = &bytes});
    if (bytes == 0) {
        return &no_variables;
    }
    struct reach *list = bytes <= MOST_NAME_BYTES ? malloc(sizeof(*list) + bytes) : NULL;
    if (list == NULL) {
        return NULL;
    }
    *list = (struct reach){.result = 0};
    gmt_cubin_symbols_visit(symbols, &(struct gmt_cubin_visitor){.variable = append, .data = list});
    list->hash = hash_of(list->names, list->bytes);
    for (const struct reach *at = lists; at != NULL; at = at->next) {
        if (at->hash == list->hash && at->bytes == list->bytes &&
            memcmp(at->names, list->names, at->bytes) == 0) {
            free(list);
            return at;
        }
    }
    if (list_count == MOST_LISTS || list_bytes + bytes > MOST_NAME_BYTES) {
        free(list);
        return NULL;
    }
    list->next = lists;
    lists = list;
    list_count++;
    list_bytes += bytes;
    return list;
}

/* ---- the seam ---------------------------------------------------------------------------------- */

static const struct reach *reach_of(int result, const struct gmt_cubin_symbols *symbols)
{
    switch (result) {
    case 0: return list_of(symbols);
    case -EPERM: return &has_effects;
    case -ENOENT: return &not_known;
    default: return NULL;
    }
}

void gmt_code_index_add(const void *image, size_t bytes)
{
    struct gmt_cubin_symbols symbols;
    if (missed) {
        return;
    }
    int result = gmt_cubin_symbols_read(&symbols, image, bytes);
    if (symbols.allocates) {
        allocates = true;
    }
    bool *effects = result == -EPERM ? gmt_cubin_effects(&symbols) : NULL;
    gmt_mutex_lock(&lock);
    struct adding adding = {
        .reach = reach_of(effects != NULL ? symbols.without_effects : result, &symbols),
        .effects = effects,
        .most_bytes = 4 * symbols.names.count + 1};
    if (adding.reach != NULL) {
        gmt_cubin_symbols_visit(
            &symbols, &(struct gmt_cubin_visitor){.function = insert_function, .data = &adding});
    } else {
        missed = true;
    }
    gmt_mutex_unlock(&lock);
    free(effects);
}

void gmt_code_index_missed(void)
{
    missed = true;
}

bool gmt_code_index_allocates(void)
{
    return allocates || missed;
}

struct found_code {
    const struct reach *reach[MOST_OF_A_NAME];
    size_t count;
};

/* 0, or the worst of all: what is certain counts for more than what is not known. */
static int find(const char *kernel, struct found_code *found)
{
    uint64_t hash = hash_of(kernel, strlen(kernel));
    bool known = !missed && slots != 0;
    int result = 0;
    for (uint64_t at = hash & (slots - 1); known && table[at].reach != NULL;
         at = (at + 1) & (slots - 1)) {
        const struct reach *reach = table[at].reach;
        if (table[at].hash != hash) {
            continue;
        }
        if (reach->result == -EPERM) {
            return -EPERM;
        }
        result = reach->result != 0 ? reach->result : result;
        known = found->count < MOST_OF_A_NAME;
        if (known) {
            found->reach[found->count++] = reach;
        }
    }
    return known && found->count != 0 ? result : -ENOENT;
}

int gmt_code_index_reach(const char *kernel, void (*variable)(void *data, const char *name),
                         void *data)
{
    struct found_code found = {.count = 0};
    gmt_mutex_lock(&lock);
    int result = kernel != NULL ? find(kernel, &found) : -ENOENT;
    gmt_mutex_unlock(&lock);
    for (size_t i = 0; result == 0 && i < found.count; i++) {
        const struct reach *reach = found.reach[i];
        for (size_t at = 0; at < reach->bytes; at += strlen(reach->names + at) + 1) {
            variable(data, reach->names + at);
        }
    }
    return result;
}

void gmt_code_index_abandon(void)
{
    gmt_mutex_renew(&lock);
    parents_table = table;
    parents_lists = lists;
    table = NULL;
    lists = NULL;
    slots = used = list_count = list_bytes = 0;
    missed = allocates = false;
}
