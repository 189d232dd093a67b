/* SPDX-License-Identifier: Apache-2.0 */
/* What a process under `gmtrace try` runs, and on which devices (note.h). */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>

#include "preload/apply/state.h"
#include "preload/session/command_line.h"
#include "preload/session/options.h"

static uint32_t name_devices(struct gmt_try_identity *identity)
{
    int count = 0;
    if (gmt_apply_driver.cuDeviceGetName == NULL || gmt_apply_driver.cuDeviceGet == NULL ||
        gmt_apply_driver.cuDeviceGetCount == NULL ||
        gmt_apply_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS || count < 0) {
        return 0;
    }
    count = count < GMT_TRY_DEVICES ? count : GMT_TRY_DEVICES;
    for (int i = 0; i < count; i++) {
        CUdevice device = 0;
        if (gmt_apply_driver.cuDeviceGet(&device, i) != CUDA_SUCCESS ||
            gmt_apply_driver.cuDeviceGetName(identity->device[i], GMT_TRY_NAME_BYTES, device) !=
                CUDA_SUCCESS) {
            return 0;
        }
    }
    return (uint32_t)count;
}

void gmt_apply_note_identity(void)
{
    uint32_t process = gmt_apply_process();
    if (gmt_apply_note() == NULL || process >= GMT_TRY_PROCESSES) {
        return;
    }
    struct gmt_try_identity *identity = &gmt_apply_note()->identity[process];
    (void)snprintf(identity->exe, sizeof(identity->exe), "%s", gmt_options_exe());
    gmt_command_line_read(identity->command, sizeof(identity->command));
    identity->devices = name_devices(identity);
}
