/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a simulated allocator: how they are found, cut and merged. */
#include "analyzer/snapshot/replay_pools.h"

#include <errno.h>
#include <stdlib.h>

struct gmt_tree_key gmt_pools_key(const struct gmt_pool_block *block)
{
    return (struct gmt_tree_key){block->stream, block->unmapped ? 0 : block->size, block->address};
}

static struct gmt_tree *tree_of(struct gmt_pools *pools, const struct gmt_pool_block *block)
{
    return block->unmapped ? &pools->unmapped[block->small] : &pools->free[block->small];
}

void gmt_pools_put(struct gmt_pools *pools, uint32_t index)
{
    const struct gmt_pool_block *block = &pools->blocks[index];

    gmt_tree_insert(tree_of(pools, block), pools->nodes, index, gmt_pools_key(block));
}

void gmt_pools_take(struct gmt_pools *pools, uint32_t index)
{
    gmt_tree_remove(tree_of(pools, &pools->blocks[index]), pools->nodes, index);
}

static bool grow(struct gmt_pools *pools)
{
    size_t room = pools->room == 0 ? 256 : 2 * pools->room;
    struct gmt_pool_block *blocks = realloc(pools->blocks, room * sizeof(*blocks));

    if (blocks != NULL) {
        pools->blocks = blocks;
    }
    struct gmt_tree_node *nodes = blocks != NULL ? realloc(pools->nodes, room * sizeof(*nodes))
                                                 : NULL;
    if (nodes == NULL) {
        pools->rc = -ENOMEM;
        return false;
    }
    pools->nodes = nodes;
    pools->room = room;
    return true;
}

uint32_t gmt_pools_new_block(struct gmt_pools *pools, struct gmt_pool_block block)
{
    uint32_t index = pools->unused;

    if (index != GMT_NO_BLOCK) {
        pools->unused = pools->blocks[index].after;
    } else if (pools->count < pools->room || grow(pools)) {
        index = (uint32_t)pools->count++;
    }
    if (index != GMT_NO_BLOCK) {
        pools->blocks[index] = block;
    }
    return index;
}

void gmt_pools_drop(struct gmt_pools *pools, uint32_t index)
{
    pools->blocks[index].after = pools->unused;
    pools->unused = index;
}

uint32_t gmt_pools_split(struct gmt_pools *pools, uint32_t index, uint64_t bytes)
{
    struct gmt_pool_block rest = pools->blocks[index];

    rest.address += bytes;
    rest.size -= bytes;
    rest.before = index;
    rest.allocated = false;
    uint32_t after = gmt_pools_new_block(pools, rest);

    if (after == GMT_NO_BLOCK) {
        return after;
    }
    if (rest.after != GMT_NO_BLOCK) {
        pools->blocks[rest.after].before = after;
    }
    pools->blocks[index].size = bytes;
    pools->blocks[index].after = after;
    return after;
}

static bool mergeable(const struct gmt_pools *pools, uint32_t index, uint32_t other)
{
    return other != GMT_NO_BLOCK && !pools->blocks[other].allocated &&
           pools->blocks[other].unmapped == pools->blocks[index].unmapped;
}

void gmt_pools_merge(struct gmt_pools *pools, uint32_t index)
{
    struct gmt_pool_block *block = &pools->blocks[index];
    uint32_t before = block->before, after = block->after;

    if (mergeable(pools, index, before)) {
        gmt_pools_take(pools, before);
        block->address = pools->blocks[before].address;
        block->size += pools->blocks[before].size;
        block->before = pools->blocks[before].before;
        if (block->before != GMT_NO_BLOCK) {
            pools->blocks[block->before].after = index;
        }
        gmt_pools_drop(pools, before);
    }
    if (mergeable(pools, index, after)) {
        gmt_pools_take(pools, after);
        block->size += pools->blocks[after].size;
        block->after = pools->blocks[after].after;
        if (block->after != GMT_NO_BLOCK) {
            pools->blocks[block->after].before = index;
        }
        gmt_pools_drop(pools, after);
    }
    gmt_pools_put(pools, index);
}

void gmt_pools_reserve(struct gmt_pools *pools, uint64_t bytes)
{
    pools->reserved += bytes;
    if (pools->reserved > pools->reserved_peak) {
        pools->reserved_peak = pools->reserved;
    }
}
