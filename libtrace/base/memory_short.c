/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that memory was short. */
#include "libtrace/base/memory_short.h"

#include <stdatomic.h>

static atomic_bool is_short; /* a page is filled beside the analysis */

void gmt_memory_note_short(void)
{
    is_short = true;
}

bool gmt_memory_short(void)
{
    return is_short;
}
