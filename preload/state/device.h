/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in the trace. */
#ifndef GMT_PRELOAD_STATE_DEVICE_H
#define GMT_PRELOAD_STATE_DEVICE_H

#include <cuda.h>

/* Write the device's record (GMT_REC_DEVICE) unless that has been done. */
void gmt_device_note(CUdevice device);

/* In a forked child: nothing has been written. */
void gmt_device_reset(void);

#endif
