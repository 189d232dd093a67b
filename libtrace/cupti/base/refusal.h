/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI refuses, as capability rows that say what the user can do about it. */
#ifndef GMT_CUPTI_BASE_REFUSAL_H
#define GMT_CUPTI_BASE_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/record/layout.h"

/* The `cupti` row when none could be loaded; error as gmt_cupti_load returned it for `api`. */
void gmt_refusal_no_cupti(const struct gmt_cupti_api *api, int error, const char *given);

/* A row `name` for `result` of CUPTI's `function`; CUPTI_SUCCESS gives an "ok" row. */
void gmt_refusal_row(const char *name, const struct gmt_cupti_api *api, CUptiResult result,
                     const char *function);

/* True for refusals that concern one counter group on one chip, not counters as such. */
bool gmt_refusal_is_of_group(CUptiResult result);

/* The `cupti.program` row of a program that has used another copy of CUPTI than ours, if it has. */
void gmt_refusal_copies(void);

#endif
