/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device code as the driver loads it, so that instructions that were counted can be looked up later.
 *
 * Every module's cubin is put aside in a file of the spool, because CUPTI shows it only while it is
 * being loaded; the trace gets those of which a kernel was counted, taken from there by whoever finishes it
 * (libtrace/store/sass/cubin_images.h). The file is opened for each use: a program may close descriptors that
 * it does not know. What its symbols say goes into code_index.h.
 */
#ifndef GMT_CUPTI_CODE_CUBINS_H
#define GMT_CUPTI_CODE_CUBINS_H

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/collector.h"

/* Listen to modules being loaded, until the process ends. Both stay valid for its life. *failed names
 * the CUPTI function that refused. */
CUptiResult gmt_cubins_start(const struct gmt_cupti_api *api,
                             const struct gmt_collector_config *config, const char **failed);

/* A kernel of this cubin was counted: the spool says once where its image lies, which is not read here: a
 * framework's has tens of MB, and a launch of the program waits. False: it was not put aside, or the spool
 * is full. */
bool gmt_cubins_keep(uint32_t crc);

/* In a forked child: the file is the parent's. */
void gmt_cubins_abandon(void);

/* CUPTI has one subscriber: leave that to the program. False: it was not us. What it loads from now on is
 * not put aside, and what the code of any kernel can reach is not known any more. The caller holds
 * handover.c's lock, as of the next two. `quiesce` waits for the end of a launch that is being counted. */
bool gmt_cubins_yield(void (*quiesce)(void));
/* CUPTI has been taken down, and our subscription with it. */
void gmt_cubins_lost(void);
/* Either of both is so: nothing can be counted, for CUPTI patches by our subscription. Needs no lock. */
bool gmt_cubins_left(void);
/* Nobody of the program's has subscribed any more. Harmless where nothing was yielded or lost. */
void gmt_cubins_resume(void);

#endif
