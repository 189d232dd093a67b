/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process asked of the driver, kept where the recorder finds it whatever becomes of the process:
 * requests by lookup path and name, and calls of entry points without a hook, counted by jumps of our own. Beside
 * them, likewise, calls of NVTX that were not understood: a program may make any number of them.
 */
#ifndef GMT_PRELOAD_DRIVER_COVERAGE_H
#define GMT_PRELOAD_DRIVER_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout_coverage.h"

/* A name was asked for and answered as `flags` say (GMT_COVERAGE_*; 0: not known). `version`: of CUDA, as
 * cuGetProcAddress was given it, else 0. */
void gmt_coverage_note(enum gmt_lookup_path via, const char *name, unsigned flags, int version);

/* The same for an entry point without a hook; returns what the program is to get: `real`, or a jump to it
 * that counts if a call would be missed. */
void *gmt_coverage_jump(enum gmt_lookup_path via, const char *name, void *real, int version);

/* Has an entry point without a hook been called that moves, allocates, maps, launches, waits or loads? */
bool gmt_coverage_called(void);

/* A call of NVTX's memory extension was not understood, before the recording or in it. From any thread. */
void gmt_coverage_count_fault(enum gmt_region_fault fault);
/* In a forked child, also where the parent was not recorded: these were the parent's. */
void gmt_coverage_forget_faults(void);

/* Recording begins: go on in a file of the spool. */
void gmt_coverage_start(void);
/* exit() was reached: what the file lacks. */
void gmt_coverage_finish(void);
/* In a forked child: what was asked for holds here too, nothing was called or counted yet. */
void gmt_coverage_reset(void);

#endif
