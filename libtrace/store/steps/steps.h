/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over the steps of a program, in bounded memory: events go in, a step at a time comes out (tables step and step_... of
 * the schema, gmtrace.db(5)).
 *
 * Steps divide the program's time. One ends where a range ends that is a step (step_finder.h), of one thread: the
 * first that has such ranges, until it has none for a slice; with a name in the option, those of all threads.
 * Without ranges it ends where the launch begins that comes once per step. Where no step has ended for a slice, the slice is
 * one: 10 s, or four times the latest step, if that is longer. All of that, and what a step holds, is decided by the
 * times of events alone, so records as they come and rows of a finished trace give the same steps.
 */
#ifndef GMT_STORE_STEPS_STEPS_H
#define GMT_STORE_STEPS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/store/live/open_ranges.h"
#include "libtrace/store/steps/step_event.h"
#include "libtrace/store/steps/step_names.h"
#include "libtrace/store/steps/step_rows.h"

/* Steps that are shorter share a row: of 10,000 in a second nobody wants that many rows, and the recorder could not write them. */
#define GMT_STEP_LEAST_NS UINT64_C(10000000)

#define GMT_STEP_SLICE_NS UINT64_C(10000000000)

/* Events come late: what ended less than this ago may not all be there. */
#define GMT_STEP_SETTLE_NS UINT64_C(1000000000)

struct gmt_steps;

/* name: of the range that is a step, NAME or NAME@DOMAIN; "": any. The first step begins at `begin_ns`.
 * collectives_most: that a step keeps of each source. NULL: no memory. */
struct gmt_steps *gmt_steps_open(const char *name, unsigned collectives_most, uint64_t begin_ns);
void gmt_steps_close(struct gmt_steps *steps);

/* The same, later, while nothing has happened. */
void gmt_steps_begin(struct gmt_steps *steps, uint64_t begin_ns);

/* What events refer to; may come after them, by GMT_STEP_SETTLE_NS. family: enum gmt_call_family. */
int gmt_steps_context(struct gmt_steps *steps, uint32_t context, uint32_t device);
void gmt_steps_api(struct gmt_steps *steps, uint32_t api, unsigned family);
int gmt_steps_kernel(struct gmt_steps *steps, uint32_t kernel, const char *name, size_t bytes);
void gmt_steps_range_opened(struct gmt_steps *steps, uint32_t id,
                            const struct gmt_range_names *names);
bool gmt_steps_range_taken(struct gmt_steps *steps, uint32_t id, struct gmt_range_names *names);
struct gmt_step_names *gmt_steps_names(struct gmt_steps *steps);

/* 0 or negative errno. Where very much has come at once, the older half is summed up, through the writer. */
int gmt_steps_add(struct gmt_steps *steps, const struct gmt_step_event *event,
                  struct gmt_step_writer *writer);

/* Sum up what ended before `until_ns`, and write the steps that ended. 0 or negative errno. */
int gmt_steps_settle(struct gmt_steps *steps, uint64_t until_ns, struct gmt_step_writer *writer);

/* The same of everything; the last step ends at `end_ns`, or when its last event did. */
int gmt_steps_finish(struct gmt_steps *steps, uint64_t end_ns, struct gmt_step_writer *writer);

/* Events that came when what they belonged to was summed up already: they are in a later step. */
uint64_t gmt_steps_late(const struct gmt_steps *steps);

#endif
