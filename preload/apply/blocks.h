/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program has allocated, and memory that it has freed and that is kept: two tables behind one lock. No
 * function here calls the driver, and none waits but for that lock, which is held for some hundred instructions. A handler of a
 * signal that interrupts one must call none.
 */
#ifndef GMT_PRELOAD_APPLY_BLOCKS_H
#define GMT_PRELOAD_APPLY_BLOCKS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_block_kind {
    GMT_BLOCK_DEVICE,
    GMT_BLOCK_LOCKED
}; /* cuMemAlloc; page-locked on the host */
enum { GMT_BLOCK_KINDS = 2 };

/* What the driver says of an allocation; another one at the same address says otherwise. */
struct gmt_block_identity {
    uint64_t id, start, bytes;
};

struct gmt_block {
    uint64_t address; /* 0: none */
    size_t bytes;     /* that were asked for */
    enum gmt_block_kind kind;
    unsigned flags; /* of cuMemHostAlloc, or GMT_BLOCK_PLAIN */
    CUcontext context;
    struct gmt_block_identity identity;
    bool
        is_shown; /* to others, or the program knows it by more than its address: it is never kept */
};
#define GMT_BLOCK_PLAIN ~0u /* cuMemAllocHost: no flags */

/* ---- allocated ---------------------------------------------------------------------------------- */

/* Before all else, once. False: there is no memory for it. */
bool gmt_blocks_make(void);
/* One that finds no room is forgotten, and is freed as without us. */
void gmt_blocks_add(const struct gmt_block *block);
/* The block that begins there is the program's no more. False: it is not known. */
bool gmt_blocks_remove(enum gmt_block_kind kind, uint64_t address, struct gmt_block *block);
/* The block that begins there is not to be kept. */
void gmt_blocks_show(uint64_t address);
/* All are forgotten. */
void gmt_blocks_forget(void);

/* ---- kept --------------------------------------------------------------------------------------- */

/* False: the table is full. */
bool gmt_kept_add(const struct gmt_block *block);
/* The newest that is as `like` in kind, bytes, flags and context, and is kept no more. */
bool gmt_kept_take(const struct gmt_block *like, struct gmt_block *block);
/* The one that `address` lies in, and is kept no more. */
bool gmt_kept_take_at(uint64_t address, struct gmt_block *block);
/* The oldest of a kind, and is kept no more. */
bool gmt_kept_take_oldest(enum gmt_block_kind kind, struct gmt_block *block);
uint64_t gmt_kept_bytes(enum gmt_block_kind kind);
/* How many there are, of both kinds. */
unsigned gmt_kept_count(void);

#endif
