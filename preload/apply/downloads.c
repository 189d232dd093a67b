/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of what comes back to the host, so that `gmtrace try` can compare runs with and without fixes.
 *
 * A copy that is done when its call returns is looked at then; one into page-locked memory, without a wait, when the program has
 * waited for its stream. What the program never waits for in such a call counts as unchecked.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/apply/copy.h"
#include "preload/apply/state.h"
#include "preload/hash/content_hash.h"

#define MOST_PENDING 256

struct awaited_download {
    uint64_t address, bytes, call;
    uint32_t thread;
    CUstream stream;
};

static _Atomic bool taken; /* the list below; no driver call is made while it is */
static struct awaited_download pending[MOST_PENDING];
static unsigned pending_count;

/* The number of this thread among those that download, and of its download. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    uint32_t number; /* + 1 */
    bool holds; /* it takes `taken` or has it: a signal's handler within must not wait for it */
    uint64_t calls;
} thread;

static struct gmt_try_process *own_process(void)
{
    struct gmt_try_note *note = gmt_apply_note();
    uint32_t process = gmt_apply_process();
    return note != NULL && process < GMT_TRY_PROCESSES ? &note->process[process] : NULL;
}

static void add_unchecked(int64_t calls, int64_t bytes)
{
    struct gmt_try_process *process = own_process();
    if (process != NULL) {
        __atomic_fetch_add(&process->unchecked_calls, (uint64_t)calls, __ATOMIC_RELAXED);
        __atomic_fetch_add(&process->unchecked_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
    }
}

static bool write_digest_of(const struct gmt_hash_range *range, uint32_t number, uint64_t call)
{
    struct gmt_try_note *note = gmt_apply_note();
    uint32_t at = __atomic_fetch_add(&note->downloads, 1, __ATOMIC_RELAXED);
    if (at >= GMT_TRY_DOWNLOADS) {
        return false;
    }
    struct gmt_hash hash = gmt_hash_of(range, SIZE_MAX);
    note->download[at] = (struct gmt_try_download){
        .low = hash.low,
        .high = hash.high,
        .bytes = range->width * range->rows,
        .process = gmt_apply_process(),
        .thread = number,
        .call = call,
    };
    return true;
}

static bool write_digest(const struct awaited_download *of)
{
    const struct gmt_hash_range range = {
        .start = (const void *)(uintptr_t)of->address, .width = of->bytes, .rows = 1};
    return write_digest_of(&range, of->thread, of->call);
}

static uint32_t thread_number(struct gmt_try_process *process)
{
    if (thread.number == 0) {
        thread.number = __atomic_add_fetch(&process->threads, 1, __ATOMIC_RELAXED);
    }
    return thread.number - 1;
}

/* Waits while another thread hashes: whether a download is compared must not depend on what others do meanwhile. */
static bool take(void)
{
    if (thread.holds || gmt_apply_is_forked()) {
        return false;
    }
    /* Before it is taken, and until it is given back: a handler may come at any moment. */
    thread.holds = true;
    atomic_signal_fence(memory_order_seq_cst);
    while (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        (void)sched_yield();
    }
    return true;
}

static void release(void)
{
    atomic_store_explicit(&taken, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    thread.holds = false;
}

static void keep(const struct awaited_download *of)
{
    if (take()) {
        if (pending_count < MOST_PENDING) {
            pending[pending_count++] = *of;
        }
        release();
    }
}

/* What a digest may read. Managed memory may be the device's at the moment, and what is write-combined or of a device (one
 * flag) is slow or must not be read. */
enum host_place { ELSEWHERE, PAGEABLE, LOCKED, UNREADABLE };

static enum host_place place_of(uint64_t address)
{
    unsigned type = 0, managed = 1, flags = 0;
    if (gmt_copy_is_pageable(address)) {
        return PAGEABLE;
    }
    if (gmt_apply_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                               address) != CUDA_SUCCESS ||
        managed != 0) {
        return UNREADABLE;
    }
    if (gmt_apply_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
            CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_HOST) {
        return ELSEWHERE;
    }
    return gmt_apply_driver.cuMemHostGetFlags != NULL &&
                   gmt_apply_driver.cuMemHostGetFlags(&flags, (void *)(uintptr_t)address) ==
                       CUDA_SUCCESS &&
                   (flags & CU_MEMHOSTALLOC_WRITECOMBINED) == 0
               ? LOCKED
               : UNREADABLE;
}

void gmt_downloads_note(const struct gmt_copy *copy)
{
    struct gmt_try_process *process = own_process();
    if (process == NULL || copy->direction == GMT_COPY_UPLOAD || copy->bytes == 0) {
        return;
    }
    enum host_place place = place_of(copy->dst);
    if (place == ELSEWHERE && copy->direction == GMT_COPY_UNKNOWN) {
        return;
    }
    struct awaited_download of = {copy->dst, copy->bytes, thread.calls++, thread_number(process),
                                  copy->stream};
    bool is_done = place == PAGEABLE || (place == LOCKED && copy->is_sync);
    if (is_done && write_digest(&of)) {
        return;
    }
    add_unchecked(1, (int64_t)copy->bytes);
    if (place == LOCKED && !is_done) {
        keep(&of);
    }
}

void gmt_downloads_note_rows(const struct gmt_hash_range *rows)
{
    struct gmt_try_process *process = own_process();
    if (process != NULL && place_of((uint64_t)(uintptr_t)rows->start) == PAGEABLE) {
        uint32_t number = thread_number(process);
        if (write_digest_of(rows, number, thread.calls++)) {
            return;
        }
    }
    gmt_downloads_unchecked((uint64_t)rows->width * rows->rows);
}

void gmt_downloads_unchecked(uint64_t bytes)
{
    add_unchecked(1, (int64_t)bytes);
}

void gmt_downloads_waited(CUstream stream)
{
    if (!take()) {
        return;
    }
    unsigned left = 0;
    for (unsigned i = 0; i < pending_count; i++) {
        if (stream != NULL && pending[i].stream != stream) {
            pending[left++] = pending[i];
        } else if (write_digest(&pending[i])) {
            add_unchecked(-1, -(int64_t)pending[i].bytes);
        }
    }
    pending_count = left;
    release();
}

/* Forgets those from an address on, or of a stream. */
static void forget(uint64_t from, CUstream stream)
{
    unsigned left = 0;
    if (!take()) { /* others are hashed, and must not go meanwhile */
        return;
    }
    for (unsigned i = 0; i < pending_count; i++) {
        if (stream != NULL ? pending[i].stream != stream : pending[i].address < from) {
            pending[left++] = pending[i];
        }
    }
    pending_count = left;
    release();
}

/* The size of what is freed is not known: nothing of it is looked at any more, nor of what may be. */
void gmt_downloads_freed(uint64_t address)
{
    forget(address, NULL);
}

void gmt_downloads_stream_ends(CUstream stream)
{
    forget(0, stream);
}
