/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA_INJECTION64_PATH: the driver loads this library in cuInit and calls
 * InitializeInjection. It is the only one for executables that are linked statically.
 *
 * No hook can be installed that late. Calls are reported by CUPTI instead, at both ends, and run the
 * callbacks of the same hooks (preload/hooks/callback.h). Where the library is preloaded as well, this does
 * nothing.
 */
#ifndef GMT_PRELOAD_LOOKUP_INJECTION_H
#define GMT_PRELOAD_LOOKUP_INJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "preload/hooks/hook.h"

int InitializeInjection(void);

/* Of each hook: CUPTI's number of the function, the size of its parameters there, and the callbacks. */
struct gmt_reported_hook {
    uint32_t callback;
    size_t parameter_bytes; /* 0: it has none */
    const struct gmt_hook_callbacks *callbacks;
};
extern const struct gmt_reported_hook gmt_reported_hooks[GMT_HOOK_COUNT];

#endif
