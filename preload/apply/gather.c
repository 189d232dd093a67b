/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which uploads are held back (gather.h), and has them issued before other calls. */
#include "preload/apply/gather.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "libtrace/threads/cancellation.h"
#include "preload/apply/cache.h"
#include "preload/apply/every_call.h"
#include "preload/apply/gather_batch.h"
#include "preload/apply/state.h"
#include "preload/driver/coverage.h"

static bool is_on;                       /* from the start on */
static size_t most_bytes[GMT_FIX_COUNT]; /* that a fix holds back; 0: it is off */

/* For the holder of the batch. Nothing but copies since: what is known holds while gmt_every_call_count is `quiet_at`. */
static struct {
    uint64_t quiet_at, passed_at, row_at;
    enum gmt_refusal not_quiet; /* GMT_REFUSAL_COUNT: it is quiet */
    CUcontext context;
    struct gmt_copy_range device;
    struct gmt_copy_range
        locked; /* page-locked memory of the source, which stays where it is: freeing it is a call */
    struct gmt_copy_row row;
} known = {.passed_at = UINT64_MAX, .not_quiet = GMT_REFUSAL_NOT_QUIET};

static const enum gmt_fix fixes[] = {GMT_FIX_ROWS_IN_ONE, GMT_FIX_GATHERED_COPIES};
enum { FIXES = sizeof(fixes) / sizeof(fixes[0]) };

/* That a call returns in place of being made: those of a device that fails are all the same. */
static _Atomic CUresult issue_error;

static CUresult return_issue_error(void)
{
    return atomic_load(&issue_error);
}

static bool may_stay(unsigned id)
{
    return GMT_APPLY_MUTANT(gather_stays) ||
           (GMT_APPLY_MUTANT(gather_event) && id == GMT_HOOK_cuEventRecord) ||
           (GMT_APPLY_MUTANT(gather_free) && id == GMT_HOOK_cuMemFree_v2);
}

static void *begin_call(unsigned id)
{
    void *next = gmt_every_call_real(id);
    if (gmt_apply_is_forked() || may_stay(id)) {
        return next;
    }
    int saved_errno = errno;
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (gmt_gather_hold()) {
        if (gmt_every_call_shares(id)) {
            gmt_batch_share();
        }
        CUresult result = gmt_batch_settle();
        if (result != CUDA_SUCCESS) {
            CUresult (*returns)(void) = return_issue_error;
            atomic_store(&issue_error, result);
            memcpy(&next, &returns, sizeof(next));
        }
        gmt_gather_release();
    }
    gmt_cancellation_allow(of_program);
    errno = saved_errno;
    return next;
}

void gmt_gather_let_begin(void)
{
    if (is_on && !gmt_apply_is_forked() && gmt_gather_hold()) {
        gmt_gather_release();
    }
}

void gmt_gather_context_ends(CUcontext context, CUdevice device)
{
    if (is_on && !gmt_apply_is_forked() && gmt_gather_hold()) {
        gmt_streams_context_ends(context, device);
        known.not_quiet = GMT_REFUSAL_NOT_QUIET;
        gmt_gather_release();
    }
}

/* Can the source be read at the call: is it pageable, or page-locked (*is_locked)? Both may lie in one page: registered memory begins anywhere. */
static bool find_source(const struct gmt_copy *copy, bool *is_locked)
{
    *is_locked = gmt_copy_is_within(copy->src, copy->bytes, &known.locked);
    if (*is_locked ||
        (gmt_copy_is_pageable(copy->src) && gmt_copy_is_pageable(copy->src + copy->bytes - 1))) {
        return true;
    }
    *is_locked = gmt_copy_find_locked(copy->src, copy->bytes, &known.locked);
    return *is_locked;
}

/* GMT_REFUSAL_COUNT: the copy is held back, or *result is an error of earlier ones. */
static enum gmt_refusal take(const struct gmt_copy *copy, enum gmt_fix fix, uint64_t count,
                             CUresult *result)
{
    if (!GMT_APPLY_MUTANT(gather_any_range) &&
        !gmt_copy_is_within(copy->dst, copy->bytes, &known.device) &&
        !gmt_copy_find_on_device(copy->dst, copy->bytes, &known.device)) {
        known.device = (struct gmt_copy_range){0, 0};
        return GMT_REFUSAL_DEVICE_MEMORY;
    }
    bool is_locked = false;
    if (!find_source(copy, &is_locked)) {
        return GMT_REFUSAL_LOCKED_MEMORY;
    }
    enum gmt_refusal reason = gmt_batch_add(copy, is_locked, &known.device, known.context,
                                            most_bytes[fix], result);
    /* A call that began meanwhile, and did not see that there is a batch, waits for nobody: neither does the batch. */
    if (reason == GMT_REFUSAL_COUNT && *result == CUDA_SUCCESS &&
        atomic_load(&gmt_every_call_count) != count) {
        *result = gmt_batch_settle();
    }
    return reason;
}

/* ---- conditions --------------------------------------------------------------------------------- */

/* An upload from memory that is the host's alone. */
static bool concerns(struct gmt_copy *copy)
{
    if (copy->direction == GMT_COPY_UNKNOWN && gmt_copy_is_pageable(copy->src) &&
        !gmt_copy_is_pageable(copy->dst)) {
        copy->direction = GMT_COPY_UPLOAD;
    }
    return copy->direction == GMT_COPY_UPLOAD && copy->bytes != 0;
}

static bool is_waiting_upload(const struct gmt_copy *copy)
{
    return copy->direction == GMT_COPY_UPLOAD && copy->bytes != 0 && copy->is_sync &&
           copy->stream == CU_STREAM_LEGACY;
}

static void follow_row(const struct gmt_copy *copy, uint64_t count)
{
    struct gmt_copy_row *row = &known.row;
    if (row->count == 0 || known.row_at != count || row->bytes != copy->bytes) {
        *row = (struct gmt_copy_row){.bytes = copy->bytes, .count = 1};
    } else {
        uint64_t dst_step = copy->dst - row->dst, src_step = copy->src - row->src;
        bool goes_on = row->count >= 2 && dst_step == row->dst_step && src_step == row->src_step;
        row->count = goes_on ? row->count + 1 : 2;
        row->dst_step = dst_step;
        row->src_step = src_step;
    }
    row->dst = copy->dst;
    row->src = copy->src;
    known.row_at = count;
}

static bool is_capturing(void)
{
    return atomic_load(&gmt_apply_captures) != 0;
}

static enum gmt_refusal reason_against(uint64_t count)
{
    CUcontext context = NULL;
    bool is_quiet = known.not_quiet == GMT_REFUSAL_COUNT && known.quiet_at == count;
    if (gmt_batch_is_shared()) {
        return GMT_REFUSAL_SHARED;
    }
    if (gmt_batch_has_ended()) {
        return GMT_REFUSAL_NO_TIMER;
    }
    if (is_capturing()) {
        return GMT_REFUSAL_CAPTURE;
    }
    if (!is_quiet && !(GMT_APPLY_MUTANT(gather_quiet) && known.context != NULL)) {
        return known.not_quiet != GMT_REFUSAL_COUNT && known.quiet_at == count
                   ? known.not_quiet
                   : GMT_REFUSAL_NOT_QUIET;
    }
    return gmt_apply_driver.cuCtxGetCurrent(&context) == CUDA_SUCCESS && context == known.context
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_OTHER_CONTEXT;
}

static enum gmt_refusal fix_against(enum gmt_fix fix, const struct gmt_copy *copy)
{
    return fix == GMT_FIX_ROWS_IN_ONE ? gmt_rows_against(copy, &known.row)
                                      : gmt_small_copies_against(copy);
}

/* True: it is held back, or an error of earlier ones is returned. What both fixes refuse passes. */
static bool hold_back(const struct gmt_copy *copy, uint64_t count, CUresult *result)
{
    enum gmt_refusal general = reason_against(count), reasons[FIXES];
    bool is_done = false;
    for (int i = 0; i < FIXES && !is_done; i++) {
        reasons[i] = general != GMT_REFUSAL_COUNT ? general : fix_against(fixes[i], copy);
        if (most_bytes[fixes[i]] != 0 && reasons[i] == GMT_REFUSAL_COUNT) {
            reasons[i] = take(copy, fixes[i], count, result);
            is_done = reasons[i] == GMT_REFUSAL_COUNT;
            if (is_done && *result == CUDA_SUCCESS) {
                gmt_apply_count(fixes[i], copy->bytes, 0);
            }
        }
    }
    for (int i = 0; i < FIXES && !is_done; i++) {
        if (most_bytes[fixes[i]] != 0) {
            gmt_apply_refuse(fixes[i], reasons[i], copy->bytes);
        }
    }
    return is_done;
}

/* A call that is none of a copy that could be held back. */
static CUresult be_other_call(void)
{
    CUresult result = CUDA_SUCCESS;
    atomic_fetch_add(&gmt_every_call_count, 1);
    if (atomic_load(&gmt_every_call_stops) != 0 && !GMT_APPLY_MUTANT(gather_stays) &&
        gmt_gather_hold()) {
        result = gmt_batch_settle();
        gmt_gather_release();
    }
    return result;
}

static void refuse_all(enum gmt_refusal reason, size_t bytes)
{
    for (int i = 0; i < FIXES; i++) {
        if (most_bytes[fixes[i]] != 0) {
            gmt_apply_refuse(fixes[i], reason, bytes);
        }
    }
}

bool gmt_gather_copy(struct gmt_copy *copy, CUresult *result, uint64_t *count)
{
    bool is_done = false;
    if (!is_on) {
        return false;
    }
    bool is_forked = gmt_apply_is_forked();
    if (is_forked || !concerns(copy) || !is_waiting_upload(copy)) {
        if (copy->direction == GMT_COPY_UPLOAD && copy->bytes != 0) {
            refuse_all(is_forked ? GMT_REFUSAL_FORKED : GMT_REFUSAL_NOT_LEGACY, copy->bytes);
        }
        *result = is_forked ? CUDA_SUCCESS : be_other_call();
        return *result != CUDA_SUCCESS;
    }
    if (!gmt_gather_hold()) {
        return false;
    }
    *count = atomic_load(&gmt_every_call_count);
    *result = CUDA_SUCCESS;
    is_done = hold_back(copy, *count, result);
    follow_row(copy, *count);
    if (!is_done) { /* what passes comes behind all that was held back */
        *result = gmt_batch_settle();
    }
    gmt_gather_release();
    return is_done || *result != CUDA_SUCCESS;
}

/* What is against a batch behind this copy, for which the driver has waited for the legacy stream and all that this waits for. */
static enum gmt_refusal not_quiet(void)
{
    if (is_capturing()) {
        return GMT_REFUSAL_CAPTURE;
    }
    if (gmt_coverage_called()) {
        return GMT_REFUSAL_UNSEEN;
    }
    if (gmt_apply_driver.cuCtxGetCurrent(&known.context) != CUDA_SUCCESS || known.context == NULL) {
        return GMT_REFUSAL_OTHER_CONTEXT;
    }
    if (!gmt_contexts_is_only(known.context)) {
        return GMT_REFUSAL_SEVERAL;
    }
    return gmt_streams_are_idle() ? GMT_REFUSAL_COUNT : GMT_REFUSAL_BUSY;
}

/* Only behind the second copy, so that single ones cost nothing. */
void gmt_gather_passed(const struct gmt_copy *copy, CUresult result, uint64_t count)
{
    if (!is_on || result != CUDA_SUCCESS || gmt_apply_is_forked() || !is_waiting_upload(copy) ||
        count != atomic_load(&gmt_every_call_count) || !gmt_gather_hold()) {
        return;
    }
    bool is_known = known.quiet_at == count && known.not_quiet == GMT_REFUSAL_COUNT;
    if (known.passed_at == count && !is_known) {
        known.not_quiet = not_quiet();
        known.quiet_at = count;
        known.device = (struct gmt_copy_range){0, 0};
        known.locked = (struct gmt_copy_range){0, 0};
    }
    known.passed_at = count;
    gmt_gather_release();
}

/* ---- the start ---------------------------------------------------------------------------------- */

void gmt_gather_start(bool (*is_copy)(enum gmt_hook_id id))
{
    static const enum gmt_fix_parameter sizes[FIXES] = {GMT_FIX_ROWS_IN_ONE_batch_bytes,
                                                        GMT_FIX_GATHERED_COPIES_batch_bytes},
                                        times[FIXES] = {GMT_FIX_ROWS_IN_ONE_most_us,
                                                        GMT_FIX_GATHERED_COPIES_most_us};
    uint64_t longest_ns = UINT64_MAX;
    size_t bytes = 0;
    for (int i = 0; i < FIXES; i++) {
        uint64_t own_ns = (uint64_t)gmt_apply_plan.values[times[i]] * 1000;
        size_t own_bytes = (size_t)gmt_apply_plan.values[sizes[i]];
        if (gmt_apply_on[fixes[i]]) {
            most_bytes[fixes[i]] = own_bytes;
            bytes = own_bytes > bytes ? own_bytes : bytes;
            longest_ns = own_ns < longest_ns ? own_ns : longest_ns;
            is_on = true;
        }
    }
    if (is_on) {
        gmt_batch_start(bytes, longest_ns);
        gmt_streams_install();
        gmt_every_call_install(begin_call, is_copy);
    }
}
