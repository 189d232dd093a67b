/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that measure what the host's clock times, each with a context and pages of its own. */
#ifndef GMT_KERNELS_MEASURE_PROCESSES_H
#define GMT_KERNELS_MEASURE_PROCESSES_H

#include "kernels/bench/bench.h"

/*
 * Runs this program once more as process number `process`, which measures its passes of everything that
 * the host's clock times, or of `only`, and adds what it found to the raw results. 0; or a negative errno
 * where nothing was added, with a note that says why; -ETIME: it hung, and another one might.
 */
int gmt_bench_process(struct gmt_bench *bench, const char *only, unsigned process);

/*
 * The end of that call in the new process: measures and sends. origin: its --process; bench: quick and
 * process_count are set. An exit status.
 */
int gmt_process_serve(const char *origin, const char *device, struct gmt_bench *bench,
                      const char *only);

#endif
