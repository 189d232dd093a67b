/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carve-out (GM404): kernels that use shared memory prefer it to L1 cache (CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
 * set before the first launch of each.
 *
 * It is a hint to the driver, on which no result depends; a preference of the program's is replaced. Conditions:
 * - the kernel has shared memory, static or in that launch, and does not prefer this share already;
 * - the launch is not one that is being captured: a graph takes the attributes of its nodes when it is made.
 */
#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/threads/cancellation.h"
#include "preload/apply/calls.h"
#include "preload/apply/copy.h"
#include "preload/apply/state.h"

#define SEEN_SLOTS 4096u /* of kernels; one that finds no slot is left as it is */
#define SEEN_TRIES 16u

static void *real[GMT_HOOK_COUNT];
static _Atomic uintptr_t seen[SEEN_SLOTS];
static _Atomic uintptr_t
    of_libraries[SEEN_SLOTS]; /* handles that are a CUkernel: launches take both kinds */

/* False: it is there already, or there is no room. */
static bool add(_Atomic uintptr_t *table, uintptr_t key)
{
    unsigned at = (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
    for (unsigned i = 0; i < SEEN_TRIES; i++, at = (at + 1) % SEEN_SLOTS) {
        uintptr_t there = atomic_load_explicit(&table[at], memory_order_relaxed);
        if (there == 0 && atomic_compare_exchange_strong(&table[at], &there, key)) {
            return true;
        }
        if (there == key) {
            return false;
        }
    }
    return false;
}

static bool has(const _Atomic uintptr_t *table, uintptr_t key)
{
    unsigned at = (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
    for (unsigned i = 0; i < SEEN_TRIES; i++, at = (at + 1) % SEEN_SLOTS) {
        if (atomic_load_explicit(&table[at], memory_order_relaxed) == key) {
            return true;
        }
    }
    return false;
}

static enum gmt_refusal set_carve_out(CUfunction kernel, unsigned dynamic_bytes)
{
    int shared = 0, before = 0;
    int wanted = (int)gmt_apply_plan.values[GMT_FIX_CARVE_OUT_percent];
    CUfunction function = kernel;
    if (has(of_libraries, (uintptr_t)kernel) &&
        (gmt_apply_driver.cuKernelGetFunction == NULL ||
         gmt_apply_driver.cuKernelGetFunction(&function, (CUkernel)kernel) != CUDA_SUCCESS)) {
        return GMT_REFUSAL_DRIVER;
    }
    if (gmt_apply_driver.cuFuncGetAttribute == NULL ||
        gmt_apply_driver.cuFuncSetAttribute == NULL ||
        gmt_apply_driver.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                            function) != CUDA_SUCCESS ||
        gmt_apply_driver.cuFuncGetAttribute(&before,
                                            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                            function) != CUDA_SUCCESS) {
        return GMT_REFUSAL_DRIVER;
    }
    if (shared == 0 && dynamic_bytes == 0) {
        return GMT_REFUSAL_NO_SHARED;
    }
    if (before == wanted) {
        return GMT_REFUSAL_SET_ALREADY;
    }
    return gmt_apply_driver.cuFuncSetAttribute(
               function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, wanted) == CUDA_SUCCESS
               ? GMT_REFUSAL_COUNT
               : GMT_REFUSAL_DRIVER;
}

/* Before a launch. */
static void note(CUfunction kernel, unsigned dynamic_bytes)
{
    if (kernel == NULL || atomic_load(&gmt_apply_captures) != 0 || gmt_apply_is_forked() ||
        !add(seen, (uintptr_t)kernel)) {
        return;
    }
    struct gmt_cancellation of_program = gmt_cancellation_hold();
    enum gmt_refusal reason = set_carve_out(kernel, dynamic_bytes);
    if (reason == GMT_REFUSAL_COUNT) {
        gmt_apply_count(GMT_FIX_CARVE_OUT, 0, 0);
    } else {
        gmt_apply_refuse(GMT_FIX_CARVE_OUT, reason, 0);
    }
    gmt_cancellation_allow(of_program);
}

#define LAUNCH(SYMBOL, BYTES, PARAMETERS, ARGUMENTS) \
    static CUresult launch_##SYMBOL PARAMETERS \
    { \
        note(function, BYTES); \
        return ((CUresult(*) PARAMETERS)real[GMT_HOOK_##SYMBOL])ARGUMENTS; \
    }
#define PLAIN(SYMBOL) \
    LAUNCH(SYMBOL, bytes, \
           (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
            unsigned bz, unsigned bytes, CUstream stream, void **arguments, void **extra), \
           (function, gx, gy, gz, bx, by, bz, bytes, stream, arguments, extra))
#define CONFIGURED(SYMBOL) \
    LAUNCH(SYMBOL, config != NULL ? config->sharedMemBytes : 0, \
           (const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra), \
           (config, function, arguments, extra))
#define COOPERATIVE(SYMBOL) \
    LAUNCH(SYMBOL, bytes, \
           (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
            unsigned bz, unsigned bytes, CUstream stream, void **arguments), \
           (function, gx, gy, gz, bx, by, bz, bytes, stream, arguments))
PLAIN(cuLaunchKernel)
PLAIN(cuLaunchKernel_ptsz)
CONFIGURED(cuLaunchKernelEx)
CONFIGURED(cuLaunchKernelEx_ptsz)
COOPERATIVE(cuLaunchCooperativeKernel)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

static CUresult launch_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    CUresult result = ((CUresult(*)(CUkernel *, CUlibrary,
                                    const char *))real[GMT_HOOK_cuLibraryGetKernel])(kernel,
                                                                                     library, name);
    if (result == CUDA_SUCCESS) {
        (void)add(of_libraries, (uintptr_t)*kernel);
    }
    return result;
}

static CUresult launch_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count,
                                                 CUlibrary library)
{
    CUresult result = ((CUresult(*)(CUkernel *, unsigned, CUlibrary))
                           real[GMT_HOOK_cuLibraryEnumerateKernels])(kernels, count, library);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++) {
        (void)(kernels[i] != NULL && add(of_libraries, (uintptr_t)kernels[i]));
    }
    return result;
}

#define REPLACED(SYMBOL) \
    gmt_apply_replace(GMT_HOOK_##SYMBOL, (void *)launch_##SYMBOL, &real[GMT_HOOK_##SYMBOL])

void gmt_apply_install_launches(void)
{
    REPLACED(cuLibraryGetKernel);
    REPLACED(cuLibraryEnumerateKernels);
    REPLACED(cuLaunchKernel);
    REPLACED(cuLaunchKernel_ptsz);
    REPLACED(cuLaunchKernelEx);
    REPLACED(cuLaunchKernelEx_ptsz);
    REPLACED(cuLaunchCooperativeKernel);
    REPLACED(cuLaunchCooperativeKernel_ptsz);
}
