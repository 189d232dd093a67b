/* SPDX-License-Identifier: Apache-2.0 */
/* The segments and blocks of a simulated caching allocator. */
#ifndef GMT_ANALYZER_SNAPSHOT_REPLAY_POOLS_H
#define GMT_ANALYZER_SNAPSHOT_REPLAY_POOLS_H

#include "analyzer/snapshot/free_tree.h"
#include "analyzer/snapshot/snapshot.h"

/* Simulated segments begin at most here: no address is given twice. */
#define GMT_POOLS_MOST_ADDRESS (UINT64_C(1) << 62)

struct gmt_pool_block {
    uint64_t address, size;
    int64_t stream;
    uint32_t before, after; /* in the segment; GMT_NO_BLOCK: none */
    bool small, allocated;
    bool expandable; /* in a range of addresses of which parts are mapped */
    bool unmapped;
};

struct gmt_pools {
    struct gmt_allocator_settings settings;
    struct gmt_pool_block *blocks;
    struct gmt_tree_node *nodes; /* of the same indices */
    size_t count, room;
    uint32_t unused;             /* a chain of blocks that were merged away, by `after` */
    struct gmt_tree free[2];     /* large, small: what can be handed out */
    struct gmt_tree unmapped[2]; /* the same of expandable segments; all of size 0 in the keys */
    uint64_t next_address;
    uint64_t reserved, reserved_peak;
    size_t steps; /* blocks visited by releases */
    int rc;       /* 0, -ENOMEM, -E2BIG */
};

void gmt_pools_begin(struct gmt_pools *pools, const struct gmt_allocator_settings *settings);
void gmt_pools_end(struct gmt_pools *pools);

/* The block that is handed out; GMT_NO_BLOCK: rc says why. */
uint32_t gmt_pools_allocate(struct gmt_pools *pools, uint64_t bytes, int64_t stream);
void gmt_pools_free(struct gmt_pools *pools, uint32_t index);
/* Gives back to the device what no block uses: torch.cuda.empty_cache(). */
void gmt_pools_release(struct gmt_pools *pools);

/* ---- replay_expandable.c ---- */

/* A free block of at least so many bytes, not in the tree; GMT_NO_BLOCK as above. */
uint32_t gmt_pools_expand(struct gmt_pools *pools, uint64_t bytes, int64_t stream, bool small);
/* Unmaps the whole pages of a free block that is in the tree. */
void gmt_pools_unmap(struct gmt_pools *pools, uint32_t index);

/* ---- replay_blocks.c ---- */

struct gmt_tree_key gmt_pools_key(const struct gmt_pool_block *block);
/* Into and out of the tree that a block of its kind belongs to. */
void gmt_pools_put(struct gmt_pools *pools, uint32_t index);
void gmt_pools_take(struct gmt_pools *pools, uint32_t index);
/* A block, in no tree, and the end of one. GMT_NO_BLOCK: no memory. */
uint32_t gmt_pools_new_block(struct gmt_pools *pools, struct gmt_pool_block block);
void gmt_pools_drop(struct gmt_pools *pools, uint32_t index);
/* Cuts a block that is in no tree after so many bytes; the rest, in no tree. */
uint32_t gmt_pools_split(struct gmt_pools *pools, uint32_t index, uint64_t bytes);
/* Takes in free neighbours of a block, and puts it into the tree. */
void gmt_pools_merge(struct gmt_pools *pools, uint32_t index);
/* Counts bytes that the device gave. */
void gmt_pools_reserve(struct gmt_pools *pools, uint64_t bytes);

#endif
