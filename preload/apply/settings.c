/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait-policy: how threads wait for a device: cuDevicePrimaryCtxSetFlags, as cudaSetDeviceFlags makes it.
 * pool-threshold: how much freed memory the default pool of a device keeps at a wait (cudaMemPoolAttrReleaseThreshold).
 *
 * Results do not depend on either. Both are made once, before the program's next call; what the program sets itself, before or
 * later, stands. Conditions:
 * - wait-policy: the primary context is not active, and no policy has been set. Contexts of cuCtxCreate have flags of their own.
 * - pool-threshold: the threshold is 0, its default. Memory that a pool keeps is not free to others (cudaMemGetInfo shows it),
 *   so it is bounded.
 */
#include "preload/apply/settings.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/apply/state.h"

static enum gmt_refusal set_policy(CUdevice device)
{
    unsigned flags = 0;
    int active = 0;
    unsigned policy = (unsigned)gmt_apply_plan.values[GMT_FIX_WAIT_POLICY_policy];
    if (gmt_apply_driver.cuDevicePrimaryCtxSetFlags_v2 == NULL ||
        gmt_apply_driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS) {
        return GMT_REFUSAL_DRIVER;
    }
    if (active != 0) {
        return GMT_REFUSAL_ACTIVE;
    }
    if ((flags & CU_CTX_SCHED_MASK) != CU_CTX_SCHED_AUTO) {
        return GMT_REFUSAL_SET_ALREADY;
    }
    return gmt_apply_driver.cuDevicePrimaryCtxSetFlags_v2(device, flags | policy) == CUDA_SUCCESS
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_DRIVER;
}

static enum gmt_refusal set_threshold(CUdevice device)
{
    CUmemoryPool pool = NULL;
    cuuint64_t threshold = 0,
               wanted = (cuuint64_t)gmt_apply_plan.values[GMT_FIX_POOL_THRESHOLD_bytes];
    if (gmt_apply_driver.cuDeviceGetDefaultMemPool == NULL ||
        gmt_apply_driver.cuMemPoolGetAttribute == NULL ||
        gmt_apply_driver.cuMemPoolSetAttribute == NULL ||
        gmt_apply_driver.cuDeviceGetDefaultMemPool(&pool, device) != CUDA_SUCCESS ||
        gmt_apply_driver.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                                               &threshold) != CUDA_SUCCESS) {
        return GMT_REFUSAL_DRIVER;
    }
    if (threshold != 0) {
        return GMT_REFUSAL_SET_ALREADY;
    }
    return gmt_apply_driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                                                  &wanted) == CUDA_SUCCESS
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_DRIVER;
}

static void set_on_all(enum gmt_fix fix, enum gmt_refusal (*set)(CUdevice device))
{
    int count = 0;
    if (!gmt_apply_on[fix]) {
        return;
    }
    if (gmt_apply_driver.cuDeviceGetCount == NULL || gmt_apply_driver.cuDeviceGet == NULL ||
        gmt_apply_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS) {
        gmt_apply_refuse(fix, GMT_REFUSAL_DRIVER, 0);
    }
    for (int i = 0; i < count; i++) {
        CUdevice device = 0;
        enum gmt_refusal reason = gmt_apply_driver.cuDeviceGet(&device, i) == CUDA_SUCCESS
                                      ? set(device)
                                      : GMT_REFUSAL_DRIVER;
        if (reason == GMT_REFUSAL_COUNT) {
            gmt_apply_count(fix, 0, 0);
        } else {
            gmt_apply_refuse(fix, reason, 0);
        }
    }
}

void gmt_settings_start(void)
{
    set_on_all(GMT_FIX_WAIT_POLICY, set_policy);
    set_on_all(GMT_FIX_POOL_THRESHOLD, set_threshold);
}
