/* SPDX-License-Identifier: Apache-2.0 */
/* What is done when the program exits. */
#ifndef GMT_PRELOAD_RECORDING_EXIT_H
#define GMT_PRELOAD_RECORDING_EXIT_H

#include <stdbool.h>

/* The program has called exit(). It runs among the program's exit handlers: those registered
 * before the first CUDA call run later and may still free memory, which the hooks go on recording. */
void gmt_exit(bool recorder_started);

#endif
