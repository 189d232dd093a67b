/* SPDX-License-Identifier: Apache-2.0 */
/* A context goes, with all that lies in it. */
#ifndef GMT_PRELOAD_HOOKS_CONTEXT_END_H
#define GMT_PRELOAD_HOOKS_CONTEXT_END_H

#include <cuda.h>

#include "preload/state/hook_call.h"

/* A context is about to go (NULL: none). */
void gmt_context_going(CUcontext handle);
/* It went, if the call succeeded: its handle may come back as another one, and what was allocated in it is
 * freed. */
void gmt_context_gone(const struct gmt_hook_call *call, CUcontext handle);

/* The call let go of the primary context of `device`: it went if nobody else holds it. */
void gmt_context_released(const struct gmt_hook_call *call, CUcontext primary, CUdevice device);

#endif
