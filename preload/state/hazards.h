/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a kernel, or what runs beside it, wait for something that happens only after its launch has returned?
 * Measuring a launch holds its caller until the kernel is done.
 */
#ifndef GMT_PRELOAD_STATE_HAZARDS_H
#define GMT_PRELOAD_STATE_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/unmeasured.h"

struct gmt_hook_call;

/* True where nothing forbids to measure: GMTRACE_COUNTERS=on, and the software device, which measures
 * without holding anybody. */
bool gmt_hazards_ignored(void);

/* GMT_UNMEASURED_SHARED once the program has used anything by which a kernel can wait for another device,
 * rank or process (IPC, peer access, imported memory): written to the trace when first seen. Else
 * GMT_MEASURABLE. */
enum gmt_unmeasured gmt_hazards_of_process(void);

/* True while work of some stream may be waiting for the host, after `within_ns` at most (waits.h). */
bool gmt_hazards_waiting(uint64_t within_ns);

/* The call `call` opened, if it succeeded, something that lets a kernel wait: what, for the note. Such a
 * thing can be used only when the call has returned, and not at all if it failed. */
void gmt_hazards_opened(const struct gmt_hook_call *call, const char *what);

/* The call `call`, if it succeeded, let others read and write memory of this process (another process, a device on the
 * bus): what is done there twice can be seen. */
void gmt_hazards_exported(const struct gmt_hook_call *call);
bool gmt_hazards_any_exported(void);

/* Decide from the environment: several ranks. Called when recording starts. */
void gmt_hazards_start(void);

#endif
