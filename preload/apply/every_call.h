/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sees every call of the driver that has a hook, whatever its parameters: little functions in the place of the driver's, which
 * count, look whether something has to be done before, and jump on (every_call.S). Without a fix that needs it there are none.
 */
#ifndef GMT_PRELOAD_APPLY_EVERY_CALL_H
#define GMT_PRELOAD_APPLY_EVERY_CALL_H

#define GMT_EVERY_CALLS 512 /* at least as many as there are hooks */
#if defined(__x86_64__)
#define GMT_EVERY_CALL_SHIFT 6 /* each takes 64 bytes */
#else
#define GMT_EVERY_CALL_SHIFT 7
#endif

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

#include "preload/driver/hook_ids.h"

/* Calls so far, of all threads, other than those that the fixes of gather.h look at themselves; it is counted before the call. */
extern _Atomic uint64_t gmt_every_call_count __attribute__((visibility("hidden")));
/* Not 0: what was given to gmt_every_call_install comes before each call. */
extern _Atomic uint32_t gmt_every_call_stops __attribute__((visibility("hidden")));

/*
 * Put them in place, before all others; not where `leaves_out` says so. Once. `begin` does what comes before the call of hook `id`, and
 * returns the function to go on with: that of gmt_every_call_real where nothing is the matter.
 */
void gmt_every_call_install(void *(*begin)(unsigned id), bool (*leaves_out)(enum gmt_hook_id id));
void *gmt_every_call_real(unsigned id);
/* Does it share memory with others, so that `begin` comes before it always? */
bool gmt_every_call_shares(unsigned id);
#endif

#endif
