/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows-in-one and gathered-copies have in common: uploads without Async in the legacy stream whose bytes are taken at the call,
 * and which go to the device together, as few copies.
 *
 * CUDA documents of such a copy from pageable memory that it waits for the stream, and returns when its source has been read; the device
 * may get the bytes later. So what has to be kept is the place in the stream, and that the bytes arrive without a further call. One from page-locked
 * memory returns when the bytes are there, so a batch that has one is waited for when it is issued; no device writes to such a source meanwhile, as none
 * has work. Memory that the program has registered, or that the host reads slowly (write-combined), passes (LOCKED_MEMORY).
 *
 * When the meaning could change, and what is done about it:
 * - Source changed after the call returned: its bytes are copied in the call.
 * - Work of any stream, events, waits, queries, allocations, frees, captures, contexts, downloads, other copies, of any thread:
 *   each call of the driver that has a hook has the batch issued first, in its own thread and in the legacy stream (every_call.h); those
 *   without one neither touch memory and streams nor wait. So an event that is recorded, or memory that is freed, comes behind the batch. A call that began in
 *   another thread before the batch did and is not over yet is concurrent with the copies, which were unordered with it without us, too.
 * - Work that is under way when the copy is made, which it would wait for, and whose error it would return: a batch begins only
 *   behind two copies that the driver has made in the same stream without an error, with no other call in between, of any thread (NOT_QUIET).
 * - Work in streams that do not wait for the legacy one, and that may look at the memory meanwhile: each of them is asked when a
 *   batch may begin, of one that was destroyed with work an event behind that; while there are more than 256, nobody is asked and nothing is held
 *   back (BUSY). Streams of other contexts: the process has one context (SEVERAL).
 * - Whoever looks at device memory without a call of this process: IPC, peers, imported and exported memory, graphics, RDMA
 *   (attributes that are set, handles for the bus): no copy is held back from the first such call on (SHARED). Managed memory,
 *   which the host reads, and page-locked memory are never the destination (DEVICE_MEMORY). The bytes go at the latest after most_us,
 *   by a thread of ours.
 * - Errors of the batch itself: each copy was checked (an allocation of this device, memory that can be read), so there are none but of
 *   the device's end. Such an error is returned by the call that had the batch issued, or the next one.
 * - Captures: none is under way (CAPTURE); one that begins has the batch issued first, and waits until nobody asks a stream.
 * - The context ends, or another one is current: the end of a context is a call as others; the batch is issued in the context of its copies.
 * - The process ends: an exit handler issues the batch and ends all; what _exit leaves, nobody can see, as the memory goes with it.
 * - fork: the child, which may not use CUDA, neither issues nor locks (FORKED).
 * - A handler of a signal that calls CUDA within ours passes, as with the other fixes.
 * - Copies of a batch that overlap: they are issued in the order of the calls in one stream, and one copy of several rows never overlaps itself.
 * - Calls of functions that have no hook: from the first that is known of on, nothing is held back (UNSEEN).
 */
#ifndef GMT_PRELOAD_APPLY_GATHER_H
#define GMT_PRELOAD_APPLY_GATHER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/apply/copy.h"
#include "preload/apply/note.h"
#include "preload/driver/hook_ids.h"

/* Copies that came one behind the other, with no other call in between. */
struct gmt_copy_row {
    uint64_t dst, src;           /* of the last one */
    size_t bytes;                /* all have as many */
    uint64_t dst_step, src_step; /* from one to the next, where there are two and more */
    unsigned count;
};

/* What a fix has against holding back this copy, which comes behind `row`; GMT_REFUSAL_COUNT: nothing. */
enum gmt_refusal gmt_rows_against(const struct gmt_copy *copy, const struct gmt_copy_row *row);
enum gmt_refusal gmt_small_copies_against(const struct gmt_copy *copy);

/* At the start, once: for those of both fixes that are on. `is_copy`: what is shown to gmt_gather_copy. */
void gmt_gather_start(bool (*is_copy)(enum gmt_hook_id id));

/* A copy of the program. True: it is done, with *result. False: it passes, and is shown to gmt_gather_passed then, with *count. */
bool gmt_gather_copy(struct gmt_copy *copy, CUresult *result, uint64_t *count);
void gmt_gather_passed(const struct gmt_copy *copy, CUresult result, uint64_t count);

/* A capture is about to begin, and is counted: returns when no stream is asked any more. */
void gmt_gather_let_begin(void);
/* A context ends, or the primary one of a device (NULL). */
void gmt_gather_context_ends(CUcontext context, CUdevice device);

/* ---- gather_streams.c, for the holder of the batch ---------------------------------------------- */

/* Has no stream that does not wait for the legacy one anything to do? */
bool gmt_streams_are_idle(void);
void gmt_streams_context_ends(CUcontext context, CUdevice device);
void gmt_streams_install(void);

/* ---- gather_batch.c ----------------------------------------------------------------------------- */

/* Wait for the batch and hold it. False: it is held by this thread. */
bool gmt_gather_hold(void);
void gmt_gather_release(void);

/* ---- gather_timer.c ----------------------------------------------------------------------------- */

/* Batch `number` has begun: due(number) is called after `longest_ns`, by a thread of ours. For the holder. False: none could be had. */
bool gmt_gather_timer_begin(uint32_t number, uint64_t longest_ns, void (*due)(uint32_t number));

#endif
