/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder does for others while the program runs: numbers for `gmtrace top`, the metrics file, slow steps. */
#ifndef GMT_STORE_RECORDING_RECORDING_LIVE_H
#define GMT_STORE_RECORDING_RECORDING_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/recording/recording_internal.h"

/* Begin for a spool that is read as its program runs; what cannot be had is left out. */
void gmt_recording_live_open(struct gmt_recording *recording);
void gmt_recording_live_close(struct gmt_recording *recording);

/* Look at a record, in a recording without live numbers too. True where a slow step ends with it, and `cause` says
 * which. */
bool gmt_recording_live_record(struct gmt_recording *recording,
                               const struct gmt_spool_record *record, char cause[static 128]);

/* A pass over the spool has ended. is_last: the program is gone. */
void gmt_recording_live_pass(struct gmt_recording *recording, bool is_last);

/* A dump was begun. */
void gmt_recording_live_dumped(struct gmt_recording *recording);

#endif
