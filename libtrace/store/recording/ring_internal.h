/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about recordings of the last seconds share; private to them and to recording*.c. */
#ifndef GMT_STORE_RECORDING_RING_INTERNAL_H
#define GMT_STORE_RECORDING_RING_INTERNAL_H

#include <stdbool.h>

#include "libtrace/store/recording/recording_internal.h"

/* Byte of `lock` that who makes a dump holds while it reads, and who gives chunks up. */
#define GMT_RING_LOCK_BYTE 1

/*
 * Pairs of both clocks, as the recorder has taken them: an array of struct gmt_clock_pair. Between the two in the
 * control page there may be days, in which the rate of CLOCK_MONOTONIC changes.
 */
#define GMT_RING_CLOCK_FILE "clock"

/* Frames that are not named within this time stay for `gmanalyze symbolize`: a dump is to be there soon. */
#define GMT_RING_NAMES_NS UINT64_C(500000000)

/* The whole life of a recorder that keeps the last seconds only; as gmt_recording_run. */
int gmt_ring_run(struct gmt_recording *recording, bool *writer_gone);

/* Fill the database of `recording`, which is open and empty, with the last seconds of its spool. cause: see
 * gmt_ring_dump. */
int gmt_ring_fill(struct gmt_recording *recording, const char *cause);

/* When device work is joined with calls: forget what belongs to calls before the window. */
int gmt_ring_settle(struct gmt_recording *recording);

#endif
