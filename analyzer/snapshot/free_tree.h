/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in the order in which an allocator looks for them: by stream, size and address. A tree of indices. */
#ifndef GMT_ANALYZER_SNAPSHOT_FREE_TREE_H
#define GMT_ANALYZER_SNAPSHOT_FREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMT_NO_BLOCK UINT32_MAX

struct gmt_tree_key {
    int64_t stream;
    uint64_t size, address;
};

/* In an array beside the blocks, by their indices. */
struct gmt_tree_node {
    struct gmt_tree_key key;
    uint32_t left, right; /* GMT_NO_BLOCK: none */
};

/* A treap: the priority of a node is a hash of its index, so that no order of insertion makes it deep. */
struct gmt_tree {
    uint32_t root; /* GMT_NO_BLOCK: empty */
};

/* No key may be in the tree twice. */
void gmt_tree_insert(struct gmt_tree *tree, struct gmt_tree_node *nodes, uint32_t index,
                     struct gmt_tree_key key);
/* It must be in the tree. */
void gmt_tree_remove(struct gmt_tree *tree, struct gmt_tree_node *nodes, uint32_t index);
/* The first that is not less than the key, or, with `after`, the first that is greater. GMT_NO_BLOCK: none. */
uint32_t gmt_tree_find(const struct gmt_tree *tree, const struct gmt_tree_node *nodes,
                       struct gmt_tree_key key, bool after);

#endif
