/* SPDX-License-Identifier: Apache-2.0 */
/* Device timestamps: CUPTI's activity records of kernels, copies and memsets, into the spool. */
#ifndef GMT_CUPTI_ACTIVITY_H
#define GMT_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/loader.h"

/* Start. `api` must stay valid for the life of the process. *failed names the CUPTI function that
 * refused. */
CUptiResult gmt_activity_start(const struct gmt_cupti_api *api, const char **failed);

/* gmt_context.id of CUPTI's context id. */
void gmt_activity_add_context(uint32_t cupti_context, uint32_t id);

/* Kernel records on or off (copies and memsets stay on); see ranges.h for why. */
void gmt_activity_set_kernels(bool on);
bool gmt_activity_kernels_on(void);

/* Deliver what is complete; with `forced` also what is not (its times are 0). */
void gmt_activity_flush(bool forced);

/* In a forked child: CUPTI's callbacks write nothing any more. */
void gmt_activity_abandon(void);

#endif
