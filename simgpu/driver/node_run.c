/* SPDX-License-Identifier: Apache-2.0 */
/* Doing what a node says. */
#include <string.h>

#include "simgpu/driver/driver.h"

/* Memory may have been freed since a graph was recorded. */
static bool side_known(const char *start, size_t pitch, size_t slice, const struct sim_copy *copy)
{
    size_t bytes = (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
    return sim_heap_covers((uintptr_t)start, bytes);
}

static CUresult run_copy(const struct sim_copy *copy)
{
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) {
        return CUDA_SUCCESS;
    }
    if ((copy->dst_known && !side_known(copy->dst, copy->dst_pitch, copy->dst_slice, copy)) ||
        (copy->src_known && !side_known(copy->src, copy->src_pitch, copy->src_slice, copy))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            memmove(copy->dst + z * copy->dst_slice + y * copy->dst_pitch,
                    copy->src + z * copy->src_slice + y * copy->src_pitch, copy->width);
        }
    }
    return CUDA_SUCCESS;
}

static void set_row(char *row, const struct sim_memset *set)
{
    if (set->element_bytes == 1) {
        memset(row, (int)(set->value & 0xff), set->width);
        return;
    }
    for (size_t x = 0; x < set->width; x++) {
        memcpy(row + x * set->element_bytes, &set->value, set->element_bytes);
    }
}

static CUresult run_set(const struct sim_memset *set)
{
    size_t bytes = (set->height - 1) * set->pitch + set->width * set->element_bytes;
    if (!sim_heap_covers((uintptr_t)set->dst, bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t y = 0; y < set->height; y++) {
        set_row(set->dst + y * set->pitch, set);
    }
    return CUDA_SUCCESS;
}

static CUresult run_value(const struct sim_node *node)
{
    if (!sim_heap_covers((uintptr_t)node->value.address, node->value.bytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (node->value.bytes == sizeof(uint64_t)) {
        __atomic_store_n((uint64_t *)node->value.address, node->value.value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n((uint32_t *)node->value.address, (uint32_t)node->value.value,
                         __ATOMIC_RELEASE);
    }
    return CUDA_SUCCESS;
}

CUresult sim_node_run(const struct sim_node *node, struct sim_context *context)
{
    CUresult result = CUDA_SUCCESS;
    if (node->kind == SIM_NODE_HOST) { /* user code: no lock */
        node->host.call(node->host.data);
        return CUDA_SUCCESS;
    }
    sim_work_begin();
    switch (node->kind) {
    case SIM_NODE_COPY: result = run_copy(&node->copy); break;
    case SIM_NODE_SET: result = run_set(&node->set); break;
    case SIM_NODE_CALL: result = sim_call_run(node->call, context); break;
    case SIM_NODE_VALUE: result = run_value(node); break;
    default: break;
    }
    sim_work_end();
    return result;
}
