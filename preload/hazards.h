/* SPDX-License-Identifier: Apache-2.0 */
/* May a kernel wait for something that happens only after its launch has returned? */
#ifndef GMT_PRELOAD_HAZARDS_H
#define GMT_PRELOAD_HAZARDS_H

#include <stdbool.h>

struct gmt_site;

/* Measuring a launch holds its caller until the kernel is done. True once the program has used
 * anything that could make a kernel wait for that caller, another rank or process: waits on values,
 * host functions, external semaphores, IPC, peer access. Written to the trace when first seen. Never
 * true on the software device, which measures without holding anybody. */
bool gmt_hazards_present(void);

/* The call `site` opened, if it succeeded, something that lets a kernel wait: what, for the note. Such a
 * thing can be used only when the call has returned, and not at all if it failed. */
void gmt_hazards_opened(const struct gmt_site *site, const char *what);

/* Decide from the environment: several ranks. Called when recording starts. */
void gmt_hazards_start(void);

#endif
