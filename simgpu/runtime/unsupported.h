/* SPDX-License-Identifier: Apache-2.0 */
/* What unsupported.c, which cannot include runtime.h, asks of the rest. */
#ifndef SIMGPU_RUNTIME_UNSUPPORTED_H
#define SIMGPU_RUNTIME_UNSUPPORTED_H

#include <driver_types.h>

/* cudaErrorNotSupported, kept as the thread's last error. */
cudaError_t sim_leave_unsupported(void);

#endif
