/* SPDX-License-Identifier: Apache-2.0 */
/* The treap of Seidel and Aragon (Randomized search trees, 1996), with rotations replaced by splits and joins. */
#include "analyzer/snapshot/free_tree.h"

/* The finalizer of splitmix64; source: S. Vigna, public domain reference code at prng.di.unimi.it. */
static uint64_t priority(uint32_t index)
{
    uint64_t z = (uint64_t)index * 0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static int compare(const struct gmt_tree_key *a, const struct gmt_tree_key *b)
{
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return (a->address > b->address) - (a->address < b->address);
}

/* Those below the key to *less, the others to *rest. */
static void split(struct gmt_tree_node *nodes, uint32_t at, const struct gmt_tree_key *key,
                  uint32_t *less, uint32_t *rest)
{
    while (at != GMT_NO_BLOCK) {
        if (compare(&nodes[at].key, key) < 0) {
            *less = at;
            less = &nodes[at].right;
            at = nodes[at].right;
        } else {
            *rest = at;
            rest = &nodes[at].left;
            at = nodes[at].left;
        }
    }
    *less = GMT_NO_BLOCK;
    *rest = GMT_NO_BLOCK;
}

/* All of a are below all of b; the root of both goes to *to. */
static void join(struct gmt_tree_node *nodes, uint32_t a, uint32_t b, uint32_t *to)
{
    while (a != GMT_NO_BLOCK && b != GMT_NO_BLOCK) {
        if (priority(a) > priority(b)) {
            *to = a;
            to = &nodes[a].right;
            a = nodes[a].right;
        } else {
            *to = b;
            to = &nodes[b].left;
            b = nodes[b].left;
        }
    }
    *to = a != GMT_NO_BLOCK ? a : b;
}

void gmt_tree_insert(struct gmt_tree *tree, struct gmt_tree_node *nodes, uint32_t index,
                     struct gmt_tree_key key)
{
    uint32_t *at = &tree->root;

    while (*at != GMT_NO_BLOCK && priority(*at) > priority(index)) {
        at = compare(&nodes[*at].key, &key) < 0 ? &nodes[*at].right : &nodes[*at].left;
    }
    uint32_t below = *at;

    nodes[index].key = key;
    split(nodes, below, &key, &nodes[index].left, &nodes[index].right);
    *at = index;
}

void gmt_tree_remove(struct gmt_tree *tree, struct gmt_tree_node *nodes, uint32_t index)
{
    uint32_t *at = &tree->root;

    while (*at != index && *at != GMT_NO_BLOCK) {
        at = compare(&nodes[*at].key, &nodes[index].key) < 0 ? &nodes[*at].right : &nodes[*at].left;
    }
    if (*at == index) {
        join(nodes, nodes[index].left, nodes[index].right, at);
    }
}

uint32_t gmt_tree_find(const struct gmt_tree *tree, const struct gmt_tree_node *nodes,
                       struct gmt_tree_key key, bool after)
{
    uint32_t at = tree->root, best = GMT_NO_BLOCK;

    while (at != GMT_NO_BLOCK) {
        int order = compare(&nodes[at].key, &key);

        if (order > 0 || (order == 0 && !after)) {
            best = at;
            at = nodes[at].left;
        } else {
            at = nodes[at].right;
        }
    }
    return best;
}
