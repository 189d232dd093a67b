/* SPDX-License-Identifier: Apache-2.0 */
/* May a kernel wait for something that happens only after its launch has returned? */
#ifndef GMT_PRELOAD_HAZARDS_H
#define GMT_PRELOAD_HAZARDS_H

#include <stdbool.h>

/* Measuring a launch holds its caller until the kernel is done. True once the program has used
 * anything that could make a kernel wait for that caller, another rank or process: waits on values,
 * host functions, external semaphores, IPC, peer access. Written to the trace when first seen. Never
 * true on the software device, which measures without holding anybody. */
bool gmt_hazards_present(void);

/* Decide from the environment: several ranks. Called when recording starts. */
void gmt_hazards_start(void);

#endif
