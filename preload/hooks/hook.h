/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every hook is made of.
 *
 * A hook calls the real entry point first and records afterwards, reads nothing that a failed call
 * may have left unset, and never fails the program's call: whatever cannot be recorded is counted.
 * Calls made inside a hook (by the driver, by CUPTI, by us) pass straight through.
 */
#ifndef GMT_PRELOAD_HOOKS_HOOK_H
#define GMT_PRELOAD_HOOKS_HOOK_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/clock.h"
#include "libtrace/record/layout.h"
#include "libtrace/record/spool.h"
#include "preload/apply/apply.h"
#include "preload/driver/resolve.h"
#include "preload/guard/hold.h"
#include "preload/overhead/overhead.h"
#include "preload/recording/enter.h"
#include "preload/state/hook_call.h"

#define GMT_EXPORT __attribute__((visibility("default")))
/* Export a driver function: its version is hidden, so that the loader binds programs to it that are linked
 * with the driver, which has no versions, while dlsym does not find it (lookup/lookup.h). It must be the library's
 * first version (exports.map). */
#define GMT_EXPORT_DRIVER(SYMBOL) \
    __asm__(".symver " #SYMBOL ", " #SYMBOL "@GMTRACE, hidden"); \
    GMT_EXPORT

/* Most hooks have nothing to do before the call, and need no protection from cancellation there. */
#define GMT_IS_NOTHING(BEFORE) (__builtin_strcmp(#BEFORE, "(void)0") == 0)

/* `real`, the driver's function; the hook ends where there is none. */
#define GMT_NEED_REAL(SYMBOL, PARAMETERS) \
    CUresult(*real) PARAMETERS = gmt_hook_real[GMT_HOOK_##SYMBOL]; \
    if (__builtin_expect(real == NULL, 0)) { \
        real = gmt_hook_find_real(GMT_HOOK_##SYMBOL); \
        if (real == NULL) { \
            return CUDA_ERROR_NOT_SUPPORTED; \
        } \
    }

/* The hook itself: what happens before the real call, the call, what happens after it. */
#define GMT_DEFINE_FUNCTION(SYMBOL, SAVED, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    CUresult SYMBOL PARAMETERS; \
    GMT_EXPORT_DRIVER(SYMBOL) CUresult SYMBOL PARAMETERS \
    { \
        GMT_NEED_REAL(SYMBOL, PARAMETERS) \
        struct gmt_hook_call call = { \
            .id = GMT_HOOK_##SYMBOL, \
            .flags = (FLAGS), \
            .stream = (STREAM), \
            .at = GMT_GUARD_HERE, \
        }; \
        if (!gmt_guard_enter(GMT_GUARD_TO_RECORD, call.at, &call.at)) { \
            CUresult passed = real ARGUMENTS; \
            return gmt_apply_made_room(passed) ? real ARGUMENTS : passed; \
        } \
        gmt_overhead_enter(); \
        gmt_hold_pass(GMT_HOOK_##SYMBOL); \
        gmt_guard.hook = GMT_HOOK_##SYMBOL + 1; \
        enum { GMT_IS_INTERCEPTED = 1 }; \
        SAVED saved[1]; \
        (void)saved; \
        gmt_hook_call_note_capture(&call); \
        if (!GMT_IS_NOTHING(BEFORE)) { \
            gmt_guard_hold_cancellation(); \
            BEFORE; \
            gmt_guard_allow_cancellation(); \
        } \
        if (GMT_IS_NOTHING(BEFORE) || !call.made) { \
            call.begin_ticks = gmt_clock_ticks(); \
            call.result = real ARGUMENTS; \
            call.end_ticks = gmt_clock_ticks(); \
        } \
        gmt_guard_hold_cancellation(); \
        AFTER; \
        gmt_overhead_leave(call.begin_ticks, call.end_ticks); \
        gmt_guard_leave(); \
        return call.result; \
    }

/* One that only fixes look at: nothing is recorded. */
#define GMT_DEFINE_PASSING(SYMBOL, PARAMETERS, ARGUMENTS) \
    CUresult SYMBOL PARAMETERS; \
    GMT_EXPORT_DRIVER(SYMBOL) CUresult SYMBOL PARAMETERS \
    { \
        GMT_NEED_REAL(SYMBOL, PARAMETERS) \
        CUresult passed = real ARGUMENTS; \
        return gmt_apply_made_room(passed) ? real ARGUMENTS : passed; \
    }

/* One that is held as others are (guard/hold.h), and not recorded: recording does not begin with it. MADE: what is noted of a
 * call that succeeded. */
#define GMT_DEFINE_HELD(SYMBOL, PARAMETERS, ARGUMENTS, MADE) \
    CUresult SYMBOL PARAMETERS; \
    GMT_EXPORT_DRIVER(SYMBOL) CUresult SYMBOL PARAMETERS \
    { \
        GMT_NEED_REAL(SYMBOL, PARAMETERS) \
        struct gmt_guard_mark at = GMT_GUARD_HERE; \
        bool entered = gmt_guard_enter(GMT_GUARD_ALONE, at, &at); \
        if (entered) { \
            gmt_hold_pass(GMT_HOOK_##SYMBOL); \
            gmt_guard.hook = GMT_HOOK_##SYMBOL + 1; \
        } \
        CUresult passed = real ARGUMENTS; \
        passed = gmt_apply_made_room(passed) ? real ARGUMENTS : passed; \
        if (entered) { \
            gmt_guard_hold_cancellation(); \
            if (passed == CUDA_SUCCESS) { \
                MADE; \
            } \
            gmt_guard_leave(); \
        } \
        return passed; \
    }

/*
 * Define one hook.
 *   STREAM    expression: the stream, NULL where the call has none
 *   FLAGS     GMT_CALL_* known beforehand
 *   BEFORE    statements before the real call
 *   AFTER     statements after it; may use `call` (complete) and the parameters
 * BEFORE and AFTER share no variables of their own: the call may be made by somebody else, between
 * the two (preload/hooks/callback.h); GMT_IS_INTERCEPTED is 0 then. What BEFORE saves for AFTER is `*saved`, of type SAVED.
 */
#define GMT_DEFINE_HOOK_SAVING(SYMBOL, SAVED, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_FUNCTION(SYMBOL, SAVED, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_CALLBACKS(SYMBOL, SAVED, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER)
#define GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_HOOK_SAVING(SYMBOL, char, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER)
/* ... of a call without parameters. */
#define GMT_DEFINE_HOOK_VOID(SYMBOL, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_FUNCTION(SYMBOL, char, (void), (), NULL, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_CALLBACKS_VOID(SYMBOL, FLAGS, BEFORE, AFTER)

#include "preload/hooks/callback.h"

#endif
