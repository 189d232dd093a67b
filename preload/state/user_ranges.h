/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that the program names: NVTX push/pop and start/end, cuProfilerStart/Stop.
 *
 * What is open is kept in this process whether a recording runs or not, in memory of fixed size per
 * thread. A pushed range is written when a call inside of it is recorded or when it is popped, the
 * others when they begin and when they end. Callers hold the re-entry guard (guard/guard.h).
 */
#ifndef GMT_PRELOAD_STATE_USER_RANGES_H
#define GMT_PRELOAD_STATE_USER_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/range_payload.h"

/* Read GMTRACE_RANGE, once. */
void gmt_user_ranges_init(void);
/* The recording begins: write what is open in the whole process. */
void gmt_user_ranges_start(void);

/* In a forked child. */
void gmt_user_ranges_forked(void);
/* Of this thread. Domains are identified by address; NULL: the default one. A name that is longer
 * than GMT_RANGE_NAME_BYTES - 1 is cut. */
#define GMT_RANGE_NAME_BYTES 128u
/* payload: what is known of it from the beginning, or at its end. NULL: nothing. */
void gmt_user_ranges_push(const char *domain, const char *name,
                          const struct gmt_range_payload *payload);
void gmt_user_ranges_pop(const char *domain, const struct gmt_range_payload *payload);

/* Of the process. 0: too many are open; gmt_user_ranges_end takes any value. */
uint64_t gmt_user_ranges_begin(enum gmt_user_range_kind kind, const char *domain, const char *name);
void gmt_user_ranges_end(uint64_t handle);

/* Pushed ranges of this thread that are not in the trace; write them. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) unsigned gmt_user_ranges_unwritten;
void gmt_user_ranges_write_open(void);
static inline void gmt_user_ranges_note_call(void)
{
    if (__builtin_expect(gmt_user_ranges_unwritten != 0, 0)) {
        gmt_user_ranges_write_open();
    }
}

/* The capture is scoped to ranges of one name, and the calling thread is in none of them. */
extern _Atomic bool gmt_user_ranges_scoped;
bool gmt_user_ranges_is_outside(void);
/* A call of such a thread is left out of the trace. No record may be reserved: it may write one. */
void gmt_user_ranges_leave_out(void);
static inline bool gmt_user_ranges_skip(void)
{
    return __builtin_expect(gmt_user_ranges_scoped, 0) && gmt_user_ranges_is_outside();
}

#endif
