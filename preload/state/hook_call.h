/* SPDX-License-Identifier: Apache-2.0 */
/* From an intercepted call to its record. */
#ifndef GMT_PRELOAD_STATE_HOOK_CALL_H
#define GMT_PRELOAD_STATE_HOOK_CALL_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"
#include "preload/driver/hook_ids.h"
#include "preload/guard/guard.h"
#include "preload/state/context.h"

/* One intercepted call in progress. */
struct gmt_hook_call {
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
void gmt_hook_call_ask_capture(struct gmt_hook_call *hooked);
static inline void gmt_hook_call_note_capture(struct gmt_hook_call *hooked)
{
    if (__builtin_expect(gmt_captures != 0, 0)) {
        gmt_hook_call_ask_capture(hooked);
    }
}

/* Append a record of the call alone. */
void gmt_hook_call_record(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                          uint64_t bytes);
/* Append call + one payload slot. */
void gmt_hook_call_record_with(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                               uint64_t bytes, const void *payload);
/* Append call + `payload_slots` slots. */
void gmt_hook_call_record_slots(enum gmt_rec_type type, const struct gmt_hook_call *hooked,
                                uint64_t bytes, const void *payload, unsigned payload_slots);

#endif
