/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins device_op rows to the host calls that caused them, by order within a stream.
 *
 * CUPTI's records of one stream come in order, and so do the calls of the hooks; correlation ids
 * count other calls too and cannot be compared. Per stream (of which CUPTI's id is known; all the
 * rest together, per device) each device operation, in order of correlation, takes the first host
 * call not yet taken that looks the same (kernel name, grid and block; kind and bytes) and that it
 * can belong to in time: it did not start before the call began, nor end after a later
 * synchronization of that stream had returned. A graph launch takes all operations of a graph with
 * one correlation; a copy may be several records, and several copies of a batch one.
 *
 * A record that has no times, or times that cannot be (what its stream was given later would have run inside of it), is joined all the
 * same; its call has no times of the device then.
 *
 * Everything needed is in the database, so a trace can be joined again at any time.
 */
#ifndef GMT_STORE_INGEST_JOIN_H
#define GMT_STORE_INGEST_JOIN_H

#include <sqlite3.h>

/* Clear times of device_op that cannot be (loss "impossible device time"), set device_op.call_id and device_start_ns/device_end_ns of transfer, memset and launch anew, and
 * the loss rows "device row not joined" and "host call without device row" (only where device
 * timestamps were available). The caller owns the transaction. Returns 0 or negative errno. */
int gmt_join_run(sqlite3 *db);

/* What `capturing` is of calls outside of the scope until this takes them and their device work away. */
#define GMT_CAPTURING_OUTSIDE 2
/* ... and of calls that gmtrace made for operations of a graph (GMT_CALL_STEP). */
#define GMT_CAPTURING_STEP 3
int gmt_join_forget_outside(sqlite3 *db);

#endif
