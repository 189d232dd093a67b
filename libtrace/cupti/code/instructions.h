/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of single instructions around a launch, for measure.c, whose lock is held in all of this.
 *
 * All of a launch's instructions or none: its session is of one launch, by one thread, and what was
 * launched meanwhile by another thread is patched, too; then the counts are thrown away.
 */
#ifndef GMT_CUPTI_CODE_INSTRUCTIONS_H
#define GMT_CUPTI_CODE_INSTRUCTIONS_H

#include <stdbool.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/code/sass.h"
#include "libtrace/record/collector.h"

/* Both stay valid for the life of the process. False: they cannot be counted, a capability row says why. */
bool gmt_instructions_start(const struct gmt_cupti_api *api,
                            const struct gmt_collector_config *config);

/* False while CUPTI's one subscription, or anything else of it, is the program's. Needs no lock. */
bool gmt_instructions_free(void);

/* What can be found out before a launch is at hand, some ms the first time. Nothing is under way. */
void gmt_instructions_prepare(void);

/* False: none can be counted for a while, for the reason GMT_UNMEASURED_FETCHING. */
bool gmt_instructions_may_begin(void);

/* Begin to count the launch that follows. Not GMT_MEASURABLE: not this one; *for_good: none any more, a capability row says why. */
enum gmt_unmeasured gmt_instructions_begin(const struct gmt_launch_call *call, uint32_t device,
                                           bool *for_good);

/* It has been launched: wait for it, and write the counts if `keep`. False: refused for good, as above. */
bool gmt_instructions_end(const struct gmt_launch_call *call, bool keep,
                          struct gmt_sass_outcome *outcome);

/* Before a context is destroyed, and (NULL) at the end of the process, while its contexts are there. */
void gmt_instructions_drop_context(const void *context);

/* A launch was to be counted and was not. Needs no lock. */
void gmt_instructions_missed(enum gmt_unmeasured why);

/* At the end: where every instruction was to be counted, what came of it. */
void gmt_instructions_report(void);

/* In a forked child. */
void gmt_instructions_abandon(void);

#endif
