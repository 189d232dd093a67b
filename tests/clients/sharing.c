/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario about memory that another process reads. */
#define _GNU_SOURCE
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES ((size_t)16 << 20)

static char bytes[BYTES];

/* The descriptor of a pool, and the pointer that is exported. */
static void send_pool(int to, int pool, const CUmemPoolPtrExportData *pointer)
{
    char room[CMSG_SPACE(sizeof pool)] = {0};
    struct iovec data = {(void *)(uintptr_t)pointer, sizeof *pointer};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof pool);
    memcpy(CMSG_DATA(part), &pool, sizeof pool);
    if (sendmsg(to, &message, 0) != (ssize_t)sizeof *pointer) {
        exit(4);
    }
}

static int receive_pool(int from, CUmemPoolPtrExportData *pointer)
{
    int pool;
    char room[CMSG_SPACE(sizeof pool)];
    struct iovec data = {pointer, sizeof *pointer};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(from, &message, 0) != (ssize_t)sizeof *pointer || CMSG_FIRSTHDR(&message) == NULL) {
        _exit(0); /* nothing is shared */
    }
    memcpy(&pool, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof pool);
    return pool;
}

/* Reads what the other process has uploaded, and uploads something into its memory that it does not read. */
static void import(int from)
{
    CUmemPoolPtrExportData pointer;
    CUmemoryPool pool;
    CUdeviceptr memory;
    int descriptor = receive_pool(from, &pointer);
    client_start();
    CHECK(cu.cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    (void)close(descriptor);
    CHECK(cu.cuMemPoolImportPointer(&memory, pool, &pointer));
    CHECK(cu.cuMemcpyDtoH(bytes, memory, BYTES));
    printf("imported %08x\n", client_checksum(bytes, BYTES));
    client_fill(bytes, BYTES, 2);
    CHECK(cu.cuMemcpyHtoD(memory, bytes, BYTES));
    CHECK(cu.cuMemFree(memory));
    CHECK(cu.cuMemPoolDestroy(pool));
    (void)fflush(stdout);
    _exit(0);
}

/* Two pieces of memory that this process does not use itself: one has an upload that it never reads. */
int scenario_shared_pool(long n)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemPoolPtrExportData pointer;
    CUmemoryPool pool;
    CUdeviceptr uploaded, untouched, own;
    CUfunction touch;
    CUmodule module;
    int ends[2], descriptor;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
        return 4;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        import(ends[1]);
    }
    (void)close(ends[1]);
    client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&touch, module, "touch"));
    CHECK(cu.cuMemAlloc(&own, 4096));
    CHECK(cu.cuMemPoolCreate(&pool, &properties));
    CHECK(cu.cuMemAllocFromPoolAsync(&uploaded, BYTES, pool, NULL));
    CHECK(cu.cuMemAllocFromPoolAsync(&untouched, BYTES, pool, NULL));
    client_fill(bytes, BYTES, 1);
    printf("uploaded %08x\n", client_checksum(bytes, BYTES));
    CHECK(cu.cuMemcpyHtoD(uploaded, bytes, BYTES));
    void *parameters[] = {&own};
    CHECK(cu.cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cu.cuCtxSynchronize());
    (void)fflush(stdout);
    if (n > 0) {
        CHECK(cu.cuMemPoolExportToShareableHandle(&descriptor, pool,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CHECK(cu.cuMemPoolExportPointer(&pointer, uploaded));
        send_pool(ends[0], descriptor, &pointer);
        (void)close(descriptor);
    }
    (void)close(ends[0]);
    printf("child %d\n", client_status_of(child));
    CHECK(cu.cuMemFree(uploaded));
    CHECK(cu.cuMemFree(untouched));
    CHECK(cu.cuMemPoolDestroy(pool));
    CHECK(cu.cuMemFree(own));
    return 0;
}
