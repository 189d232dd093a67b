/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of each intercepted function means, as its row says. */
#include "libtrace/record/traits.h"
#include "preload/driver/hook_ids.h"

const uint16_t gmt_hook_traits[GMT_HOOK_COUNT] = {
#define GMT_HOOK(symbol, family, runtime, traits, ...) (traits),
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};
