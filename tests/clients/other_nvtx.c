/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's NVTX tool: counts the pushes it is given and says so when the program ends. */
#include <stdio.h>
#include <stdlib.h>

#include "preload/state/nvtx.h"

static unsigned pushes;

static int push(const char *name)
{
    (void)name;
    return (int)pushes++;
}

static void report(void)
{
    fprintf(stderr, "other tool: %u pushes\n", pushes);
}

int InitializeInjectionNvtx2(gmt_nvtx_get_table get_table)
{
    const struct gmt_nvtx_callbacks *callbacks = get_table(GMT_NVTX_TABLE_CALLBACKS);
    gmt_nvtx_function **table;
    unsigned size;
    if (callbacks->get_module(GMT_NVTX_CORE, &table, &size) == 0) {
        return 0;
    }
    *table[9] = (gmt_nvtx_function)push;
    (void)atexit(report);
    return 1;
}
