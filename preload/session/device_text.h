/* SPDX-License-Identifier: Apache-2.0 */
/* What names a device in traces and models, as text. */
#ifndef GMT_PRELOAD_SESSION_DEVICE_TEXT_H
#define GMT_PRELOAD_SESSION_DEVICE_TEXT_H

#include <cuda.h>

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi writes it. */
void gmt_device_format_uuid(const CUuuid *uuid, char text[static 48]);

/* Version of the kernel driver ("580.159.04"), "" if it cannot be read. */
void gmt_device_driver_version(char text[static 32]);

#endif
