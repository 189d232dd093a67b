/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pageable-staging (GM102, GM103): copies between pageable host memory and the device pass a page-locked ring of ours.
 *
 * What is kept, as CUDA's API documents synchronization of copies:
 * - The copies of the ring are in the stream that the program named, at the place where its copy would be.
 * - An upload reads its source in the call. Without Async the stream is waited for first, so errors of earlier work come back
 *   from this call; with Async nothing is waited for: what finds no free piece is left to the driver. The call
 *   may return before the device has the bytes, as the driver's may.
 * - A download returns when the bytes are in the caller's buffer; errors of earlier work come back from it.
 *
 * Conditions; in doubt the call passes unchanged:
 * - the host side is mapped and pageable at its first and last byte, the device side lies in one allocation of this device's memory;
 * - the stream is one of the ring's context, which is current; no stream of the process is being captured;
 * - no other thread uses the ring, and a piece of it is free;
 * - the ring is made in a call that waits for the device anyway: page-locking may wait for it, too.
 */
#include <cuda.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/apply/copy.h"
#include "preload/apply/copy_threads.h"
#include "preload/apply/ring.h"
#include "preload/apply/state.h"

_Atomic int gmt_apply_captures;

#define MOST_PENDING 64

/* ---- conditions --------------------------------------------------------------------------------- */

/* Both ends are there: with an address that is none, it is the driver that says so. */
static bool is_mapped(uint64_t address, size_t bytes)
{
    char ends[2];
    int saved_errno = errno;
    struct iovec here = {ends, sizeof(ends)};
    struct iovec there[2] = {{(void *)(uintptr_t)address, 1},
                             {(void *)(uintptr_t)(address + bytes - 1), 1}};
    bool mapped = process_vm_readv(getpid(), &here, 1, there, 2, 0) == (ssize_t)sizeof(ends);
    errno = saved_errno;
    return mapped;
}

static bool is_pageable(uint64_t address, size_t bytes)
{
    return gmt_copy_is_pageable(address) && gmt_copy_is_pageable(address + bytes - 1) &&
           is_mapped(address, bytes);
}

static bool is_stream_of(CUstream stream, CUcontext context)
{
    CUcontext found = NULL;
    return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
           (gmt_apply_driver.cuStreamGetCtx(stream, &found) == CUDA_SUCCESS && found == context);
}

static bool is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return atomic_load(&gmt_apply_captures) != 0 ||
           gmt_apply_driver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* A call that is about no pageable memory is no business of this fix, and counts as none. */
static bool concerns(struct gmt_copy *copy)
{
    if (copy->direction == GMT_COPY_UNKNOWN) {
        bool from_host = gmt_copy_is_pageable(copy->src), to_host = gmt_copy_is_pageable(copy->dst);
        copy->direction = from_host == to_host ? GMT_COPY_UNKNOWN
                          : from_host          ? GMT_COPY_UPLOAD
                                               : GMT_COPY_DOWNLOAD;
    }
    return copy->direction != GMT_COPY_UNKNOWN && copy->bytes != 0;
}

/* All but what needs the ring. GMT_REFUSAL_COUNT: nothing is against it. */
static enum gmt_refusal reason_against(const struct gmt_copy *copy, CUcontext *context)
{
    bool up = copy->direction == GMT_COPY_UPLOAD;
    uint64_t host = up ? copy->src : copy->dst, device = up ? copy->dst : copy->src;
    if (copy->bytes < (size_t)gmt_apply_plan.values[GMT_FIX_PAGEABLE_STAGING_min_bytes]) {
        return GMT_REFUSAL_SMALL;
    }
    if (gmt_apply_is_forked()) {
        return GMT_REFUSAL_FORKED;
    }
    if (gmt_apply_driver.cuCtxGetCurrent(context) != CUDA_SUCCESS || *context == NULL ||
        !is_stream_of(copy->stream, *context)) {
        return GMT_REFUSAL_CONTEXT;
    }
    if (!GMT_APPLY_MUTANT(capture) && is_captured(copy->stream)) {
        return GMT_REFUSAL_CAPTURE;
    }
    if (!GMT_APPLY_MUTANT(any_range) &&
        !gmt_copy_find_on_device(device, copy->bytes, &(struct gmt_copy_range){0, 0})) {
        return GMT_REFUSAL_DEVICE_MEMORY;
    }
    if (!GMT_APPLY_MUTANT(any_host) && !is_pageable(host, copy->bytes)) {
        return GMT_REFUSAL_LOCKED_MEMORY;
    }
    return GMT_REFUSAL_COUNT;
}

/* ---- uploads ------------------------------------------------------------------------------------ */

static size_t part_of(size_t bytes, size_t done)
{
    size_t left = bytes - done, most = gmt_staging_piece_bytes();
    return left < most && !GMT_APPLY_MUTANT(whole_pieces) ? left : most;
}

static CUstream stream_of(const struct gmt_copy *copy)
{
    return GMT_APPLY_MUTANT(other_stream) ? CU_STREAM_PER_THREAD : copy->stream;
}

/* Puts pieces into the stream while there are free ones; returns how many bytes have gone. */
static size_t send(const struct gmt_copy *copy, CUresult *result)
{
    size_t done = 0;
    while (done < copy->bytes && *result == CUDA_SUCCESS) {
        size_t part = part_of(copy->bytes, done);
        /* Pieces of this copy are known to move on where the stream was waited for. */
        struct gmt_staging_piece *piece = copy->is_sync && done != 0 ? gmt_ring_await(copy->stream)
                                                                     : gmt_ring_find();
        if (piece == NULL) {
            break;
        }
        if (!GMT_APPLY_MUTANT(stage_late)) {
            gmt_copy_threads_copy(piece->memory, (const void *)(uintptr_t)(copy->src + done), part);
        }
        *result = gmt_apply_driver.cuMemcpyHtoDAsync_v2(
            copy->dst + done + (GMT_APPLY_MUTANT(wrong_place) && done != 0 ? 1 : 0), piece->memory,
            part, stream_of(copy));
        if (*result == CUDA_SUCCESS) {
            *result = gmt_ring_submitted(piece, stream_of(copy));
        }
        if (GMT_APPLY_MUTANT(stage_late)) {
            gmt_copy_threads_copy(piece->memory, (const void *)(uintptr_t)(copy->src + done), part);
        }
        done += part;
    }
    return done;
}

/* Both return how many bytes were copied; the driver copies the rest. */
static size_t upload(const struct gmt_copy *copy, CUresult *result)
{
    *result = copy->is_sync && !GMT_APPLY_MUTANT(no_wait_first)
                  ? gmt_apply_driver.cuStreamSynchronize(copy->stream)
                  : CUDA_SUCCESS;
    return *result == CUDA_SUCCESS ? send(copy, result) : 0;
}

/* ---- downloads ---------------------------------------------------------------------------------- */

struct asked_pieces {
    struct gmt_staging_piece *pieces[MOST_PENDING];
    unsigned first, count;
};

/* Asks for as many pieces as are free. Returns how many bytes have been asked for so far. */
static size_t ask(const struct gmt_copy *copy, size_t asked, struct asked_pieces *pending,
                  CUresult *result)
{
    while (asked < copy->bytes && pending->count < MOST_PENDING && *result == CUDA_SUCCESS) {
        size_t part = part_of(copy->bytes, asked);
        struct gmt_staging_piece *piece = gmt_ring_find();
        if (piece == NULL) {
            break;
        }
        *result = gmt_apply_driver.cuMemcpyDtoHAsync_v2(
            piece->memory, copy->src + (GMT_APPLY_MUTANT(wrong_source) ? 0 : asked), part,
            stream_of(copy));
        if (*result == CUDA_SUCCESS) {
            *result = gmt_ring_submitted(piece, stream_of(copy));
        }
        piece->is_held = true;
        pending->pieces[(pending->first + pending->count++) % MOST_PENDING] = piece;
        asked += part;
    }
    return asked;
}

static size_t download(const struct gmt_copy *copy, CUresult *result)
{
    struct asked_pieces pending = {.count = 0};
    size_t asked = 0, done = 0;
    *result = CUDA_SUCCESS;
    while (done < copy->bytes && *result == CUDA_SUCCESS &&
           !(GMT_APPLY_MUTANT(returns_early) && done != 0)) {
        asked = ask(copy, asked, &pending, result);
        if (*result != CUDA_SUCCESS || pending.count == 0) {
            break;
        }
        /* A piece that was taken is free again: once there is one, there will be one for all. */
        struct gmt_staging_piece *piece =
            pending
                .pieces[(pending.first + (GMT_APPLY_MUTANT(newest_first) ? pending.count - 1 : 0)) %
                        MOST_PENDING];
        size_t part = part_of(copy->bytes, done);
        pending.first = (pending.first + 1) % MOST_PENDING;
        pending.count--;
        *result = gmt_ring_wait(piece);
        if (*result == CUDA_SUCCESS) {
            gmt_copy_threads_copy((void *)(uintptr_t)(copy->dst + done), piece->memory, part);
            done += part;
        }
        piece->is_held = false;
    }
    for (; pending.count != 0; pending.count--) { /* an error: nobody wants these bytes */
        pending.pieces[pending.first]->is_held = false;
        pending.first = (pending.first + 1) % MOST_PENDING;
    }
    return GMT_APPLY_MUTANT(returns_early) ? copy->bytes : done;
}

/* ---- the fix ------------------------------------------------------------------------------------ */

static enum gmt_refusal prepare_ring(const struct gmt_copy *copy, CUcontext context)
{
    if (gmt_ring_context() == NULL) {
        bool waits = copy->is_sync || copy->direction == GMT_COPY_DOWNLOAD;
        return waits && gmt_ring_make(context) ? GMT_REFUSAL_COUNT : GMT_REFUSAL_NO_RING;
    }
    return gmt_ring_context() == context || GMT_APPLY_MUTANT(keep_ring) ? GMT_REFUSAL_COUNT
                                                                        : GMT_REFUSAL_CONTEXT;
}

/* False: the call passes as it is. */
static bool copy_by_ring(const struct gmt_copy *copy, CUcontext context, CUresult *result,
                         size_t *done)
{
    enum gmt_refusal reason = gmt_ring_take() ? GMT_REFUSAL_COUNT : GMT_REFUSAL_OTHER_THREAD;
    bool taken = reason == GMT_REFUSAL_COUNT;
    *done = 0;
    if (taken) {
        reason = prepare_ring(copy, context);
    }
    if (reason == GMT_REFUSAL_COUNT) {
        *done = copy->direction == GMT_COPY_UPLOAD ? upload(copy, result) : download(copy, result);
        reason = *done == 0 && *result == CUDA_SUCCESS ? GMT_REFUSAL_RING_FULL : GMT_REFUSAL_COUNT;
    }
    if (taken) {
        gmt_ring_release();
    }
    if (reason == GMT_REFUSAL_COUNT) {
        gmt_apply_count(GMT_FIX_PAGEABLE_STAGING, *done, copy->bytes - *done);
    } else {
        gmt_apply_refuse(GMT_FIX_PAGEABLE_STAGING, reason, copy->bytes);
    }
    return reason == GMT_REFUSAL_COUNT;
}

bool gmt_staging_copy(struct gmt_copy *copy, CUresult *result)
{
    CUcontext context = NULL;
    size_t done = 0;
    /* What of ours could disturb a capture that another thread begins meanwhile is allowed in this mode. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    *result = CUDA_SUCCESS;
    if (!concerns(copy)) {
        return false;
    }
    enum gmt_refusal reason = reason_against(copy, &context);
    if (reason != GMT_REFUSAL_COUNT) {
        gmt_apply_refuse(GMT_FIX_PAGEABLE_STAGING, reason, copy->bytes);
        return false;
    }
    if (gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS) {
        gmt_apply_refuse(GMT_FIX_PAGEABLE_STAGING, GMT_REFUSAL_CAPTURE, copy->bytes);
        return false;
    }
    bool made = copy_by_ring(copy, context, result, &done);
    (void)gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode);
    if (made && *result == CUDA_SUCCESS && done < copy->bytes && !GMT_APPLY_MUTANT(no_rest)) {
        *result = copy->pass(copy, done);
    }
    return made;
}

void gmt_staging_context_ends(CUcontext context, CUdevice device)
{
    if (gmt_apply_is_forked() || !gmt_ring_take()) {
        return; /* a copy that is under way in a context that ends is the program's fault */
    }
    CUcontext own = gmt_ring_context();
    if (own != NULL && (context != NULL ? own == context : gmt_ring_device() == device) &&
        !GMT_APPLY_MUTANT(keep_ring)) {
        gmt_ring_forget();
    }
    gmt_ring_release();
}
