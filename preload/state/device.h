/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in the trace. */
#ifndef GMT_PRELOAD_STATE_DEVICE_H
#define GMT_PRELOAD_STATE_DEVICE_H

#include <cuda.h>

/* Write the device's record (GMT_REC_DEVICE) unless that has been done. */
void gmt_device_note(CUdevice device);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi writes it. */
void gmt_device_format_uuid(const CUuuid *uuid, char text[static 48]);

/* Version of the kernel driver ("580.159.04"), "" if it cannot be read. */
void gmt_device_driver_version(char text[static 32]);

/* In a forked child: nothing has been written. */
void gmt_device_reset(void);

#endif
