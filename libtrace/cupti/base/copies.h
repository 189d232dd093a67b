/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which copy of CUPTI the program's calls go to, where there are several in the process.
 *
 * The driver serves the copy that asks it first, for the life of the process: every other one gets
 * MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, whatever the first gives back (docs/cupti-notes.md). So the collector
 * takes the copy that the program has, and a copy that the program opens later is answered by the
 * collector's: whoever looks up a function of it is given that of ours. Only one of the same soname, which
 * is to say of the same interface; another one stays as it is, and the trace says why it is refused.
 */
#ifndef GMT_CUPTI_BASE_COPIES_H
#define GMT_CUPTI_BASE_COPIES_H

#include <stdbool.h>

#include "libtrace/cupti/base/loader.h"

/* The collector has the driver by `api`, or is about to; NULL: CUPTI refused, it has not. */
void gmt_copies_attach(const struct gmt_cupti_api *api);

/* The program looks up `name`, which is at `found` in some copy: what to use in its place, `found` itself
 * where that is right; NULL where nothing is to be done, because the driver will refuse that copy or because
 * ours has no such function. `asks`: it is one by which CUPTI is asked for something that there is one of. */
void *gmt_copies_route(const char *name, void *found, bool asks);

/* A handle of the copy whose functions the program looked up first, before the collector came; or NULL. */
void *gmt_copies_of_program(void);

/* Path of the first copy beside ours by which the program has asked for CUPTI, or NULL. */
enum gmt_copy_fate { GMT_COPY_SERVED /* by ours */, GMT_COPY_REFUSED, GMT_COPY_FATES };
const char *gmt_copies_met(enum gmt_copy_fate fate);

#endif
