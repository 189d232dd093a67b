/* SPDX-License-Identifier: Apache-2.0 */
/* How many devices there are: SIMGPU_DEVICES, or one. */
#include <stdlib.h>

#include "simgpu/driver/driver.h"

int sim_device_count(void)
{
    static atomic_int counted; /* + 1, 0 = not yet */
    int count = atomic_load_explicit(&counted, memory_order_relaxed) - 1;
    if (count < 0) {
        const char *text = getenv("SIMGPU_DEVICES");
        long asked = text != NULL && text[0] != '\0' ? strtol(text, NULL, 10) : 1;
        count = asked < 0 ? 0 : asked > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : (int)asked;
        atomic_store_explicit(&counted, count + 1, memory_order_relaxed);
    }
    return count;
}

bool sim_device_valid(CUdevice device)
{
    return device >= 0 && device < sim_device_count();
}
