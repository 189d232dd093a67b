/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of cuMemAlloc that other processes open. When its handle is asked for, its pages become those of a file without a name, in their
 * place; the handle says by which descriptor of which process that file is had. So it can be opened while that process lives, as on hardware.
 *
 * Blocks that the heap takes from malloc share their pages with others, and have no handle: those below 1 MiB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simgpu/driver/registry.h"
#include "simgpu/order/order.h"

#define MAGIC UINT64_C(0x6370695f6d6973) /* sim_ipc */

/* What CUipcMemHandle holds. */
struct ipc_handle {
    uint64_t magic;
    uint64_t inode, bytes, mapped_bytes;
    int32_t process, file, device,
        none; /* the last: 0, as two handles of one block are equal, byte by byte */
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "it has room for that");

/* Memory of another process that is open here. */
struct ipc_memory {
    struct ipc_memory *next;
    uint32_t
        id; /* of its range: a context ends with what is open in it, and the address may be another one by then */
    uintptr_t start;
    struct ipc_handle handle;
    unsigned opened;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* before that of the registry */
static struct ipc_memory *memories;

/* ---- giving ------------------------------------------------------------------------------------ */

/* The file takes the place of the pages, with what they hold. Nothing is being done. -1: it cannot be had. */
static int move_to_file(const struct sim_range *range)
{
    int made = memfd_create("simgpu_ipc", MFD_CLOEXEC);
    int file = made >= 0 ? fcntl(made, F_DUPFD_CLOEXEC, 3) : -1; /* none of the standard ones */
    size_t bytes = range->mapped_bytes;
    if (made >= 0) {
        close(made);
    }
    bool is_made = file >= 0 && ftruncate(file, (off_t)bytes) == 0;
    void *copy = is_made ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                         : MAP_FAILED;
    if (copy != MAP_FAILED) {
        memcpy(copy, (void *)range->start, bytes);
        munmap(copy, bytes);
        is_made = mmap((void *)range->start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       file, 0) != MAP_FAILED;
    }
    if (file >= 0 && (copy == MAP_FAILED || !is_made)) {
        close(file);
        file = -1;
    }
    return file;
}

/* It is made once: the file is the same. Work has stopped. */
static CUresult make_handle(const struct sim_range *range, CUipcMemHandle *handle)
{
    struct stat status;
    int file = range->file != 0 ? range->file : move_to_file(range);
    if (file < 0 || fstat(file, &status) != 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (void)sim_heap_set_file(range->start, range->id, file); /* nothing is freed meanwhile */
    const struct ipc_handle made = {.magic = MAGIC,
                                    .inode = (uint64_t)status.st_ino,
                                    .bytes = range->bytes,
                                    .mapped_bytes = range->mapped_bytes,
                                    .process = getpid(),
                                    .file = file,
                                    .device = range->device};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct sim_range range;
    sim_work_stop();
    CUresult result = pHandle == NULL || !sim_heap_find((uintptr_t)dptr, &range) ||
                              range.kind != SIM_MEM_DEVICE || range.pool != NULL
                          ? CUDA_ERROR_INVALID_VALUE
                      : range.mapped_bytes == 0 ? CUDA_ERROR_NOT_SUPPORTED
                                                : make_handle(&range, pHandle);
    sim_work_resume();
    return result;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* The handle may come from anybody: what lies outside of the file would raise a signal. -1: there is no such file. */
static int open_file(const struct ipc_handle *handle)
{
    char path[64];
    struct stat status;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)handle->process, (int)handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &status) != 0 || (uint64_t)status.st_ino != handle->inode ||
                      (uint64_t)status.st_size != handle->mapped_bytes || handle->bytes == 0 ||
                      handle->bytes > handle->mapped_bytes)) {
        close(file);
        file = -1;
    }
    return file;
}

/* Locked. What is open, first without what went with its context. */
static struct ipc_memory *open_memories(void)
{
    struct ipc_memory **link = &memories;
    while (*link != NULL) {
        struct ipc_memory *at = *link;
        struct sim_range range;
        if (sim_heap_find(at->start, &range) && range.id == at->id) {
            link = &at->next;
        } else {
            *link = at->next;
            free(at);
        }
    }
    return memories;
}

/* Open already: the same address. */
static bool open_again(const struct ipc_handle *handle, CUdeviceptr *out)
{
    pthread_mutex_lock(&lock);
    struct ipc_memory *found = open_memories();
    while (found != NULL &&
           (found->handle.inode != handle->inode || found->handle.process != handle->process)) {
        found = found->next;
    }
    if (found != NULL) {
        found->opened++;
        *out = found->start;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static CUresult map_memory(const struct ipc_handle *handle, struct sim_context *context,
                           struct ipc_memory *made)
{
    int file = open_file(handle);
    void *map = file >= 0
                    ? mmap(NULL, handle->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                    : MAP_FAILED;
    if (file >= 0) {
        close(file);
    }
    if (map == MAP_FAILED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_range range = {.start = (uintptr_t)map,
                              .bytes = handle->bytes,
                              .kind = SIM_MEM_MAPPED,
                              .device = handle->device,
                              .context = context,
                              .mapped_bytes = handle->mapped_bytes};
    if (!sim_heap_adopt(&range) || !sim_heap_find(range.start, &range)) {
        munmap(map, handle->mapped_bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (sim_order_on()) {
        sim_order_memory_is_new(range.start, range.bytes);
    }
    *made = (struct ipc_memory){
        .id = range.id, .start = range.start, .handle = *handle, .opened = 1};
    pthread_mutex_lock(&lock);
    made->next = memories;
    memories = made;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    struct ipc_handle wanted;
    memcpy(&wanted, &handle, sizeof wanted);
    if (pdptr == NULL || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || wanted.magic != MAGIC ||
        !sim_device_valid(wanted.device)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_context *context = sim_current();
    if (context == NULL || wanted.process == getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT; /* nor in the process that it is of */
    }
    if (open_again(&wanted, pdptr)) {
        return CUDA_SUCCESS;
    }
    struct ipc_memory *made = calloc(1, sizeof *made);
    CUresult result = made != NULL ? map_memory(&wanted, context, made) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        *pdptr = made->start;
    } else {
        free(made);
    }
    return result;
}

CUresult sim_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    return sim_cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

/* Locked. Not open any more; its bytes, to be unmapped. */
static size_t take_out(struct ipc_memory *memory)
{
    struct ipc_memory **link = &memories;
    size_t mapped_bytes = memory->handle.mapped_bytes;
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
    free(memory);
    return mapped_bytes;
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    size_t mapped_bytes = 0;
    sim_order_drain();
    sim_work_stop();
    pthread_mutex_lock(&lock);
    struct ipc_memory *found = open_memories();
    while (found != NULL && found->start != dptr) {
        found = found->next;
    }
    CUresult result = found != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (found != NULL && --found->opened == 0) {
        mapped_bytes = take_out(found);
    }
    pthread_mutex_unlock(&lock);
    if (mapped_bytes != 0) {
        sim_heap_disown(dptr);
        munmap((void *)dptr, mapped_bytes);
    }
    sim_work_resume();
    return result;
}
