/* SPDX-License-Identifier: Apache-2.0 */
/* From an intercepted call to its record (hook_call.h). */
#include "preload/state/hook_call.h"

#include <stdatomic.h>
#include <string.h>

#include "libtrace/record/spool.h"
#include "libtrace/threads/cancellation.h"
#include "preload/driver/resolve.h"
#include "preload/overhead/overhead.h"
#include "preload/python/interpreter.h"
#include "preload/session/options.h"
#include "preload/session/session.h"
#include "preload/state/context.h"
#include "preload/state/user_ranges.h"
#include "preload/unwind/places.h"
#include "preload/unwind/stack.h"

void gmt_hook_call_ask_capture(struct gmt_hook_call *hooked)
{
    /* Not the guard's: the callbacks of a hook (hooks/callback.h) hold it already. */
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    if (gmt_stream_is_capturing(hooked->stream, (hooked->flags & GMT_CALL_PER_THREAD) != 0)) {
        hooked->flags |= GMT_CALL_CAPTURING;
    }
    gmt_cancellation_allow(of_program);
}

/* Outside of the ranges that the capture is scoped to, and while recording is switched off, these are left
 * out. Memory, streams and modules are not: what lies inside refers to them. */
static bool may_be_left_out(enum gmt_rec_type type)
{
    return type == GMT_REC_TRANSFER || type == GMT_REC_MEMSET || type == GMT_REC_LAUNCH ||
           type == GMT_REC_SYNC;
}

static _Atomic uint64_t left_out; /* calls, since recording was switched off */

/* The first call after `gmtrace off` or `gmtrace on`; side records are written before the call's own. */
static void note_switch(struct gmt_control *control, uint32_t off)
{
    if (__atomic_exchange_n(&control->switch_seen, off, __ATOMIC_RELAXED) == off) {
        return; /* another thread was first */
    }
    if (off != 0) {
        gmt_spool_capability("switch", GMT_CAP_PARTIAL, 0,
                             "recording was switched off for a while: of that time there are no "
                             "copies, memsets, launches and waits, and what the device did then "
                             "is not known",
                             "gmtrace on PID");
    } else {
        gmt_spool_loss("call not recorded", "while recording was switched off",
                       atomic_exchange_explicit(&left_out, 0, memory_order_relaxed));
    }
}

static bool is_switched_off(void)
{
    struct gmt_control *control = gmt_spool_control();
    if (control == NULL) {
        return false;
    }
    uint32_t off = __atomic_load_n(&control->switched_off, __ATOMIC_RELAXED) != 0;
    if (__builtin_expect(off != __atomic_load_n(&control->switch_seen, __ATOMIC_RELAXED), 0)) {
        note_switch(control, off);
    }
    if (off != 0) {
        atomic_fetch_add_explicit(&left_out, 1, memory_order_relaxed);
    }
    return off != 0;
}

/* Device rows are joined by order: then the calls between are needed until that is done. */
static bool has_device_rows(void)
{
    return gmt_collector != NULL && !gmt_driver_is_software;
}

/* The stack of this call, timed for whoever keeps account of that. */
static uint32_t read_stack(const struct gmt_hook_call *hooked, uint64_t hint, bool all)
{
    if (!all && gmt_overhead_thread.from_ticks == 0) {
        return gmt_stack_here(hooked->at.frame, hint);
    }
    uint64_t began = gmt_clock_ticks();
    uint32_t stack = gmt_stack_here(hooked->at.frame, hint);
    gmt_overhead_stack_read(gmt_clock_ticks() - began, all);
    return stack;
}

/* What distinguishes calls of one place: launches by their class, copies and memsets by their memory. */
static uint64_t kind_of(enum gmt_rec_type type, uint64_t bytes, const void *payload)
{
    uint64_t kind = bytes;
    if (type == GMT_REC_LAUNCH) {
        const struct gmt_launch *launch = payload;
        kind ^= (uint64_t)launch->kernel << 32 ^ launch->kernel_class ^ launch->graph;
    } else if (type == GMT_REC_TRANSFER) {
        const struct gmt_transfer *transfer = payload;
        kind ^= transfer->dst ^ transfer->src << 17;
    } else if (type == GMT_REC_MEMSET) {
        kind ^= ((const struct gmt_memset *)payload)->dst;
    }
    return kind;
}

/* While the governor says so the stacks of copies, memsets, launches and waits are read at some of the calls of each place,
 * and those between take the last one. Of memory all are read: it is looked at one by one. */
static void put_stack(struct gmt_call *call, enum gmt_rec_type type,
                      const struct gmt_hook_call *hooked, const void *payload)
{
    uint32_t one_in = atomic_load_explicit(&gmt_overhead_levels.stack_one_in, memory_order_relaxed);
    /* A line of code launches one kernel. */
    uint64_t hint = type == GMT_REC_LAUNCH ? ((const struct gmt_launch *)payload)->kernel : 0;
    if (__builtin_expect(one_in <= 1, 1) || !may_be_left_out(type) || hooked->at.frame == NULL ||
        gmt_options.stacks == GMT_STACKS_OFF) {
        call->stack = read_stack(hooked, hint, false);
        return;
    }
    const uint64_t *frame = hooked->at.frame;
    struct gmt_place place = {
        .caller = hooked->at.caller,
        .frame = (uint64_t)(uintptr_t)frame,
        /* Code without frame pointers has anything there. */
        .outer = frame[0] > (uint64_t)(uintptr_t)frame && gmt_stack_is_own((void *)frame[0])
                     ? frame[0]
                     : 0,
        .kind = kind_of(type, call->bytes, payload),
        .thread_and_api = (uint64_t)call->thread << 32 | call->api,
    };
    if (gmt_places_have_python()) {
        place.python = gmt_python_outer(place.caller ^ place.kind ^ place.thread_and_api);
    }
    if (gmt_places_take(&place, &call->stack)) {
        call->stack_one_in = one_in;
        gmt_overhead_stack_taken();
    } else {
        call->stack = read_stack(hooked, hint, true);
        gmt_overhead_stack_stands_for(gmt_places_put(&place, call->stack, one_in));
    }
}

/* Everything but the commit word. */
static void fill(struct gmt_call *call, enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                 const void *payload, bool outside)
{
    CUcontext context = NULL;
    uint16_t context_id = gmt_context_current(&context);
    bool per_thread = (hooked->flags & GMT_CALL_PER_THREAD) != 0;
    call->context = hooked->stream_gone
                        ? hooked->stream_context
                        : gmt_stream_note(context, context_id, hooked->stream, per_thread);
    call->thread = gmt_spool_thread_id();
    call->begin_ticks = hooked->begin_ticks;
    call->end_ticks = hooked->end_ticks;
    call->caller = gmt_options.stacks != GMT_STACKS_OFF ? hooked->at.caller : 0;
    call->stream = (uint64_t)(uintptr_t)hooked->stream;
    call->api = (uint16_t)(hooked->id + 1);
    call->result = (int16_t)hooked->result;
    call->flags = (uint8_t)(hooked->flags | (outside ? GMT_CALL_OUTSIDE : 0));
    call->detail = hooked->detail;
    if (!outside) {
        put_stack(call, type, hooked, payload);
    }
}

/* A timed call that put work on a device without waiting for it: what it takes longer while that is recorded is learnt. A
 * measured launch takes longer for another reason. */
static void note_device_work(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                             const void *payload)
{
    bool works = type == GMT_REC_TRANSFER || type == GMT_REC_MEMSET || type == GMT_REC_LAUNCH;
    uint8_t others = GMT_CALL_CAPTURING | GMT_CALL_BLOCKING | GMT_CALL_STEP;
    if (works && hooked->result == CUDA_SUCCESS && (hooked->flags & others) == 0 && !hooked->made &&
        (type != GMT_REC_LAUNCH || ((const struct gmt_launch *)payload)->group == GMT_GROUP_NONE)) {
        gmt_overhead_device_work((uint16_t)(hooked->id + 1));
    }
}

/* The fill comes first: it may write side records, and no record may be reserved meanwhile. */
static void append(enum gmt_rec_type type, const struct gmt_hook_call *hooked, uint64_t bytes,
                   const void *payload, unsigned slots)
{
    struct gmt_call call = {.bytes = bytes};
    note_device_work(type, hooked, payload);
    bool outside = may_be_left_out(type) && gmt_user_ranges_skip();
    if (outside) {
        gmt_user_ranges_leave_out();
    }
    outside = outside || (may_be_left_out(type) && is_switched_off());
    if (outside && (!has_device_rows() || (hooked->flags & GMT_CALL_CAPTURING) != 0)) {
        return;
    }
    gmt_user_ranges_note_call();
    fill(&call, type, hooked, payload, outside);
    uint8_t *record = gmt_spool_reserve(slots);
    if (record != NULL) {
        memcpy(record + sizeof(call.commit), (const uint8_t *)&call + sizeof(call.commit),
               sizeof(call) - sizeof(call.commit));
        if (slots > 1) {
            memcpy(record + sizeof(call), payload, (size_t)(slots - 1) * GMT_SLOT_BYTES);
        }
        gmt_spool_commit(record, type, slots);
    }
}

void gmt_hook_call_record(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                          uint64_t bytes)
{
    append(type, hooked, bytes, NULL, 1);
}

void gmt_hook_call_record_with(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                               uint64_t bytes, const void *payload)
{
    append(type, hooked, bytes, payload, 2);
}

void gmt_hook_call_record_slots(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                                uint64_t bytes, const void *payload, unsigned payload_slots)
{
    append(type, hooked, bytes, payload, 1 + payload_slots);
}
