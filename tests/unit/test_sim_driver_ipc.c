/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that another process opens by a handle: what it sees, and what has no handle or is not opened. */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_driver_fixture.h"

#define BYTES ((size_t)1 << 20)

static CUipcMemHandle handle;
static CUdeviceptr memory;

/* Calls of the other process, which is no test by itself. */
static bool open_is(CUdeviceptr *there, CUresult expected)
{
    return cuIpcOpenMemHandle(there, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == expected;
}

static bool see_and_write(void)
{
    CUdeviceptr there, again, base;
    size_t bytes = 0;
    unsigned value = 0;
    bool ok = open_is(&there, CUDA_SUCCESS) && open_is(&again, CUDA_SUCCESS) && there == again &&
              cuMemcpyDtoH(&value, there + BYTES - 4, 4) == CUDA_SUCCESS && value == 77;
    value = 78;
    ok = ok && cuMemcpyHtoD(there, &value, 4) == CUDA_SUCCESS &&
         cuMemGetAddressRange(&base, &bytes, there + 5) == CUDA_SUCCESS && base == there &&
         bytes == BYTES && cuMemFree(there) == CUDA_ERROR_INVALID_VALUE;
    /* Each opening is closed. */
    return ok && cuIpcCloseMemHandle(there) == CUDA_SUCCESS &&
           cuMemcpyDtoH(&value, there, 4) == CUDA_SUCCESS &&
           cuIpcCloseMemHandle(there) == CUDA_SUCCESS &&
           cuMemcpyDtoH(&value, there, 4) == CUDA_ERROR_INVALID_VALUE &&
           cuIpcCloseMemHandle(there) == CUDA_ERROR_INVALID_VALUE;
}

/* Whatever is in the handle: no, or memory that can be read. */
static bool survive_damage(void)
{
    const CUipcMemHandle whole = handle;
    bool ok = true;
    for (unsigned i = 0; i < 48; i++) {
        CUdeviceptr there;
        char value;
        handle = whole;
        handle.reserved[i] = (char)(handle.reserved[i] ^ 0x80);
        if (cuIpcOpenMemHandle(&there, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
            CUDA_SUCCESS) {
            ok = ok && cuMemcpyDtoH(&value, there, 1) == CUDA_SUCCESS &&
                 cuIpcCloseMemHandle(there) == CUDA_SUCCESS;
        }
    }
    handle = whole;
    return ok && see_and_write();
}

static bool find_none(void)
{
    CUdeviceptr there;
    return open_is(&there, CUDA_ERROR_INVALID_VALUE);
}

/* What the other process finds while this one has the memory, or (`is_freed`) when it has it no more. */
static bool ask_other(bool (*look)(void), bool is_freed)
{
    int there[2], status = 1;
    cr_assert_eq(pipe(there), 0);
    pid_t child = fork();
    if (child == 0) {
        CUcontext context;
        bool ok = read(there[0], &handle, sizeof handle) == (ssize_t)sizeof handle &&
                  cuInit(0) == CUDA_SUCCESS &&
                  cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                  cuCtxSetCurrent(context) == CUDA_SUCCESS && look();
        _exit(ok ? 0 : 1);
    }
    sim_start(1);
    unsigned value = 77;
    OK(cuMemAlloc(&memory, BYTES));
    OK(cuMemcpyHtoD(memory + BYTES - 4, &value, 4));
    OK(cuIpcGetMemHandle(&handle, memory));
    CUipcMemHandle second;
    OK(cuIpcGetMemHandle(&second, memory));
    cr_expect_eq(memcmp(&handle, &second, sizeof handle), 0);
    cr_expect_eq(sim_word_at(memory + BYTES - 4), 77, "what it held is lost");
    if (is_freed) {
        OK(cuMemFree(memory));
    }
    cr_assert_eq(write(there[1], &handle, sizeof handle), (ssize_t)sizeof handle);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status == 0;
}

Test(sim_driver_ipc, another_process_sees_the_same_bytes)
{
    cr_expect(ask_other(see_and_write, false));
    cr_expect_eq(sim_word_at(memory), 78);
    OK(cuMemFree(memory));
}

Test(sim_driver_ipc, a_damaged_handle_opens_nothing_that_is_not_there)
{
    cr_expect(ask_other(survive_damage, false));
}

Test(sim_driver_ipc, memory_that_was_freed_is_not_opened)
{
    cr_expect(ask_other(find_none, true));
}

Test(sim_driver_ipc, not_all_memory_has_a_handle)
{
    CUdeviceptr there, small, pooled;
    void *locked;
    sim_start(1);
    OK(cuMemAlloc(&memory, BYTES));
    OK(cuMemAlloc(&small, 64));
    OK(cuMemAllocAsync(&pooled, BYTES, NULL));
    OK(cuMemHostAlloc(&locked, BYTES, 0));
    OK(cuIpcGetMemHandle(&handle, memory));
    FAILS(CUDA_ERROR_INVALID_CONTEXT,
          cuIpcOpenMemHandle(&there, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&there, handle, 0));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuIpcGetMemHandle(&handle, small));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, pooled));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, (CUdeviceptr)locked));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(NULL, memory));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
}
