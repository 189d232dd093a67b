/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are memory or live objects: two balanced trees of ranges behind one lock. */
#ifndef SIMGPU_DRIVER_REGISTRY_H
#define SIMGPU_DRIVER_REGISTRY_H

#include <pthread.h>

#include "simgpu/driver/driver.h"

/*
 * Ranges that do not overlap, ordered by start. Finding, inserting and removing take O(log n) on
 * average: a treap (R. Seidel, C. Aragon, "Randomized Search Trees", 1996).
 */
struct sim_tree_node {
    struct sim_range range;
    uint32_t priority;
    struct sim_tree_node *left, *right;
};

struct sim_tree {
    struct sim_tree_node *root;
    size_t count;
};

/* A copy of `range` goes in; NULL: no memory for it, or it overlaps another. */
struct sim_range *sim_tree_insert(struct sim_tree *tree, const struct sim_range *range);
/* The range that holds `address`, NULL if none. */
struct sim_range *sim_tree_find(const struct sim_tree *tree, uintptr_t address);
/* The range that starts at `start` goes; false if there is none. */
bool sim_tree_remove(struct sim_tree *tree, uintptr_t start, struct sim_range *gone);
/* In order of addresses; ends when `visit` returns false. */
void sim_tree_walk(const struct sim_tree *tree, bool (*visit)(struct sim_range *, void *),
                   void *data);
bool sim_tree_overlaps(const struct sim_tree *tree, uintptr_t start, size_t bytes);

struct sim_registry {
    pthread_mutex_t lock;
    struct sim_tree objects, memory;
    uint64_t generation; /* of memory: grows whenever a map would change */
    size_t used[SIM_MAX_DEVICES];
};
extern struct sim_registry sim_registry;

#endif
