/* SPDX-License-Identifier: Apache-2.0 */
/* expandable_segments: one range of addresses per stream and pool, of which pages are mapped as they are needed. */
#include "analyzer/snapshot/replay_pools.h"

#include <errno.h>

#include "analyzer/snapshot/replay.h"

#define MIB (UINT64_C(1) << 20)
#define SMALL_PAGE (2 * MIB)
#define LARGE_PAGE (20 * MIB)
/* 1.25 TiB, more than any device has; a multiple of both pages. */
#define RANGE (20 * MIB << 16)

static uint64_t page_of(const struct gmt_pool_block *block)
{
    return block->small ? SMALL_PAGE : LARGE_PAGE;
}

static bool usable(const struct gmt_pools *pools, uint32_t index)
{
    return index != GMT_NO_BLOCK && !pools->blocks[index].allocated;
}

/* Do blocks that nobody uses give so many bytes from here on? */
static bool has_room(struct gmt_pools *pools, uint32_t index, uint64_t bytes)
{
    uint64_t found = 0;

    for (; found < bytes && usable(pools, index); index = pools->blocks[index].after) {
        found += pools->blocks[index].size;
        pools->steps++;
    }
    return found >= bytes;
}

/* The first block of the lowest room in the ranges of this stream; GMT_NO_BLOCK: there is none. */
static uint32_t find_room(struct gmt_pools *pools, uint64_t bytes, int64_t stream, bool small)
{
    struct gmt_tree_key key = {stream, 0, 0};
    uint32_t at;

    while ((at = gmt_tree_find(&pools->unmapped[small], pools->nodes, key, true)) != GMT_NO_BLOCK &&
           pools->blocks[at].stream == stream) {
        uint32_t before = pools->blocks[at].before;
        uint32_t first = usable(pools, before) ? before : at;

        if (has_room(pools, first, bytes)) {
            return first;
        }
        if (pools->steps > GMT_REPLAY_MOST_STEPS) {
            pools->rc = -E2BIG;
            break;
        }
        key = gmt_pools_key(&pools->blocks[at]);
    }
    return GMT_NO_BLOCK;
}

static uint32_t new_range(struct gmt_pools *pools, int64_t stream, bool small)
{
    uint64_t begin = (pools->next_address + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;

    if (begin > GMT_POOLS_MOST_ADDRESS) {
        pools->rc = -E2BIG;
        return GMT_NO_BLOCK;
    }
    uint32_t index = gmt_pools_new_block(pools, (struct gmt_pool_block){.address = begin,
                                                                        .size = RANGE,
                                                                        .stream = stream,
                                                                        .before = GMT_NO_BLOCK,
                                                                        .after = GMT_NO_BLOCK,
                                                                        .small = small,
                                                                        .expandable = true,
                                                                        .unmapped = true});

    if (index != GMT_NO_BLOCK) {
        pools->next_address = begin + RANGE;
        gmt_tree_insert(&pools->unmapped[small], pools->nodes, index,
                        gmt_pools_key(&pools->blocks[index]));
    }
    return index;
}

/* Maps the first pages of an unmapped block, which begins at one; what was mapped and is free before and after joins it. */
static bool map(struct gmt_pools *pools, uint32_t index, uint64_t bytes)
{
    uint64_t page = page_of(&pools->blocks[index]);
    uint64_t size = (bytes + page - 1) / page * page;
    bool small = pools->blocks[index].small;

    gmt_tree_remove(&pools->unmapped[small], pools->nodes, index);
    if (size < pools->blocks[index].size) {
        uint32_t rest = gmt_pools_split(pools, index, size);

        if (rest == GMT_NO_BLOCK) {
            return false;
        }
        gmt_tree_insert(&pools->unmapped[small], pools->nodes, rest,
                        gmt_pools_key(&pools->blocks[rest]));
    }
    gmt_pools_reserve(pools, pools->blocks[index].size);
    pools->blocks[index].unmapped = false;
    gmt_pools_merge(pools, index);
    return true;
}

uint32_t gmt_pools_expand(struct gmt_pools *pools, uint64_t bytes, int64_t stream, bool small)
{
    uint32_t index = find_room(pools, bytes, stream, small);

    if (index == GMT_NO_BLOCK && pools->rc == 0) {
        index = new_range(pools, stream, small);
    }
    if (index == GMT_NO_BLOCK) {
        return index;
    }
    if (pools->blocks[index].unmapped) {
        uint64_t room = pools->blocks[index].size;

        if (!map(pools, index, bytes < room ? bytes : room)) {
            return GMT_NO_BLOCK;
        }
    }
    while (pools->blocks[index].size < bytes) {
        uint32_t after = pools->blocks[index].after;
        uint64_t wanted = bytes - pools->blocks[index].size;
        uint64_t room = pools->blocks[after].size;

        /* It takes in the block before it. */
        if (!map(pools, after, wanted < room ? wanted : room)) {
            return GMT_NO_BLOCK;
        }
        index = after;
    }
    gmt_tree_remove(&pools->free[small], pools->nodes, index);
    return index;
}

void gmt_pools_unmap(struct gmt_pools *pools, uint32_t index)
{
    struct gmt_pool_block block = pools->blocks[index];
    uint64_t page = page_of(&block);
    uint64_t begin = (block.address + page - 1) / page * page;
    uint64_t end = (block.address + block.size) / page * page;

    if (begin >= end) {
        return;
    }
    gmt_tree_remove(&pools->free[block.small], pools->nodes, index);
    if (begin > block.address) {
        uint32_t rest = gmt_pools_split(pools, index, begin - block.address);

        if (rest == GMT_NO_BLOCK) {
            return;
        }
        gmt_tree_insert(&pools->free[block.small], pools->nodes, index,
                        gmt_pools_key(&pools->blocks[index]));
        index = rest;
    }
    if (end < block.address + block.size) {
        uint32_t rest = gmt_pools_split(pools, index, end - begin);

        if (rest == GMT_NO_BLOCK) {
            return;
        }
        gmt_tree_insert(&pools->free[block.small], pools->nodes, rest,
                        gmt_pools_key(&pools->blocks[rest]));
    }
    pools->reserved -= end - begin;
    pools->blocks[index].unmapped = true;
    gmt_pools_merge(pools, index);
}
