/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of which the trace keeps sums over steps only (option --aggregate): records go into these (store/steps), and no call
 * becomes a row. What describes the process is ingested as in any recording, and the call stacks that rows refer to.
 */
#ifndef GMT_STORE_RECORDING_RECORDING_AGGREGATE_H
#define GMT_STORE_RECORDING_RECORDING_AGGREGATE_H

#include <stdbool.h>

#include "libtrace/store/recording/recording_internal.h"

/* Does the spool's program want it? */
bool gmt_recording_aggregates(const struct gmt_recording *recording);

/* Begin, behind what is in the database already; the ingest is open. 0 or negative errno. */
int gmt_recording_aggregate_open(struct gmt_recording *recording);
void gmt_recording_aggregate_close(struct gmt_recording *recording);

/* A record, in a transaction. 0 or negative errno. */
int gmt_recording_aggregate_record(struct gmt_recording *recording,
                                   const struct gmt_spool_record *record);

/* A pass over the spool began at `ns` (CLOCK_MONOTONIC) and has ended: what was committed before is read. */
void gmt_recording_aggregate_pass(struct gmt_recording *recording, uint64_t ns);

/* In a transaction, before it is committed: write the steps that have ended. 0 or negative errno. */
int gmt_recording_aggregate_settle(struct gmt_recording *recording);

/* The same of the rest, when the last record is read. 0 or negative errno. */
int gmt_recording_aggregate_finish(struct gmt_recording *recording);

#endif
