/* SPDX-License-Identifier: Apache-2.0 */
/* What of CUPTI the program has switched on and not off again. The caller holds handover.c's lock. */
#ifndef GMT_CUPTI_MEASURE_HOLDS_H
#define GMT_CUPTI_MEASURE_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/cupti/handover.h"

void gmt_holds_add(enum gmt_held held, uint64_t key);
/* Harmless where nothing of the sort is held. */
void gmt_holds_drop(enum gmt_held held, uint64_t key);
void gmt_holds_clear(void);
bool gmt_holds_any(void);

#endif
