/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a thread's stack from a frame outwards, by rows. */
#ifndef GMT_PRELOAD_UNWIND_WALK_H
#define GMT_PRELOAD_UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define GMT_STACK_FRAMES 64u
#define GMT_WALK_BOTTOMS (GMT_STACK_FRAMES + 2)
#define GMT_WALK_WORDS (2 * GMT_STACK_FRAMES)

enum gmt_walk_end {
    GMT_WALK_COMPLETE, /* at the thread's first frame */
    GMT_WALK_CUT,      /* there are more frames than are kept */
    GMT_WALK_LOST,     /* nothing says how to go on, or what it says cannot be */
    GMT_WALK_MISSED,   /* a row is not in the table */
};

/* The row for a return address, or for an instruction that a signal interrupted. */
typedef uint64_t gmt_row_finder(uintptr_t pc, bool interrupted, uint64_t key);

struct gmt_walk {
    /* In: the bounds of the thread's stack, outside of which nothing is read, and the frame pointer of
     * the innermost frame, which is always one. */
    uintptr_t low, high;
    const void *frame;
    uint64_t mark; /* see gmt_row_key */
    uint64_t salt; /* of what else the stack holds, beside native frames (gmt_python_here) */
    uint64_t
        hint; /* anything: stacks with one hint are looked for in one place of the table (chains.h) */
    /* NULL, or room for GMT_WALK_BOTTOMS: gmt_walk_finding puts there where each frame begins on the stack, and behind
     * them where the last one ends, 0 if it does not know. */
    uintptr_t *bottom;
    /* Out: return addresses, innermost first. */
    uint32_t depth;
    enum gmt_walk_end end;
    uint64_t address[GMT_STACK_FRAMES];
    /* The words of the stack that the walk follows from, beside those of its first frame; `words` is
     * more than GMT_WALK_WORDS if there was no room. */
    uint32_t words;
    struct {
        uint64_t address, value;
    } word[GMT_WALK_WORDS];
};

/* By the rows of the table alone, without a lock and without reading anything but the stack. */
void gmt_walk_known(struct gmt_walk *walk);
/* Ask `find` for what the table does not have. The caller keeps objects from being unloaded. */
void gmt_walk_finding(struct gmt_walk *walk, gmt_row_finder *find);

#endif
