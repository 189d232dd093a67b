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
#include "preload/driver/resolve.h"
#include "preload/guard/hold.h"
#include "preload/recording/enter.h"
#include "preload/state/context.h"

#define GMT_EXPORT __attribute__((visibility("default")))
/* Export a driver function: its version is hidden, so that the loader binds programs to it that are linked
 * with the driver, which has no versions, while dlsym does not find it (lookup.h). It must be the library's
 * first version (exports.map). */
#define GMT_EXPORT_DRIVER(SYMBOL) \
    __asm__(".symver " #SYMBOL ", " #SYMBOL "@GMTRACE, hidden"); \
    GMT_EXPORT

/* One intercepted call while it is under way. */
struct gmt_site {
    enum gmt_hook_id id;
    uint8_t flags; /* GMT_CALL_* */
    uint8_t detail;
    bool made;               /* what comes before the call has made it, too (repeat/repeat.h) */
    bool stream_gone;        /* `stream` is no stream any more ... */
    uint16_t stream_context; /* ... and was one of this context */
    CUstream stream;
    struct gmt_guard_mark at; /* the hook's frame: start of the stack walk */
    uint64_t begin_ticks;
    uint64_t end_ticks;
    CUresult result;
};

/* Set GMT_CALL_CAPTURING if the call's stream is being captured. */
void gmt_site_ask_capture(struct gmt_site *site);
static inline void gmt_site_note_capture(struct gmt_site *site)
{
    if (__builtin_expect(gmt_captures != 0, 0)) {
        gmt_site_ask_capture(site);
    }
}

/* Append a record of the call alone. */
void gmt_site_record(enum gmt_rec_type type, const struct gmt_site *site, uint64_t bytes);
/* Append call + one payload slot. */
void gmt_site_record_with(enum gmt_rec_type type, const struct gmt_site *site, uint64_t bytes,
                          const void *payload);
/* Append call + `payload_slots` slots. */
void gmt_site_record_slots(enum gmt_rec_type type, const struct gmt_site *site, uint64_t bytes,
                           const void *payload, unsigned payload_slots);

/* Most hooks have nothing to do before the call, and need no protection from cancellation there. */
#define GMT_IS_NOTHING(BEFORE) (__builtin_strcmp(#BEFORE, "(void)0") == 0)

/* The hook itself: what happens before the real call, the call, what happens after it. */
#define GMT_DEFINE_FUNCTION(SYMBOL, KEPT, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    CUresult SYMBOL PARAMETERS; \
    GMT_EXPORT_DRIVER(SYMBOL) CUresult SYMBOL PARAMETERS \
    { \
        CUresult(*real) PARAMETERS = gmt_hook_real[GMT_HOOK_##SYMBOL]; \
        if (__builtin_expect(real == NULL, 0)) { \
            real = gmt_hook_find_real(GMT_HOOK_##SYMBOL); \
            if (real == NULL) { \
                return CUDA_ERROR_NOT_SUPPORTED; \
            } \
        } \
        struct gmt_site site = { \
            .id = GMT_HOOK_##SYMBOL, \
            .flags = (FLAGS), \
            .stream = (STREAM), \
            .at = GMT_GUARD_HERE, \
        }; \
        if (!gmt_guard_enter(GMT_GUARD_TO_RECORD, site.at, &site.at)) { \
            return real ARGUMENTS; \
        } \
        gmt_hold_pass(GMT_HOOK_##SYMBOL); \
        gmt_guard.hook = GMT_HOOK_##SYMBOL + 1; \
        enum { GMT_IS_INTERCEPTED = 1 }; \
        KEPT kept[1]; \
        (void)kept; \
        gmt_site_note_capture(&site); \
        if (!GMT_IS_NOTHING(BEFORE)) { \
            gmt_guard_hold_cancellation(); \
            BEFORE; \
            gmt_guard_allow_cancellation(); \
        } \
        if (GMT_IS_NOTHING(BEFORE) || !site.made) { \
            site.begin_ticks = gmt_clock_ticks(); \
            site.result = real ARGUMENTS; \
            site.end_ticks = gmt_clock_ticks(); \
        } \
        gmt_guard_hold_cancellation(); \
        AFTER; \
        gmt_guard_leave(); \
        return site.result; \
    }

/*
 * Define one hook.
 *   STREAM    expression: the stream, NULL where the call has none
 *   FLAGS     GMT_CALL_* known beforehand
 *   BEFORE    statements before the real call
 *   AFTER     statements after it; may use `site` (complete) and the parameters
 * BEFORE and AFTER share no variables of their own: the call may be made by somebody else, between
 * the two (preload/hooks/callback.h); GMT_IS_INTERCEPTED is 0 then. What BEFORE leaves to AFTER is `*kept`, of type KEPT.
 */
#define GMT_DEFINE_HOOK_KEEPING(SYMBOL, KEPT, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_FUNCTION(SYMBOL, KEPT, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_HALVES(SYMBOL, KEPT, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER)
#define GMT_DEFINE_HOOK(SYMBOL, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_HOOK_KEEPING(SYMBOL, char, PARAMETERS, ARGUMENTS, STREAM, FLAGS, BEFORE, AFTER)
/* ... of a call without parameters. */
#define GMT_DEFINE_HOOK_VOID(SYMBOL, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_FUNCTION(SYMBOL, char, (void), (), NULL, FLAGS, BEFORE, AFTER) \
    GMT_DEFINE_HALVES_VOID(SYMBOL, FLAGS, BEFORE, AFTER)

#include "preload/hooks/callback.h"

#endif
