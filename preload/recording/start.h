/* SPDX-License-Identifier: Apache-2.0 */
/* When recording starts. */
#ifndef GMT_PRELOAD_RECORDING_START_H
#define GMT_PRELOAD_RECORDING_START_H

#include <stdbool.h>

/* Begin recording if it has not begun; false: recording is off in this process. */
bool gmt_start(void);

/* This process was forked from the one that recorded: forget that. */
void gmt_forked(void);

#endif
