/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live allocations in the order of their addresses: a B+ tree in memory of its own (mmap, no malloc).
 *
 * One thread at a time may change it; the caller sees to that. Others may seek and get meanwhile:
 * what they read then may be wrong, but they neither crash nor run forever, and the caller finds
 * out by a sequence number of its own. Entries of one base lie in the order in which they came.
 */
#ifndef GMT_PRELOAD_STATE_ALLOCTREE_H
#define GMT_PRELOAD_STATE_ALLOCTREE_H

#include <stdbool.h>
#include <stdint.h>

/* Nodes hold 13 entries or more on average, whatever is taken out: 20 million of them need 7. */
#define GMT_ALLOCTREE_LEVELS 10u

struct gmt_alloctree_entry {
    uint64_t base, bytes, tag; /* the tag is the caller's */
};

/* Where an entry lies, from the root to its leaf. Valid until the next change. */
struct gmt_alloctree_cursor {
    uint32_t levels;
    struct {
        uint32_t node, slot;
    } at[GMT_ALLOCTREE_LEVELS];
};

/* The last entry whose base is <= address; false if there is none. */
bool gmt_alloctree_seek(uint64_t address, struct gmt_alloctree_cursor *place);
void gmt_alloctree_get(const struct gmt_alloctree_cursor *place, struct gmt_alloctree_entry *entry);

/* The first one, and the next or the one before; false if there is none. Only for who may change. */
bool gmt_alloctree_first(struct gmt_alloctree_cursor *place);
bool gmt_alloctree_step(struct gmt_alloctree_cursor *place, bool forward);

/* Before each insertion: get the memory that it may need. False: there is none, do not insert. */
bool gmt_alloctree_reserve(void);
void gmt_alloctree_insert(const struct gmt_alloctree_entry *entry);
void gmt_alloctree_remove(const struct gmt_alloctree_cursor *place);

/* Forget everything; the memory is kept. */
void gmt_alloctree_clear(void);

#endif
