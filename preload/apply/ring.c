/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of page-locked pieces (ring.h). */
#include "preload/apply/ring.h"

#include <sched.h>
#include <stdatomic.h>

#include "libtrace/record/clock.h"
#include "preload/apply/state.h"

#define MOST_PIECES 64
#define MOST_RINGS 4                 /* programs that end contexts again and again get no more */
#define AWAIT_NS UINT64_C(100000000) /* a piece of 64 MiB takes 10 ms where the bus is slow */

static _Atomic bool taken;
static struct {
    CUcontext context;
    CUdevice device;
    unsigned next, made;
    struct gmt_staging_piece pieces[MOST_PIECES];
} ring;

static unsigned piece_count(void)
{
    return (unsigned)gmt_apply_plan.values[GMT_FIX_PAGEABLE_STAGING_pieces];
}

size_t gmt_staging_piece_bytes(void)
{
    return (size_t)gmt_apply_plan.values[GMT_FIX_PAGEABLE_STAGING_piece_bytes];
}

bool gmt_ring_take(void)
{
    return !atomic_exchange_explicit(&taken, true, memory_order_acquire) ||
           GMT_APPLY_MUTANT(no_lock);
}

void gmt_ring_release(void)
{
    atomic_store_explicit(&taken, false, memory_order_release);
}

CUcontext gmt_ring_context(void)
{
    return ring.context;
}

CUdevice gmt_ring_device(void)
{
    return ring.device;
}

/* Events wait as the context does: those of a context that blocks must not spin. */
static unsigned event_flags(void)
{
    unsigned flags = 0;
    bool blocks = gmt_apply_driver.cuCtxGetFlags(&flags) == CUDA_SUCCESS &&
                  (flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC;
    return CU_EVENT_DISABLE_TIMING | (blocks ? (unsigned)CU_EVENT_BLOCKING_SYNC : 0u);
}

bool gmt_ring_make(CUcontext context)
{
    void *memory = NULL;
    unsigned count = piece_count(), flags = event_flags(), events = 0;
    if (ring.made >= MOST_RINGS || gmt_apply_driver.cuCtxGetDevice(&ring.device) != CUDA_SUCCESS) {
        return false;
    }
    ring.made++;
    if (gmt_apply_driver.cuMemHostAlloc(&memory, gmt_staging_piece_bytes() * count, 0) !=
        CUDA_SUCCESS) {
        return false;
    }
    while (events < count &&
           gmt_apply_driver.cuEventCreate(&ring.pieces[events].event, flags) == CUDA_SUCCESS) {
        events++;
    }
    if (events < count) {
        (void)gmt_apply_driver.cuMemFreeHost(memory); /* the events go with the context */
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        ring.pieces[i].memory = (uint8_t *)memory + i * gmt_staging_piece_bytes();
        ring.pieces[i].is_used = false;
        ring.pieces[i].is_held = false;
    }
    ring.next = 0;
    ring.context = context;
    return true;
}

void gmt_ring_forget(void)
{
    ring.context = NULL;
}

static bool is_free(struct gmt_staging_piece *piece)
{
    if (piece->is_held && !GMT_APPLY_MUTANT(no_hold)) {
        return false;
    }
    if (piece->is_used && (GMT_APPLY_MUTANT(reuse_at_once) ||
                           gmt_apply_driver.cuEventQuery(piece->event) == CUDA_SUCCESS)) {
        piece->is_used = false;
    }
    return !piece->is_used;
}

/* The oldest ones come first: what follows one that is under way in the same stream need not be asked. */
struct gmt_staging_piece *gmt_ring_find(void)
{
    unsigned count = piece_count();
    for (unsigned i = 0; i < count; i++) {
        struct gmt_staging_piece *piece = &ring.pieces[(ring.next + i) % count];
        if (is_free(piece)) {
            ring.next = (ring.next + i + 1) % count;
            return piece;
        }
    }
    return NULL;
}

struct gmt_staging_piece *gmt_ring_await(CUstream stream)
{
    unsigned count = piece_count(), own = 0;
    struct gmt_staging_piece *piece = gmt_ring_find();
    for (unsigned i = 0; i < count; i++) {
        own += ring.pieces[i].is_used && ring.pieces[i].stream == stream;
    }
    uint64_t began_ns = piece == NULL && own != 0 ? gmt_clock_monotonic_ns() : 0;
    while (piece == NULL && own != 0 && gmt_clock_monotonic_ns() - began_ns < AWAIT_NS) {
        (void)sched_yield();
        piece = gmt_ring_find();
    }
    return piece;
}

CUresult gmt_ring_submitted(struct gmt_staging_piece *piece, CUstream stream)
{
    piece->stream = stream;
    piece->is_used = true;
    return GMT_APPLY_MUTANT(no_record) ? CUDA_SUCCESS
                                       : gmt_apply_driver.cuEventRecord(piece->event, stream);
}

CUresult gmt_ring_wait(struct gmt_staging_piece *piece)
{
    CUresult result = GMT_APPLY_MUTANT(no_wait) ? CUDA_SUCCESS
                                                : gmt_apply_driver.cuEventSynchronize(piece->event);
    if (GMT_APPLY_MUTANT(no_error)) {
        result = CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS) {
        piece->is_used = false;
    }
    return result;
}
