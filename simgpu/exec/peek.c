/* SPDX-License-Identifier: Apache-2.0 */
/* Reading device memory on behalf of one thread, by generic address. */
#include <string.h>

#include "simgpu/exec/print.h"

static const uint8_t *within(const uint8_t *base, uint64_t size, uint64_t offset, size_t *bytes)
{
    *bytes = offset < size ? (size_t)(size - offset) : 0;
    return offset < size ? base + offset : NULL;
}

static const uint8_t *in_map(const struct sim_map *map, uint64_t address, size_t *bytes)
{
    size_t low = 0, high = map != NULL ? map->count : 0;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (map->regions[middle].base <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *bytes = 0;
    if (low == 0 || (map->regions[low - 1].flags & SIM_REGION_INVALID) != 0) {
        return NULL;
    }
    const struct sim_region *region = &map->regions[low - 1];
    return within((const uint8_t *)(uintptr_t)region->base, region->bytes, address - region->base,
                  bytes);
}

const uint8_t *sim_peek(const struct sim_warp *warp, unsigned lane, uint64_t address, size_t *bytes)
{
    const struct sim_block *block = warp->block;
    const struct sim_launch *launch = block->launch;

    if (address - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES) {
        return within(block->shared, block->shared_bytes, address - SIM_SHARED_WINDOW, bytes);
    }
    if (address - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES) {
        return within(warp->local + lane * warp->local_stride, warp->local_stride,
                      address - SIM_LOCAL_WINDOW, bytes);
    }
    if (address - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES) {
        return within(launch->params, launch->kernel->info.param_bytes, address - SIM_PARAM_WINDOW,
                      bytes);
    }
    return in_map(launch->map, address, bytes);
}

bool sim_peek_copy(const struct sim_warp *warp, unsigned lane, uint64_t address, void *to,
                   size_t bytes)
{
    size_t there;
    const uint8_t *from = sim_peek(warp, lane, address, &there);

    if (from == NULL || there < bytes) {
        return false;
    }
    memcpy(to, from, bytes);
    return true;
}

bool sim_peek_string(const struct sim_warp *warp, unsigned lane, uint64_t address, char *to,
                     size_t bytes)
{
    size_t there;
    const uint8_t *from = sim_peek(warp, lane, address, &there);
    const size_t most = there < bytes - 1 ? there : bytes - 1;

    to[0] = '\0';
    if (from == NULL) {
        return false;
    }
    const size_t length = strnlen((const char *)from, most);
    memcpy(to, from, length);
    to[length] = '\0';
    return length < most || there >= bytes - 1;
}
