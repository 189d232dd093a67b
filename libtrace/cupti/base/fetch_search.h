/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of the process is one that works when it is woken, and does nothing otherwise. */
#ifndef GMT_CUPTI_BASE_FETCH_SEARCH_H
#define GMT_CUPTI_BASE_FETCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/cupti/base/task.h"

/* Looks among these threads, but for the calling one. `wake` wakes the thread, and returns false where that
 * failed. *place gets where it sleeps. Returns 0 if there is none, or several could be it. */
uint32_t gmt_fetch_search(const uint32_t *tids, size_t count, bool (*wake)(const void *data),
                          const void *data, struct gmt_task_place *place);

/* Sleeps for so long, whatever signals come. */
void gmt_fetch_search_rest(uint64_t ns);

#endif
