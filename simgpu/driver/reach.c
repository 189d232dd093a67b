/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of a kernel reaches without being given its address (simgpu/simgpu.h). */
#include <errno.h>

#include "simgpu/driver/library.h"

int sim_code_reach(void *function, void (*variable)(void *data, const char *name), void *data)
{
    const struct sim_function *found = sim_function_of((CUfunction)function, sim_current());
    int effects = found != NULL ? sim_kernel_effects(found->kernel) : -ENOENT;

    for (size_t i = 0; effects == 0 && i < found->image->global_count; i++) {
        variable(data, found->image->globals[i].name);
    }
    return effects;
}
