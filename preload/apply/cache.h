/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What block-cache and pinned-cache have in common: memory that the program frees is kept, and given to it again when it allocates as much.
 * Whatever would show that it was not freed gives it back to the driver first, and is then the driver's to answer.
 */
#ifndef GMT_PRELOAD_APPLY_CACHE_H
#define GMT_PRELOAD_APPLY_CACHE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/blocks.h"

/* One call that the program makes, to allocate or to free. */
struct gmt_cache_call {
    enum gmt_block_kind kind;
    uint64_t *out;    /* where an allocation's address goes */
    uint64_t address; /* that is freed */
    size_t bytes;     /* that are allocated */
    unsigned flags;   /* as in struct gmt_block */
    CUresult (*pass)(const struct gmt_cache_call *call);
};

CUresult gmt_cache_allocate(const struct gmt_cache_call *call);
CUresult gmt_cache_free(const struct gmt_cache_call *call);

/* The program names an address in a call: kept memory there is given back. */
void gmt_cache_named(uint64_t address);
/* ... and learns or shares more of it than that: memory there will not be kept. */
void gmt_cache_show(uint64_t address);
/*
 * All that is kept is given back. That waits for the device, as freeing does: where the device has work for more than 100 ms, of
 * which the program may not want to wait, nothing is. Returns how many bytes of the device are still kept.
 */
uint64_t gmt_cache_give_back(void);

/* A context is about to be destroyed: all is given back and forgotten. */
void gmt_cache_context_ends(void);
/* A primary context has ended, with its memory. */
void gmt_cache_context_ended(void);
/* A capture is about to begin, and is counted: waits for calls that began before it, for 100 ms at most. */
void gmt_cache_let_begin(void);

/* ---- contexts.c --------------------------------------------------------------------------------- */

/* Is it the only context of the process? */
bool gmt_contexts_is_only(CUcontext context);
/* Is it one that the program has created, and no primary one? */
bool gmt_contexts_is_created(CUcontext context);
void gmt_contexts_destroyed(CUcontext context);

#endif
