/* SPDX-License-Identifier: Apache-2.0 */
/* What CUPTI says of each hooked function. */
#include <cuda.h>

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "preload/lookup/injection.h"

/* CUPTI has no structure for these: they have no parameters. */
struct none {};
typedef struct none cuCtxSynchronize_params, cuProfilerStart_params, cuProfilerStop_params;

/* What is not recorded is not asked for: its row stays empty. */
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) \
    extern const struct gmt_hook_callbacks gmt_callbacks_of_##symbol;
#include "preload/driver/hooks.def"
#undef GMT_HOOK

const struct gmt_reported_hook gmt_reported_hooks[GMT_HOOK_COUNT] = {
#define GMT_HOOK_UNRECORDED(symbol, family, runtime, traits, ...)
#define GMT_HOOK(symbol, family, runtime, traits, ...) \
    {CUPTI_DRIVER_TRACE_CBID_##symbol, sizeof(symbol##_params), &gmt_callbacks_of_##symbol},
#include "preload/driver/hooks.def"
#undef GMT_HOOK
};
