/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that are put in place of the driver's. */
#ifndef GMT_PRELOAD_APPLY_CALLS_H
#define GMT_PRELOAD_APPLY_CALLS_H

#include <stdbool.h>

#include "preload/driver/hook_ids.h"

/* Hooks pass on to them from now on: calls.c. */
void gmt_apply_install(void);
/* Is it one of the copies among them? */
bool gmt_apply_is_copy(enum gmt_hook_id id);
/* ... and to those that only look, for digests: watch.c. */
void gmt_apply_install_watch(void);

/* ... and to launches, for carve-out: carve_out.c. */
void gmt_apply_install_launches(void);
/* ... and to allocations, for block-cache and pinned-cache: block_cache.c, pinned_cache.c ... */
void gmt_apply_install_block_cache(void);
void gmt_apply_install_pinned_cache(void);
/* ... and, for those that need it, to what shows kept memory, or makes contexts: shown.c, contexts.c. */
void gmt_apply_install_shown(void);
void gmt_apply_install_contexts(void);

#endif
