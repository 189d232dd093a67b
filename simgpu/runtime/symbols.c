/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and variables that a program has registered, found by the address of their host side. */
#include "simgpu/runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Symbols in the order of registration, and a hash table of their numbers plus 1, 0 = free. */
static struct sim_symbol *symbols;
static size_t symbol_count, symbol_capacity;
static uint32_t *slots;
static size_t slot_count; /* a power of two, at least twice symbol_capacity */

void sim_symbols_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sim_symbols_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child forked while another thread loads kernels must find the lock free. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(sim_symbols_lock, sim_symbols_unlock, sim_symbols_unlock);
}

static size_t slot_of(const void *host)
{
    return (size_t)(((uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (slot_count - 1);
}

/* Several binaries may register one address (a template's kernel): the first of them is found. */
static void place(size_t index)
{
    size_t at = slot_of(symbols[index].host);
    while (slots[at] != 0) {
        at = (at + 1) & (slot_count - 1);
    }
    slots[at] = (uint32_t)(index + 1);
}

static void place_all(void)
{
    for (size_t i = 0; i < slot_count; i++) {
        slots[i] = 0;
    }
    for (size_t i = 0; i < symbol_count; i++) {
        place(i);
    }
}

static bool reserve(void)
{
    if (symbol_count < symbol_capacity) {
        return true;
    }
    size_t capacity = symbol_capacity != 0 ? symbol_capacity * 2 : 64;
    struct sim_symbol *more = realloc(symbols, capacity * sizeof *more);
    if (more == NULL) {
        return false;
    }
    symbols = more;
    uint32_t *table = calloc(capacity * 2, sizeof *table);
    if (table == NULL) {
        return false;
    }
    free(slots);
    slots = table;
    slot_count = capacity * 2;
    symbol_capacity = capacity;
    place_all();
    return true;
}

struct sim_symbol *sim_symbol_at(size_t index)
{
    return index < symbol_count ? &symbols[index] : NULL;
}

/* Host code names a managed variable by its address, which it keeps in a pointer of its own. */
static struct sim_symbol *find_managed(const void *address)
{
    for (size_t i = 0; i < symbol_count; i++) {
        const void *const *pointer = symbols[i].host;
        if (symbols[i].kind == SIM_MANAGED_SYMBOL && *pointer == address) {
            return &symbols[i];
        }
    }
    return NULL;
}

struct sim_symbol *sim_symbol_find(const void *host)
{
    if (host == NULL || slot_count == 0) {
        return NULL;
    }
    for (size_t at = slot_of(host); slots[at] != 0; at = (at + 1) & (slot_count - 1)) {
        if (symbols[slots[at] - 1].host == host) {
            return &symbols[slots[at] - 1];
        }
    }
    return find_managed(host);
}

bool sim_symbol_add(const struct sim_symbol *symbol)
{
    if (!reserve()) {
        return false;
    }
    symbols[symbol_count] = *symbol;
    place(symbol_count++);
    return true;
}

void sim_symbols_forget(const struct sim_binary *binary)
{
    size_t kept = 0;
    for (size_t i = 0; i < symbol_count; i++) {
        if (symbols[i].binary != binary) {
            symbols[kept++] = symbols[i];
        }
    }
    symbol_count = kept;
    place_all();
}
