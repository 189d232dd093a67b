/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From spool to finished trace.db: the same code for the live recorder and for what a killed
 * recorder left behind.
 *
 * Whoever drains a spool holds the lock on `<spool>/lock` (an OFD lock: it goes with the process).
 * Records become rows in transactions that also store how far each chunk has been read, and a chunk
 * is unlinked only after the transaction with its last record is committed: a kill at any moment
 * loses nothing and doubles nothing. The finish work (join.h, symbolize.h, indexes, device model)
 * is one more transaction, so it has either happened or it has not.
 */
#ifndef GMT_STORE_RECORDING_RECORDING_H
#define GMT_STORE_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_recording_state {
    GMT_RECORDING_NONE = 0, /* no spool beside the output: finished, or never begun               */
    GMT_RECORDING_LIVE,     /* a recorder is at work, or the traced process lives                 */
    GMT_RECORDING_LEFTOVER, /* nobody is at work and the traced process is gone: recover          */
};

/*
 * The whole life of a recorder: drain `spool_directory` into the database named in its control page
 * until the traced process is gone, then finish and remove the spool. What the control page reports to
 * the traced process: READING; DONE as soon as everything written before it set `ended` is
 * committed (reading goes on: global destructors still make calls); FAILED. A database that is removed or
 * replaced meanwhile is begun anew with what is in the spool still; the rest is a loss. Of a process that only asked the driver
 * what there is, beside the one of its run that has the name which was asked for, nothing is left.
 *
 * Returns 0; -EBUSY: someone else drains it; -ENOENT: no such spool; -ENOSPC, -EFBIG, -EDQUOT,
 * -EIO, ...: the database could not be written; what was committed is kept, the spool too. Calling
 * it again continues exactly where the last call stopped; *writer_gone says whether the traced
 * process may still be adding to it.
 */
int gmt_recording_run(const char *spool_directory, bool *writer_gone);

/*
 * Make a finished `output` of the leftover `<output>.spool`, and of the `output` that its recorder began:
 * in a new file, in a folder `<output>.recovery` of this user alone, which takes the place of `output` when
 * it is finished. Only then is the spool removed. What is there is not written to before, and what fails
 * leaves it as it was.
 *
 * 0, also when there is none (any more); -EBUSY while the traced process or a recorder lives; -EPERM or
 * -EREMOTE: the spool is not this user's, or not of this boot of this machine: gmt_recording_extract;
 * -EEXIST: `output` is of another recording; -ELOOP: it is a link; else as gmt_recording_run.
 */
int gmt_recording_recover(const char *output);

/* Make `new_file`, which must not exist, of any spool, and of the unfinished trace beside it. Neither is
 * changed, no file that they name is looked into. Errors as above; -ENOENT: no such spool. */
int gmt_recording_extract(const char *spool_directory, const char *new_file);

/* Size of a spool that is not of this user and this boot of the machine, with the unfinished trace beside it.
 * Negative errno where there is no such spool; -EPERM where it is of this user and boot. */
int64_t gmt_recording_foreign_bytes(const char *spool_directory);

/* What stands beside `output`, by looking only. Returns 0 or negative errno. */
int gmt_recording_state(const char *output, enum gmt_recording_state *state);

/* What the launcher called the run that `output` or its spool is of; "" without a launcher. -ENOENT: it
 * is not known. */
int gmt_recording_run_of(const char *output, char *run, size_t bytes);

/* Wait until the state is no longer LIVE. 0, or -ETIMEDOUT after `timeout_ns`. */
int gmt_recording_wait(const char *output, uint64_t timeout_ns);

/* What a result of these functions means, in one line without a newline. */
const char *gmt_recording_explain(int error);

#endif
