/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps memory that is freed, and hands it out again (cache.h). */
#include "preload/apply/cache.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libtrace/record/clock.h"
#include "libtrace/threads/cancellation.h"
#include "preload/apply/apply.h"
#include "preload/apply/copy.h"
#include "preload/apply/state.h"

#define LONGEST_WAIT_NS UINT64_C(100000000) /* for what the program has not asked to wait for */

/* Calls that the driver, or a handler of a signal, makes within ours pass. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_inside;

/* Calls of ours that no capture may begin beside. */
static _Atomic int under_way;

static const struct {
    enum gmt_fix fix;
    enum gmt_fix_parameter least, most;
} rows[GMT_BLOCK_KINDS] = {
    {GMT_FIX_BLOCK_CACHE, GMT_FIX_BLOCK_CACHE_min_bytes, GMT_FIX_BLOCK_CACHE_kept_bytes},
    {GMT_FIX_PINNED_CACHE, GMT_FIX_PINNED_CACHE_min_bytes, GMT_FIX_PINNED_CACHE_kept_bytes},
};

/* ---- what the driver says ----------------------------------------------------------------------- */

static uint64_t attribute_of(uint64_t address, CUpointer_attribute attribute)
{
    uint64_t value = 0;
    return gmt_apply_driver.cuPointerGetAttribute(&value, attribute, address) == CUDA_SUCCESS
               ? value
               : 0;
}

/* False: nothing that begins there, or the context has an error that a call has returned. */
static bool identify(enum gmt_block_kind kind, uint64_t address,
                     struct gmt_block_identity *identity)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    unsigned flags = 0;
    identity->id = attribute_of(address, CU_POINTER_ATTRIBUTE_BUFFER_ID);
    if (kind == GMT_BLOCK_DEVICE) {
        bool found = gmt_apply_driver.cuMemGetAddressRange_v2(&base, &bytes, address) ==
                     CUDA_SUCCESS;
        *identity = (struct gmt_block_identity){identity->id, base, bytes};
        return found && base == address && identity->id != 0;
    }
    identity->start = attribute_of(address, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    identity->bytes = attribute_of(address, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
    return gmt_apply_driver.cuMemHostGetFlags != NULL &&
           gmt_apply_driver.cuMemHostGetFlags(&flags, (void *)(uintptr_t)address) == CUDA_SUCCESS &&
           (identity->start == 0 || identity->start == address);
}

/* Is it what it was when the program got it? */
static bool is_same(const struct gmt_block *block)
{
    struct gmt_block_identity now;
    return GMT_APPLY_MUTANT(cache_identity) || GMT_APPLY_MUTANT(cache_context) ||
           (identify(block->kind, block->address, &now) && now.id == block->identity.id &&
            now.start == block->identity.start && now.bytes == block->identity.bytes);
}

/*
 * Can the host still write it? The program may have changed that (mprotect), and it is freed then as ever. Asked is the kernel, a page
 * at a time, since it answers where a write of ours would be a fault: with the time, which nobody reads there any more. What maps the
 * driver's own pages is answered, too, as it is not by process_vm_writev.
 */
static bool is_writable(const struct gmt_block *block)
{
    int saved_errno = errno;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = block->address;
    uint64_t end = block->address + block->bytes;
    bool is = true;
    while (is && at < end && end - at >= sizeof(struct timespec)) {
        is = syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (void *)(uintptr_t)at) == 0;
        at = (at / page + 1) * page;
    }
    errno = saved_errno;
    return is;
}

/* To the driver. Its context is current meanwhile; captures are not disturbed. */
static void give_back(const struct gmt_block *block)
{
    CUcontext current = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool is_other = gmt_apply_driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
                    current != block->context;
    if (gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS) {
        return; /* CUDA ends: its memory goes with it */
    }
    if (!is_other || gmt_apply_driver.cuCtxPushCurrent_v2(block->context) == CUDA_SUCCESS) {
        if (block->kind == GMT_BLOCK_DEVICE) {
            (void)gmt_apply_driver.cuMemFree_v2(block->address);
        } else {
            (void)gmt_apply_driver.cuMemFreeHost((void *)(uintptr_t)block->address);
        }
        if (is_other) {
            (void)gmt_apply_driver.cuCtxPopCurrent_v2(&current);
        }
    }
    (void)gmt_apply_driver.cuThreadExchangeStreamCaptureMode(&mode);
}

static bool give_back_all(void)
{
    struct gmt_block block;
    bool any = false;
    for (int kind = 0; kind < GMT_BLOCK_KINDS; kind++) {
        while (gmt_kept_take_oldest((enum gmt_block_kind)kind, &block)) {
            give_back(&block);
            any = true;
        }
    }
    return any;
}

/* ---- conditions --------------------------------------------------------------------------------- */

/* From here to the end no capture begins. False: one is under way. */
static bool begin_call(void)
{
    atomic_fetch_add(&under_way, 1);
    if (atomic_load(&gmt_apply_captures) == 0 || GMT_APPLY_MUTANT(cache_capture)) {
        return true;
    }
    atomic_fetch_sub(&under_way, 1);
    return false;
}

static void end_call(void)
{
    atomic_fetch_sub(&under_way, 1);
}

void gmt_cache_let_begin(void)
{
    uint64_t began_ns = atomic_load(&under_way) != 0 ? gmt_clock_monotonic_ns() : 0;
    while (atomic_load(&under_way) != 0 && gmt_clock_monotonic_ns() - began_ns < LONGEST_WAIT_NS) {
        (void)sched_yield();
    }
}

/* GMT_REFUSAL_COUNT: nothing is against it. The context is the current one. */
static enum gmt_refusal reason_against(CUcontext *context)
{
    if (gmt_apply_driver.cuCtxGetCurrent(context) != CUDA_SUCCESS || *context == NULL) {
        return GMT_REFUSAL_OTHER_CONTEXT;
    }
    return gmt_contexts_is_only(*context) ? GMT_REFUSAL_COUNT : GMT_REFUSAL_SEVERAL;
}

/* ---- freeing ------------------------------------------------------------------------------------ */

/* False: there is no room for so much. */
static bool put_away(const struct gmt_block *block)
{
    struct gmt_block oldest;
    uint64_t most = (uint64_t)gmt_apply_plan.values[rows[block->kind].most];
    if (block->bytes > most && !GMT_APPLY_MUTANT(cache_no_limit)) {
        return false;
    }
    while (gmt_kept_bytes(block->kind) + block->bytes > most && !GMT_APPLY_MUTANT(cache_no_limit) &&
           gmt_kept_take_oldest(block->kind, &oldest)) {
        give_back(&oldest);
    }
    while (!gmt_kept_add(block)) {
        if (!gmt_kept_take_oldest(block->kind, &oldest)) {
            return false;
        }
        give_back(&oldest);
    }
    return true;
}

/* As cuMemFree does, it waits for all that the context has to do. An error of that is the driver's to return. */
static enum gmt_refusal keep(const struct gmt_block *block)
{
    CUcontext context = NULL;
    enum gmt_refusal reason = reason_against(&context);
    if (reason != GMT_REFUSAL_COUNT && !GMT_APPLY_MUTANT(cache_several)) {
        return reason;
    }
    if (context != block->context) {
        return GMT_REFUSAL_OTHER_CONTEXT;
    }
    if (block->is_shown && !GMT_APPLY_MUTANT(cache_shown)) {
        return GMT_REFUSAL_SHOWN;
    }
    if (!GMT_APPLY_MUTANT(cache_no_wait) && gmt_apply_driver.cuCtxSynchronize() != CUDA_SUCCESS) {
        return GMT_APPLY_MUTANT(cache_error) ? GMT_REFUSAL_COUNT : GMT_REFUSAL_DRIVER;
    }
    if (!is_same(block)) {
        return GMT_REFUSAL_CHANGED;
    }
    if (block->kind == GMT_BLOCK_LOCKED && !is_writable(block)) {
        return GMT_REFUSAL_PROTECTED;
    }
    return put_away(block) ? GMT_REFUSAL_COUNT : GMT_REFUSAL_KEPT_FULL;
}

CUresult gmt_cache_free(const struct gmt_cache_call *call)
{
    struct gmt_block block;
    enum gmt_refusal reason = GMT_REFUSAL_FORKED;
    CUresult result = CUDA_SUCCESS;
    if (is_inside || gmt_apply_is_forked()) {
        return call->pass(call);
    }
    is_inside = true;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (!GMT_APPLY_MUTANT(cache_twice) && gmt_kept_take_at(call->address, &block)) {
        give_back(&block); /* freed twice, or in the middle: the driver says so */
    } else if (gmt_blocks_remove(call->kind, call->address, &block)) {
        reason = begin_call() ? GMT_REFUSAL_COUNT : GMT_REFUSAL_CAPTURE;
        if (reason == GMT_REFUSAL_COUNT) {
            reason = keep(&block);
            end_call();
        }
        if (reason != GMT_REFUSAL_COUNT) {
            gmt_apply_refuse(rows[call->kind].fix, reason, block.bytes);
        }
    }
    gmt_cancellation_allow(of_program);
    if (reason != GMT_REFUSAL_COUNT) {
        result = call->pass(call);
    }
    is_inside = false;
    return result;
}

/* ---- allocating --------------------------------------------------------------------------------- */

static bool find(const struct gmt_cache_call *call, CUcontext context, struct gmt_block *block)
{
    const struct gmt_block like = {
        .bytes = call->bytes, .kind = call->kind, .flags = call->flags, .context = context};
    while (gmt_kept_take(&like, block)) {
        if (is_same(block)) {
            return true;
        } /* else its context has gone, with it: what is there now is not ours */
    }
    return false;
}

static void hand_out(const struct gmt_cache_call *call, struct gmt_block *block)
{
    if (call->kind == GMT_BLOCK_LOCKED && gmt_apply_plan.values[GMT_FIX_PINNED_CACHE_clear] != 0 &&
        !GMT_APPLY_MUTANT(cache_no_clear)) {
        memset((void *)(uintptr_t)block->address, 0, block->bytes);
    }
    *call->out = block->address;
    gmt_blocks_add(block);
    gmt_apply_count(rows[call->kind].fix, block->bytes, 0);
}

/* What the driver has allocated, in case that it is freed. */
static void note(const struct gmt_cache_call *call, CUcontext context)
{
    struct gmt_block block = {.address = *call->out,
                              .bytes = call->bytes,
                              .kind = call->kind,
                              .flags = call->flags,
                              .context = context};
    if (identify(call->kind, block.address, &block.identity)) {
        gmt_blocks_add(&block);
    } else {
        gmt_apply_refuse(rows[call->kind].fix, GMT_REFUSAL_DRIVER, block.bytes);
    }
}

/* GMT_REFUSAL_COUNT: it is done. */
static enum gmt_refusal allocate(const struct gmt_cache_call *call, CUcontext *context)
{
    struct gmt_block block;
    if (call->bytes < (size_t)gmt_apply_plan.values[rows[call->kind].least]) {
        return GMT_REFUSAL_SMALL;
    }
    if (!begin_call()) {
        return GMT_REFUSAL_CAPTURE;
    }
    enum gmt_refusal reason = reason_against(context);
    if (reason == GMT_REFUSAL_COUNT || GMT_APPLY_MUTANT(cache_several)) {
        reason = find(call, *context, &block) ? GMT_REFUSAL_COUNT : GMT_REFUSAL_NOT_KEPT;
    }
    if (reason == GMT_REFUSAL_COUNT) {
        hand_out(call, &block);
    }
    end_call();
    return reason;
}

CUresult gmt_cache_allocate(const struct gmt_cache_call *call)
{
    CUcontext context = NULL;
    CUresult result = CUDA_SUCCESS;
    if (is_inside || call->out == NULL || gmt_apply_is_forked()) {
        return call->pass(call);
    }
    is_inside = true;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    enum gmt_refusal reason = allocate(call, &context);
    if (reason != GMT_REFUSAL_COUNT) {
        gmt_apply_refuse(rows[call->kind].fix, reason, call->bytes);
        gmt_cancellation_allow(of_program);
        result = call->pass(call);
        of_program = gmt_cancellation_hold();
        if (reason == GMT_REFUSAL_NOT_KEPT && result == CUDA_SUCCESS) {
            note(call, context);
        }
    }
    is_inside = false;
    gmt_cancellation_allow(of_program);
    return result;
}

/* ---- what would show it ------------------------------------------------------------------------- */

/* Begins work of ours beside a call of the program. False: there is nothing to do, or it must not be done. */
static bool begin_beside(bool concerns_kept, struct gmt_cancellation *of_program)
{
    if (is_inside || (concerns_kept && gmt_kept_count() == 0) || gmt_apply_is_forked()) {
        return false;
    }
    is_inside = true;
    *of_program = gmt_cancellation_hold();
    return true;
}

static void end_beside(struct gmt_cancellation of_program)
{
    is_inside = false;
    gmt_cancellation_allow(of_program);
}

bool gmt_apply_make_room(void)
{
    struct gmt_cancellation of_program;
    if (GMT_APPLY_MUTANT(cache_no_room) || !begin_beside(true, &of_program)) {
        return false;
    }
    bool any = give_back_all();
    end_beside(of_program);
    return any;
}

/* Has the current context done all its work, or does so within LONGEST_WAIT_NS? No capture is under way. */
static bool becomes_idle(void)
{
    CUcontext context = NULL;
    CUevent event = NULL;
    if (gmt_apply_driver.cuCtxRecordEvent == NULL || GMT_APPLY_MUTANT(cache_waits) ||
        gmt_apply_driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS ||
        gmt_apply_driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        return true; /* an older driver cannot say */
    }
    CUresult result = gmt_apply_driver.cuCtxRecordEvent(context, event);
    uint64_t began_ns = gmt_clock_monotonic_ns();
    while (result == CUDA_SUCCESS &&
           (result = gmt_apply_driver.cuEventQuery(event)) == CUDA_ERROR_NOT_READY &&
           gmt_clock_monotonic_ns() - began_ns < LONGEST_WAIT_NS) {
        result = CUDA_SUCCESS;
        (void)sched_yield();
    }
    (void)gmt_apply_driver.cuEventDestroy_v2(event);
    return result != CUDA_ERROR_NOT_READY;
}

uint64_t gmt_cache_give_back(void)
{
    struct gmt_cancellation of_program;
    uint64_t left = 0;
    if (begin_beside(true, &of_program)) {
        if (begin_call()) {
            if (becomes_idle()) {
                (void)give_back_all();
            }
            end_call();
        }
        left = gmt_kept_bytes(GMT_BLOCK_DEVICE);
        end_beside(of_program);
    }
    return left;
}

void gmt_cache_named(uint64_t address)
{
    struct gmt_cancellation of_program;
    struct gmt_block block;
    if (!GMT_APPLY_MUTANT(cache_named) && begin_beside(true, &of_program)) {
        if (gmt_kept_take_at(address, &block)) {
            give_back(&block);
        }
        end_beside(of_program);
    }
}

void gmt_cache_show(uint64_t address)
{
    struct gmt_cancellation of_program;
    CUdeviceptr base = 0;
    if (begin_beside(false, &of_program)) {
        if (gmt_apply_driver.cuMemGetAddressRange_v2(&base, NULL, address) == CUDA_SUCCESS) {
            gmt_blocks_show(base);
        }
        gmt_blocks_show(attribute_of(address, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR));
        gmt_blocks_show(address);
        end_beside(of_program);
    }
}

/* ---- ends of contexts --------------------------------------------------------------------------- */

void gmt_cache_context_ends(void)
{
    struct gmt_cancellation of_program;
    if (!GMT_APPLY_MUTANT(cache_context) && begin_beside(false, &of_program)) {
        (void)give_back_all(); /* that waits, as ending it does */
        gmt_blocks_forget();
        end_beside(of_program);
    }
}

void gmt_cache_context_ended(void)
{
    struct gmt_cancellation of_program;
    struct gmt_block block;
    if (begin_beside(false, &of_program)) {
        for (int kind = 0; kind < GMT_BLOCK_KINDS; kind++) {
            while (gmt_kept_take_oldest((enum gmt_block_kind)kind, &block)) {
            }
        }
        gmt_blocks_forget();
        end_beside(of_program);
    }
}
