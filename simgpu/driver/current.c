/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread: its current context, and the streams that handles stand for there. */
#include "simgpu/driver/driver.h"

_Thread_local struct sim_thread sim_thread;

/* The current context, NULL if there is none or it has been destroyed. */
struct sim_context *sim_current(void)
{
    struct sim_context *context = sim_thread.depth > 0 ? sim_thread.contexts[sim_thread.depth - 1]
                                                       : NULL;
    return context != NULL && sim_object_is(context, SIM_CONTEXT) ? context : NULL;
}

/* 0: the legacy or the thread's default stream, by the entry point; 1 and 2: one of them by name. */
CUresult sim_stream_of(CUstream handle, struct sim_stream **stream)
{
    struct sim_context *current = sim_current();
    bool own = handle == CU_STREAM_PER_THREAD || (handle == NULL && sim_thread.per_thread);
    if (handle != NULL && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        *stream = (struct sim_stream *)handle;
        return sim_object_is(handle, SIM_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (current == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *stream = own ? &sim_thread.default_stream : &current->legacy;
    if (own) {
        (*stream)->context = current;
        (*stream)->id = SIM_PER_THREAD_STREAM_ID;
    }
    return CUDA_SUCCESS;
}
