/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of a kernel node (attributes.h). */
#include "preload/graph/attributes.h"

#include <string.h>

#include "preload/driver/resolve.h"

/* Of later CUDA versions: not in older headers. An older driver does not know them: nothing is set then. */
#define PREFERRED_CLUSTER_DIMENSION 11
#define DEVICE_UPDATABLE_KERNEL_NODE 13
#define NVLINK_UTIL_CENTRIC_SCHEDULING 16

static const struct {
    int id;
    bool refused; /* where it is set */
} known[] = {
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, false},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, true},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, false},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, false},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, false},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, false},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, false},
    {PREFERRED_CLUSTER_DIMENSION, false},
    {DEVICE_UPDATABLE_KERNEL_NODE, true},
    {NVLINK_UTIL_CENTRIC_SCHEDULING, true},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))
_Static_assert(KNOWN - 2 <= GMT_STEP_ATTRIBUTES, "those that are not refused have room");

static bool is_set(int id, const CUlaunchAttributeValue *value)
{
    int first; /* of its members: what is switched on, a size, a number */
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return value->accessPolicyWindow.num_bytes != 0;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: return value->cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return value->clusterDim.x != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value->clusterSchedulingPolicyPreference != 0;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: return value->priority != 0;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: /* 0 and 1 unless something else was asked for */
        return value->memSyncDomainMap.default_ != 0 || value->memSyncDomainMap.remote != 1;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return value->memSyncDomain != 0;
    default: memcpy(&first, value->pad, sizeof(first)); return first != 0;
    }
}

bool gmt_step_attributes(struct gmt_step_kernel *kernel, CUgraphNode node, bool with_priority)
{
    kernel->attribute_count = 0;
    if (gmt_driver.cuGraphKernelNodeGetAttribute == NULL) {
        return false;
    }
    for (size_t i = 0; i < KNOWN; i++) {
        CUlaunchAttribute one = {.id = (CUlaunchAttributeID)known[i].id};
        if (gmt_driver.cuGraphKernelNodeGetAttribute(node, one.id, &one.value) != CUDA_SUCCESS ||
            !is_set(known[i].id, &one.value) ||
            (known[i].id == CU_LAUNCH_ATTRIBUTE_PRIORITY && !with_priority)) {
            continue;
        }
        if (known[i].refused) {
            return false;
        }
        kernel->attributes[kernel->attribute_count++] = one;
    }
    return true;
}
