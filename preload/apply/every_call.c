/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the functions of every_call.S in place of the driver's (every_call.h). */
#include "preload/apply/every_call.h"

#include <assert.h>
#include <string.h>

#include "libtrace/record/traits.h"
#include "preload/apply/state.h"

static_assert((int)GMT_HOOK_COUNT <= GMT_EVERY_CALLS, "one for each hook");

/* In every_call.S. */
extern const char gmt_every_call_code[] __attribute__((visibility("hidden")));
extern __attribute__((visibility("hidden"))) void *(*gmt_every_call_begin)(unsigned id);
extern __attribute__((visibility("hidden"))) void *gmt_every_call_target[GMT_EVERY_CALLS];
extern __attribute__((visibility("hidden"))) uint32_t gmt_every_call_always[GMT_EVERY_CALLS];

void *gmt_every_call_real(unsigned id)
{
    return gmt_every_call_target[id];
}

bool gmt_every_call_shares(unsigned id)
{
    return gmt_every_call_always[id] != 0;
}

void gmt_every_call_install(void *(*begin)(unsigned id), bool (*leaves_out)(enum gmt_hook_id id))
{
    gmt_every_call_begin = begin;
    for (unsigned id = 0; id < GMT_HOOK_COUNT; id++) {
        uintptr_t code = (uintptr_t)gmt_every_call_code + ((uintptr_t)id << GMT_EVERY_CALL_SHIFT);
        void *function;
        memcpy(&function, &code, sizeof(function));
        gmt_every_call_always[id] = (gmt_hook_traits[id] & GMT_TRAIT_SHARES_MEMORY) != 0 ||
                                    id == GMT_HOOK_cuPointerSetAttribute ||
                                    id == GMT_HOOK_cuCtxEnablePeerAccess;
        if (!leaves_out((enum gmt_hook_id)id)) {
            gmt_apply_replace((enum gmt_hook_id)id, function, &gmt_every_call_target[id]);
        }
    }
}
