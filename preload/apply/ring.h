/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of page-locked pieces in one context. It belongs to one thread at a time, which tries to take it and never waits.
 *
 * A piece is free when the event behind its last copy is done. Pieces of other streams are only asked about: a wait for one would
 * be a wait that the program did not ask for.
 */
#ifndef GMT_PRELOAD_APPLY_RING_H
#define GMT_PRELOAD_APPLY_RING_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_staging_piece {
    uint8_t *memory; /* gmt_staging_piece_bytes() */
    CUevent event;
    CUstream stream; /* of its last copy */
    bool is_used;    /* that copy may be under way */
    bool is_held;    /* the holder of the ring has not taken the bytes yet */
};

/* False: another thread has it. */
bool gmt_ring_take(void);
void gmt_ring_release(void);

/* The context that it lies in; NULL: there is no ring. For its holder, as all that follows. */
CUcontext gmt_ring_context(void);
CUdevice gmt_ring_device(void);
/* Make it in the current context, `context`. False: it cannot be had. */
bool gmt_ring_make(CUcontext context);
/* Its context is gone, with all that was in it. */
void gmt_ring_forget(void);

size_t gmt_staging_piece_bytes(void);
/* A free piece, or NULL. */
struct gmt_staging_piece *gmt_ring_find(void);
/* Wait for a piece of this stream, which alone holds the ring up; for a bounded time. NULL: in vain. */
struct gmt_staging_piece *gmt_ring_await(CUstream stream);
/* A copy from or to the piece was put into the stream. */
CUresult gmt_ring_submitted(struct gmt_staging_piece *piece, CUstream stream);
/* Wait until the copy of that piece is done. */
CUresult gmt_ring_wait(struct gmt_staging_piece *piece);

#endif
