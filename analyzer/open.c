/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace for analysis: waits for a recorder at work, finishes what a killed one left. */
#include "analyzer/open.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/store/reader.h"
#include "libtrace/store/recording.h"

/* A recorder that is still draining needs seconds; a program still running is not waited for. */
#define GMT_OPEN_WAIT_NS UINT64_C(30000000000)

int gmt_open_trace(const char *path, sqlite3 **db, char *message, size_t bytes)
{
    enum gmt_recording_state state = GMT_RECORDING_NONE;
    int rc = gmt_recording_state(path, &state);

    if (rc == 0 && state == GMT_RECORDING_LIVE) {
        fprintf(stderr, "gmanalyze: %s: waiting for its recorder (at most 30 s)\n", path);
        gmt_recording_wait(path, GMT_OPEN_WAIT_NS);
    }
    if (rc == 0 && state == GMT_RECORDING_LEFTOVER) {
        fprintf(stderr, "gmanalyze: %s: finishing what its recorder left\n", path);
        gmt_recording_recover(path);
    }
    rc = gmt_trace_open(path, 0, db, message, bytes);
    if (rc != -EAGAIN)
        return rc;
    /* The recorder was killed and there is no spool to finish from: what is there is right. */
    return gmt_trace_open(path, GMT_TRACE_ALLOW_INCOMPLETE, db, message, bytes);
}
