/* SPDX-License-Identifier: Apache-2.0 */
/* One copy that the program asks for, and what fixes do with it. */
#ifndef GMT_PRELOAD_APPLY_COPY_H
#define GMT_PRELOAD_APPLY_COPY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hash/content_hash.h"

enum gmt_copy_direction { GMT_COPY_UNKNOWN, GMT_COPY_UPLOAD, GMT_COPY_DOWNLOAD };

struct gmt_copy {
    uint64_t dst, src;
    size_t bytes;
    enum gmt_copy_direction direction;
    bool is_sync; /* not one of the ...Async calls */
    CUstream
        stream; /* never NULL: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD where the call means these */
    /* The program's call, of the bytes behind the first `done`. */
    CUresult (*pass)(const struct gmt_copy *copy, size_t done);
};

/* An allocation. */
struct gmt_copy_range {
    uint64_t start, bytes;
};

static inline bool gmt_copy_is_within(uint64_t address, size_t bytes,
                                      const struct gmt_copy_range *range)
{
    return address >= range->start && bytes <= range->bytes &&
           address - range->start <= range->bytes - bytes;
}

/* Is the memory at `address` none that the driver knows: pageable? */
bool gmt_copy_is_pageable(uint64_t address);
/* Do all bytes lie in one allocation of the current device, which is not managed? That is *range then. */
bool gmt_copy_find_on_device(uint64_t address, size_t bytes, struct gmt_copy_range *range);

/* Do all bytes lie in one piece of page-locked memory that CUDA has allocated, and that the host reads fast? That is *range then. */
bool gmt_copy_find_locked(uint64_t address, size_t bytes, struct gmt_copy_range *range);

/* pageable-staging (staging.c). True: the copy is made, with `result` for the program. False: it must pass. */
bool gmt_staging_copy(struct gmt_copy *copy, CUresult *result);
/* The context ends; NULL: the primary one of the device does. */
void gmt_staging_context_ends(CUcontext context, CUdevice device);
extern _Atomic int gmt_apply_captures; /* that are under way */

/* Results that reach the host (downloads.c): the copy succeeded. */
void gmt_downloads_note(const struct gmt_copy *copy);
/* ... as rows of host memory, from device memory: such as are pageable are there when the call returns. */
void gmt_downloads_note_rows(const struct gmt_hash_range *rows);
/* ... by a call of another kind, which no digest is taken of. */
void gmt_downloads_unchecked(uint64_t bytes);
/* The program has waited for all that is in the stream; NULL: for all. */
void gmt_downloads_waited(CUstream stream);
/* Host memory is about to be freed, or not page-locked any more. 0: all of a context may be. */
void gmt_downloads_freed(uint64_t address);
/* The stream is about to be destroyed: its handle may come back as another one. */
void gmt_downloads_stream_ends(CUstream stream);

#endif
