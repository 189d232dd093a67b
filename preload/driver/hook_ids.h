/* SPDX-License-Identifier: Apache-2.0 */
/* The intercepted driver functions as numbers (table: hooks.def). */
#ifndef GMT_PRELOAD_DRIVER_HOOK_IDS_H
#define GMT_PRELOAD_DRIVER_HOOK_IDS_H

#include <cuda.h>
#include <stdint.h>

enum gmt_hook_id {
#define GMT_HOOK(symbol, family, runtime, traits, ...) GMT_HOOK_##symbol,
#include "preload/driver/hooks.def"
#undef GMT_HOOK
    GMT_HOOK_COUNT
};

/* What a call of each means: GMT_TRAIT_... (libtrace/record/traits.h). */
extern const uint16_t gmt_hook_traits[GMT_HOOK_COUNT];

#endif
