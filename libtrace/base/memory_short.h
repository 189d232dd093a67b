/* SPDX-License-Identifier: Apache-2.0 */
/* Whether memory was short: without it something may be missing that nobody asks for. */
#ifndef GMT_BASE_MEMORY_SHORT_H
#define GMT_BASE_MEMORY_SHORT_H

#include <stdbool.h>

/* An allocation failed after which something may be missing: no output is whole. */
bool gmt_memory_short(void);
void gmt_memory_note_short(void);

#endif
