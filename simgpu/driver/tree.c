/* SPDX-License-Identifier: Apache-2.0 */
/* The balanced tree of address ranges. */
#include <stdlib.h>

#include "simgpu/driver/registry.h"

static uint32_t next_priority(void)
{
    static uint32_t state = 2463534242u; /* xorshift; the registry's lock is held */
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* Objects without bytes still have an address. */
static size_t span(const struct sim_range *range)
{
    return range->bytes != 0 ? range->bytes : 1;
}

/* The last range that starts at or before `address`. */
static struct sim_tree_node *floor_of(const struct sim_tree *tree, uintptr_t address)
{
    struct sim_tree_node *best = NULL;
    for (struct sim_tree_node *node = tree->root; node != NULL;) {
        if (node->range.start <= address) {
            best = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return best;
}

struct sim_range *sim_tree_find(const struct sim_tree *tree, uintptr_t address)
{
    struct sim_tree_node *node = floor_of(tree, address);
    return node != NULL && address - node->range.start < span(&node->range) ? &node->range : NULL;
}

bool sim_tree_overlaps(const struct sim_tree *tree, uintptr_t start, size_t bytes)
{
    const struct sim_tree_node *node = floor_of(tree, start + (bytes != 0 ? bytes - 1 : 0));
    return node != NULL &&
           (node->range.start >= start || start - node->range.start < span(&node->range));
}

/* Parts the tree into what starts before `start` and the rest. */
static void split(struct sim_tree_node *node, uintptr_t start, struct sim_tree_node **low,
                  struct sim_tree_node **high)
{
    while (node != NULL) {
        if (node->range.start < start) {
            *low = node;
            low = &node->right;
            node = node->right;
        } else {
            *high = node;
            high = &node->left;
            node = node->left;
        }
    }
    *low = NULL;
    *high = NULL;
}

static struct sim_tree_node *merge(struct sim_tree_node *low, struct sim_tree_node *high)
{
    struct sim_tree_node *root = NULL, **at = &root;
    while (low != NULL && high != NULL) {
        if (low->priority > high->priority) {
            *at = low;
            at = &low->right;
            low = low->right;
        } else {
            *at = high;
            at = &high->left;
            high = high->left;
        }
    }
    *at = low != NULL ? low : high;
    return root;
}

struct sim_range *sim_tree_insert(struct sim_tree *tree, const struct sim_range *range)
{
    struct sim_tree_node *node = NULL;
    if (!sim_tree_overlaps(tree, range->start, range->bytes)) {
        node = malloc(sizeof *node);
    }
    if (node == NULL) {
        return NULL;
    }
    *node = (struct sim_tree_node){.range = *range, .priority = next_priority()};
    struct sim_tree_node **at = &tree->root;
    while (*at != NULL && (*at)->priority >= node->priority) {
        at = (*at)->range.start < range->start ? &(*at)->right : &(*at)->left;
    }
    split(*at, range->start, &node->left, &node->right);
    *at = node;
    tree->count++;
    return &node->range;
}

bool sim_tree_remove(struct sim_tree *tree, uintptr_t start, struct sim_range *gone)
{
    struct sim_tree_node **at = &tree->root;
    while (*at != NULL && (*at)->range.start != start) {
        at = (*at)->range.start < start ? &(*at)->right : &(*at)->left;
    }
    struct sim_tree_node *node = *at;
    if (node == NULL) {
        return false;
    }
    *at = merge(node->left, node->right);
    *gone = node->range;
    free(node);
    tree->count--;
    return true;
}

static bool walk(struct sim_tree_node *node, bool (*visit)(struct sim_range *, void *), void *data)
{
    return node == NULL || (walk(node->left, visit, data) && visit(&node->range, data) &&
                            walk(node->right, visit, data));
}

void sim_tree_walk(const struct sim_tree *tree, bool (*visit)(struct sim_range *, void *),
                   void *data)
{
    (void)walk(tree->root, visit, data);
}
