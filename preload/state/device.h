/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in the trace. */
#ifndef GMT_PRELOAD_STATE_DEVICE_H
#define GMT_PRELOAD_STATE_DEVICE_H

#include <cuda.h>
#include <stdbool.h>

/* Write the device's record (GMT_REC_DEVICE) unless that has been done. */
void gmt_device_note(CUdevice device);

/*
 * References to primary contexts (cuDevicePrimaryCtxRetain), of which the driver only says whether there are any. What no hook
 * saw taken, or was taken before a reset, is not counted: then a release looks like the last one although it is not.
 */
void gmt_primary_retained(CUdevice device);
/* One is about to be given back: may it be the last? */
bool gmt_primary_releasing(CUdevice device);
/* What drivers do with the references then differs. */
void gmt_primary_resetting(CUdevice device);

/* In a forked child: nothing has been written, and no context is its own. */
void gmt_device_reset(void);

#endif
