/* SPDX-License-Identifier: Apache-2.0 */
/* Recording the end of an allocation. */
#ifndef GMT_PRELOAD_ALLOC_H
#define GMT_PRELOAD_ALLOC_H

#include "preload/allocmap.h"
#include "preload/hook.h"

/* The call `site` freed `gone` (already taken out of the map); if it failed, it is put back. With
 * `known` false the call freed nothing that is known and is recorded as a plain call. */
void gmt_alloc_record_free(const struct gmt_site *site, bool known,
                           const struct gmt_allocation *gone);

#endif
