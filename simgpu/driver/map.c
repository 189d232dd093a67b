/* SPDX-License-Identifier: Apache-2.0 */
/* The map of memory that the kernels of a context may touch, made anew when memory has changed. */
#include <stdlib.h>

#include "simgpu/driver/registry.h"

bool sim_range_accessible(const struct sim_range *range, CUdevice device, unsigned peers)
{
    if ((range->kind & (SIM_ANY_HOST_MEMORY | SIM_MEM_MANAGED)) != 0 || range->device == device) {
        return true;
    }
    /* Access to a pool's memory is the pool's own affair, not that of peer access. */
    return range->pool != NULL ? sim_mempool_reaches(range->pool, device)
                               : (peers >> range->device & 1) != 0;
}

static uint32_t region_flags(const struct sim_range *range, const struct sim_context *context)
{
    uint32_t flags = 0;
    flags |= (range->kind & SIM_ANY_HOST_MEMORY) != 0 ? SIM_REGION_HOST : 0u;
    flags |= (range->kind & SIM_MEM_MANAGED) != 0 ? SIM_REGION_MANAGED : 0u;
    flags |= (range->kind & SIM_MEM_GLOBAL) != 0 ? SIM_REGION_GLOBAL : 0u;
    flags |= range->is_const ? SIM_REGION_CONST : 0u;
    return sim_range_accessible(range, context->device, atomic_load(&context->peers))
               ? flags
               : flags | SIM_REGION_INVALID;
}

struct filling {
    const struct sim_context *context;
    struct sim_region *regions;
    size_t count;
};

static bool add_region(struct sim_range *range, void *data)
{
    struct filling *filling = data;
    filling->regions[filling->count++] = (struct sim_region){
        .base = range->start,
        .bytes = range->bytes,
        .flags = region_flags(range, filling->context),
        .id = range->id,
        .name = range->name,
    };
    return true;
}

/* Registry locked. */
static bool refill(struct sim_context *context)
{
    size_t needed = sim_registry.memory.count;
    if (needed > context->map_capacity || context->map.regions == NULL) {
        size_t capacity = needed + needed / 2 + 16;
        struct sim_region *grown = malloc(capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        free((void *)(uintptr_t)context->map.regions);
        context->map.regions = grown;
        context->map_capacity = capacity;
    }
    struct filling filling = {.context = context,
                              .regions = (struct sim_region *)(uintptr_t)context->map.regions};
    sim_tree_walk(&sim_registry.memory, add_region, &filling);
    context->map.count = filling.count;
    context->map_generation = sim_registry.generation;
    return true;
}

const struct sim_map *sim_map_of(struct sim_context *context)
{
    pthread_mutex_lock(&sim_registry.lock);
    bool current = (context->map.regions != NULL &&
                    context->map_generation == sim_registry.generation) ||
                   refill(context);
    pthread_mutex_unlock(&sim_registry.lock);
    return current ? &context->map : NULL;
}

void sim_map_changed(void)
{
    pthread_mutex_lock(&sim_registry.lock);
    sim_registry.generation++;
    pthread_mutex_unlock(&sim_registry.lock);
}
