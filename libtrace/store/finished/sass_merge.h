/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that a second run of a program counted, for the trace of the first. */
#ifndef GMT_STORE_FINISHED_SASS_MERGE_H
#define GMT_STORE_FINISHED_SASS_MERGE_H

/* Both finished traces, of two runs of one program: what the one at `from` has of instructions goes into
 * the one at `into`, by kernel, shape and order of launches, and with it the row of capability
 * "instructions". What has no counterpart is counted in `loss`. 0 or negative errno; then `into` is as it
 * was. */
int gmt_sass_merge(const char *into, const char *from);

/* Say in a finished trace that its instructions were not counted. 0 or negative errno. */
int gmt_sass_note_missing(const char *path, const char *why, const char *remedy);

#endif
