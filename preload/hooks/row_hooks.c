/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that look into no parameter but stream and bytes: their rows in driver/hooks.def say all. */
#include "preload/hooks/hook.h"
#include "preload/state/device.h"
#include "preload/state/hazards.h"
#include "preload/state/waits.h"

/* The others are written by hand. */
#define GMT_HOOK(symbol, family, runtime, traits)

#define GMT_HOOK_CALL(symbol, family, runtime, traits, parameters, arguments, stream, flags, \
                      bytes) \
    GMT_DEFINE_HOOK(symbol, parameters, arguments, stream, flags, (void)0, \
                    gmt_hook_call_record(GMT_REC_CALL, &call, bytes))

#define GMT_HOOK_HOST_WORK(symbol, family, runtime, traits, parameters, arguments, stream, flags, \
                           bytes) \
    GMT_DEFINE_HOOK(symbol, parameters, arguments, stream, flags, gmt_waits_begin(), { \
        gmt_waits_end(&call); \
        gmt_hook_call_record(GMT_REC_CALL, &call, bytes); \
    })

#define GMT_HOOK_EXPORT(symbol, family, runtime, traits, parameters, arguments, stream, flags, \
                        bytes, first, length) \
    GMT_DEFINE_HOOK(symbol, parameters, arguments, stream, flags, (void)0, { \
        gmt_hazards_exported(&call, first, length); \
        gmt_hook_call_record(GMT_REC_CALL, &call, bytes); \
    })

#define GMT_HOOK_OPEN(symbol, family, runtime, traits, parameters, arguments, stream, flags, \
                      bytes, what) \
    GMT_DEFINE_HOOK(symbol, parameters, arguments, stream, flags, (void)0, { \
        gmt_hazards_opened(&call, what); \
        gmt_hook_call_record(GMT_REC_CALL, &call, bytes); \
    })

#define GMT_HOOK_HELD(symbol, family, runtime, traits, parameters, arguments) \
    GMT_DEFINE_HELD(symbol, parameters, arguments, (void)0)

#define GMT_HOOK_RETAIN(symbol, family, runtime, traits, parameters, arguments, device) \
    GMT_DEFINE_HELD(symbol, parameters, arguments, gmt_primary_retained(device))

#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, parameters, arguments) \
    GMT_DEFINE_PASSING(symbol, parameters, arguments)

#include "preload/driver/hooks.def"
