/* SPDX-License-Identifier: Apache-2.0 */
/* Best fit, split and merge, with the sizes of PyTorch's caching allocator. */
#include "analyzer/snapshot/replay_pools.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/snapshot/replay.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define LEAST_BLOCK UINT64_C(512)
#define SMALL_REQUEST (1 * MIB) /* at most, out of the small pool */
#define SMALL_SEGMENT (2 * MIB)
#define LARGE_SEGMENT (20 * MIB) /* of requests below 10 MiB */
#define OWN_SEGMENT (10 * MIB)   /* from here on a segment is as large as its request, ... */
#define SEGMENT_ROUNDING (2 * MIB)

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static unsigned log2_floor(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

/* roundup_power2_divisions: each power of two is divided into so many steps, to the next of which a request is rounded. */
static uint64_t block_size(const struct gmt_allocator_settings *settings, uint64_t bytes)
{
    enum { INTERVALS = sizeof(settings->roundup_divisions) / sizeof(unsigned) };

    if (bytes < LEAST_BLOCK) {
        return LEAST_BLOCK;
    }
    unsigned power = log2_floor(bytes), interval = power < 20 ? 0 : power - 20;
    unsigned divisions =
        settings->roundup_divisions[interval < INTERVALS ? interval : INTERVALS - 1];

    if (divisions <= 1 || bytes <= LEAST_BLOCK * divisions) {
        return round_up(bytes, LEAST_BLOCK);
    }
    uint64_t step = (UINT64_C(1) << power) >> log2_floor(divisions);

    return step > 0 ? round_up(bytes, step) : UINT64_C(1) << (power + 1);
}

static uint64_t segment_size(uint64_t bytes)
{
    if (bytes <= SMALL_REQUEST) {
        return SMALL_SEGMENT;
    }
    return bytes < OWN_SEGMENT ? LARGE_SEGMENT : round_up(bytes, SEGMENT_ROUNDING);
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* With what could still be mapped behind it. */
static uint64_t size_when_expanded(const struct gmt_pools *pools, uint32_t index)
{
    const struct gmt_pool_block *block = &pools->blocks[index];
    bool grows = block->after != GMT_NO_BLOCK && pools->blocks[block->after].unmapped;

    return block->size + (grows ? pools->blocks[block->after].size : 0);
}

/* The smallest free block that is large enough, out of the tree; GMT_NO_BLOCK: none. */
static uint32_t best_fit(struct gmt_pools *pools, uint64_t bytes, int64_t stream, bool small)
{
    const struct gmt_tree *tree = &pools->free[small];
    uint64_t most_split = pools->settings.max_split_bytes;
    uint32_t found = gmt_tree_find(tree, pools->nodes, (struct gmt_tree_key){stream, bytes, 0},
                                   false);

    if (found == GMT_NO_BLOCK || pools->blocks[found].stream != stream) {
        return GMT_NO_BLOCK;
    }
    /* A block that can be expanded counts as large as it can become. */
    for (uint32_t next = found; pools->blocks[found].expandable;) {
        next = gmt_tree_find(tree, pools->nodes, gmt_pools_key(&pools->blocks[next]), true);
        if (next == GMT_NO_BLOCK || pools->blocks[next].stream != stream ||
            size_when_expanded(pools, next) >= size_when_expanded(pools, found)) {
            break;
        }
        found = next;
    }
    uint64_t size = pools->blocks[found].size;

    if ((bytes < most_split && size >= most_split) ||
        (bytes >= most_split && size >= bytes + LARGE_SEGMENT)) {
        return GMT_NO_BLOCK;
    }
    gmt_pools_take(pools, found);
    return found;
}

static bool is_to_split(const struct gmt_pools *pools, const struct gmt_pool_block *block,
                        uint64_t bytes)
{
    uint64_t rest = block->size - bytes;

    if (block->small || pools->settings.expandable) {
        return rest >= LEAST_BLOCK;
    }
    return bytes < pools->settings.max_split_bytes && rest > SMALL_REQUEST;
}

static uint32_t new_segment(struct gmt_pools *pools, uint64_t bytes, int64_t stream, bool small)
{
    uint64_t size = segment_size(bytes);

    if (pools->next_address > GMT_POOLS_MOST_ADDRESS) {
        pools->rc = -E2BIG;
        return GMT_NO_BLOCK;
    }
    uint32_t index = gmt_pools_new_block(pools,
                                         (struct gmt_pool_block){.address = pools->next_address,
                                                                 .size = size,
                                                                 .stream = stream,
                                                                 .before = GMT_NO_BLOCK,
                                                                 .after = GMT_NO_BLOCK,
                                                                 .small = small});

    if (index != GMT_NO_BLOCK) {
        pools->next_address += size;
        gmt_pools_reserve(pools, size);
    }
    return index;
}

uint32_t gmt_pools_allocate(struct gmt_pools *pools, uint64_t bytes, int64_t stream)
{
    uint64_t size = block_size(&pools->settings, bytes);
    bool small = size <= SMALL_REQUEST;
    uint32_t index = best_fit(pools, size, stream, small);

    if (index == GMT_NO_BLOCK) {
        index = pools->settings.expandable ? gmt_pools_expand(pools, size, stream, small)
                                           : new_segment(pools, size, stream, small);
    }
    if (index == GMT_NO_BLOCK) {
        return index;
    }
    pools->blocks[index].allocated = true;
    if (is_to_split(pools, &pools->blocks[index], size)) {
        uint32_t rest = gmt_pools_split(pools, index, size);

        if (rest != GMT_NO_BLOCK) {
            gmt_pools_put(pools, rest);
        }
    }
    return index;
}

void gmt_pools_free(struct gmt_pools *pools, uint32_t index)
{
    pools->blocks[index].allocated = false;
    gmt_pools_merge(pools, index);
}

/* A segment without a block that is in use is one free block. */
static void release_block(struct gmt_pools *pools, uint32_t index)
{
    struct gmt_pool_block *block = &pools->blocks[index];

    if (block->expandable) {
        gmt_pools_unmap(pools, index);
    } else if (block->before == GMT_NO_BLOCK && block->after == GMT_NO_BLOCK) {
        gmt_pools_take(pools, index);
        pools->reserved -= block->size;
        gmt_pools_drop(pools, index);
    }
}

void gmt_pools_release(struct gmt_pools *pools)
{
    for (int small = 0; small < 2; small++) {
        struct gmt_tree_key key = {INT64_MIN, 0, 0};
        uint32_t next;

        while (pools->rc == 0 && (next = gmt_tree_find(&pools->free[small], pools->nodes, key,
                                                       true)) != GMT_NO_BLOCK) {
            key = gmt_pools_key(&pools->blocks[next]);
            if (++pools->steps > GMT_REPLAY_MOST_STEPS) {
                pools->rc = -E2BIG;
                return;
            }
            release_block(pools, next);
        }
    }
}

void gmt_pools_begin(struct gmt_pools *pools, const struct gmt_allocator_settings *settings)
{
    *pools = (struct gmt_pools){.settings = *settings,
                                .unused = GMT_NO_BLOCK,
                                .free = {{GMT_NO_BLOCK}, {GMT_NO_BLOCK}},
                                .unmapped = {{GMT_NO_BLOCK}, {GMT_NO_BLOCK}},
                                .next_address = 1};
}

void gmt_pools_end(struct gmt_pools *pools)
{
    free(pools->blocks);
    free(pools->nodes);
    *pools = (struct gmt_pools){0};
}
