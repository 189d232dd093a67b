/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a context in which work went wrong: the error is kept, and returned by calls that wait. */
#include "simgpu/driver/driver.h"

static atomic_int faults_seen; /* contexts whose error has been reported */

bool sim_faults_seen(void)
{
    return atomic_load_explicit(&faults_seen, memory_order_relaxed) != 0;
}

bool sim_faulted(struct sim_context *context)
{
    return atomic_load(&context->fault) != CUDA_SUCCESS;
}

CUresult sim_fault(struct sim_context *context, bool synchronizing)
{
    int fault = atomic_load(&context->fault);
    if (fault == CUDA_SUCCESS) {
        return CUDA_SUCCESS;
    }
    if (synchronizing && !atomic_exchange(&context->fault_seen, true)) {
        atomic_fetch_add(&faults_seen, 1);
    }
    return atomic_load(&context->fault_seen) ? (CUresult)fault : CUDA_SUCCESS;
}

void sim_fault_set(struct sim_context *context, CUresult error)
{
    int none = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&context->fault, &none, (int)error);
}

void sim_fault_forget(struct sim_context *context)
{
    if (atomic_load(&context->fault_seen)) {
        atomic_fetch_sub(&faults_seen, 1);
    }
}

CUresult sim_synchronize(struct sim_context *context)
{
    sim_print_flush();
    return sim_fault(context, true);
}
