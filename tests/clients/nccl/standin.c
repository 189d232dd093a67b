/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnccl.so.2 for machines without GPUs: ranks are processes on one machine, and an operation ends for all of them at one
 * moment, when its bytes would have crossed the slowest link. It launches kernels with NCCL's names and moves no data: tests
 * look at who calls when, and at what a tool is shown. Unlike NCCL's calls its ones return when the operation has ended, as all
 * calls do on the software device.
 *
 * STANDIN_NCCL_GBPS: bandwidth of the link of each rank, 10^9 bytes/s (10 by default). STANDIN_NCCL_LATENCY_US: 200 by default.
 * STANDIN_NCCL_VERSION: 22800 by default; show.c.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { GROUPED_MOST = 256, ARGUMENT_BYTES = 4096 };

struct ncclComm {
    struct meeting *meeting;
    char path[128];
    uint64_t id;
    int ranks, rank, device, splits;
    _Atomic int error; /* ncclResult_t */
};

struct operation {
    struct shown shown;
    struct ncclComm *comm;
    CUstream stream;
};

static _Thread_local struct {
    int depth, count;
    struct operation operation[GROUPED_MOST];
} group;

/* ---- the kernels ------------------------------------------------------------------------------- */

#define ARGUMENTS "24ncclDevKernelArgsStorageILm4096EE"
static const char *const kernels[CALLS] = {
    [CALL_ALL_GATHER] = "_Z31ncclDevKernel_AllGather_RING_LL" ARGUMENTS,
    [CALL_ALL_REDUCE] = "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL" ARGUMENTS,
    [CALL_BROADCAST] = "_Z31ncclDevKernel_Broadcast_RING_LL" ARGUMENTS,
    [CALL_REDUCE_SCATTER] = "_Z43ncclDevKernel_ReduceScatter_Sum_f32_RING_LL" ARGUMENTS,
    [CALL_REDUCE] = "_Z36ncclDevKernel_Reduce_Sum_f32_RING_LL" ARGUMENTS,
    [CALL_SEND] = "_Z22ncclDevKernel_SendRecv" ARGUMENTS,
    [CALL_RECV] = "_Z22ncclDevKernel_SendRecv" ARGUMENTS,
};

static bool load_kernel(enum standin_call call, CUfunction *function)
{
    static CUmodule modules[CALLS];
    char text[512];
    (void)snprintf(text, sizeof(text),
                   ".version 7.0\n.target sm_75\n.address_size 64\n"
                   ".visible .entry %s(.param .align 16 .b8 arguments[%d])\n{\n    ret;\n}\n",
                   kernels[call], ARGUMENT_BYTES);
    return (modules[call] != NULL || cuModuleLoadData(&modules[call], text) == CUDA_SUCCESS) &&
           cuModuleGetFunction(function, modules[call], kernels[call]) == CUDA_SUCCESS;
}

static bool launch(enum standin_call call, CUstream stream)
{
    static char arguments[ARGUMENT_BYTES];
    void *parameters[] = {arguments};
    CUfunction function;
    return load_kernel(call, &function) &&
           cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL) == CUDA_SUCCESS;
}

/* ---- operations -------------------------------------------------------------------------------- */

static double number_of(const char *variable, double usual)
{
    const char *text = getenv(variable);
    return text != NULL ? strtod(text, NULL) : usual;
}

/* By the bytes that cross the link of each rank in a ring. */
static uint64_t transfer_ns(const struct operation *operation)
{
    double n = operation->comm->ranks, bytes = (double)operation->shown.bytes;
    switch (operation->shown.call) {
    case CALL_ALL_REDUCE: bytes *= 2 * (n - 1) / n; break;
    case CALL_ALL_GATHER:
    case CALL_REDUCE_SCATTER: bytes *= n - 1; break;
    default: break;
    }
    return (uint64_t)(number_of("STANDIN_NCCL_LATENCY_US", 200) * 1e3 +
                      bytes / number_of("STANDIN_NCCL_GBPS", 10));
}

/* In the stream. */
static void CUDA_CB end_of(void *data)
{
    struct operation *operation = data;
    struct meeting *meeting = operation->comm->meeting;
    bool whole = true;
    switch (operation->shown.call) {
    case CALL_SEND: meeting_send(meeting, operation->shown.root); break;
    case CALL_RECV:
        whole = meeting_receive(meeting, operation->shown.root, transfer_ns(operation));
        break;
    default: whole = meeting_meet(meeting, transfer_ns(operation)); break;
    }
    if (!whole) {
        atomic_store(&operation->comm->error, ncclRemoteError);
    }
}

/* A group is one kernel; what is sent comes before what is waited for. */
static ncclResult_t execute(struct operation *operations, int count)
{
    if (!launch(operations[0].shown.call, operations[0].stream)) {
        return ncclUnhandledCudaError;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            bool is_send = operations[i].shown.call == CALL_SEND;
            if (is_send == (pass == 0) &&
                cuLaunchHostFunc(operations[i].stream, end_of, &operations[i]) != CUDA_SUCCESS) {
                return ncclUnhandledCudaError;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        int error = atomic_load(&operations[i].comm->error);
        if (error != ncclSuccess) {
            return (ncclResult_t)error;
        }
    }
    return ncclSuccess;
}

static ncclResult_t enqueue(struct operation operation)
{
    if (group.depth == 0) {
        return execute(&operation, 1);
    }
    if (group.count == GROUPED_MOST) {
        return ncclInvalidUsage;
    }
    group.operation[group.count++] = operation;
    return ncclSuccess;
}

static size_t bytes_of(ncclDataType_t type)
{
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return (size_t)type < sizeof(bytes) / sizeof(bytes[0]) ? bytes[type] : 0;
}

static ncclResult_t operate(const char *function, enum standin_call call, size_t count,
                            ncclDataType_t type, int op, int root, ncclComm_t comm, CUstream stream)
{
    struct operation operation = {.shown = {.call = call,
                                            .communicator = comm != NULL ? comm->id : 0,
                                            .bytes = count * bytes_of(type),
                                            .op = op,
                                            .root = root},
                                  .comm = comm,
                                  .stream = stream};
    show_begin_with(function, &operation.shown);
    ncclResult_t result = comm == NULL || bytes_of(type) == 0 || root < 0 || root >= comm->ranks
                              ? ncclInvalidArgument
                              : enqueue(operation);
    show_end();
    return result;
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, CUstream stream)
{
    (void)from, (void)to;
    return operate(__func__, CALL_ALL_REDUCE, count, type, op, 0, comm, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, CUstream stream)
{
    (void)from, (void)to;
    return operate(__func__, CALL_REDUCE, count, type, op, root, comm, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, CUstream stream)
{
    (void)from, (void)to;
    return operate(__func__, CALL_BROADCAST, count, type, 0, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, CUstream stream)
{
    (void)from, (void)to;
    return operate(__func__, CALL_ALL_GATHER, count, type, 0, 0, comm, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, CUstream stream)
{
    (void)from, (void)to;
    return operate(__func__, CALL_REDUCE_SCATTER, count, type, op, 0, comm, stream);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, CUstream stream)
{
    (void)from;
    return operate(__func__, CALL_SEND, count, type, 0, peer, comm, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      CUstream stream)
{
    (void)to;
    return operate(__func__, CALL_RECV, count, type, 0, peer, comm, stream);
}

ncclResult_t ncclGroupStart(void)
{
    show_begin(__func__);
    group.depth++;
    show_end();
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    ncclResult_t result = group.depth > 0 ? ncclSuccess : ncclInvalidUsage;
    show_begin(__func__);
    if (group.depth > 0 && --group.depth == 0 && group.count > 0) {
        result = execute(group.operation, group.count);
        group.count = 0;
    }
    show_end();
    return result;
}

/* ---- communicators ----------------------------------------------------------------------------- */

/* The same in all ranks. */
static uint64_t id_of(const char *path)
{
    uint64_t id = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *path != '\0'; path++) {
        id = (id ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    }
    return id;
}

static ncclResult_t join(ncclComm_t *made, const char *path, int ranks, int rank)
{
    CUdevice device;
    struct ncclComm *comm = calloc(1, sizeof(*comm));
    if (comm == NULL || cuCtxGetDevice(&device) != CUDA_SUCCESS) {
        free(comm);
        return ncclUnhandledCudaError;
    }
    comm->ranks = ranks;
    comm->rank = rank;
    comm->device = device;
    comm->id = id_of(path);
    (void)snprintf(comm->path, sizeof(comm->path), "%s", path);
    comm->meeting = meeting_join(path, ranks, rank);
    if (comm->meeting == NULL) {
        free(comm);
        return ncclSystemError;
    }
    *made = comm;
    return ncclSuccess;
}

static struct shown shown_of(enum standin_call call, const struct ncclComm *comm)
{
    return (struct shown){.call = call,
                          .communicator = comm->id,
                          .ranks = comm->ranks,
                          .rank = comm->rank,
                          .device = comm->device};
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    show_begin(__func__);
    bool made = id != NULL && meeting_create(id->internal);
    show_end();
    return made ? ncclSuccess : id == NULL ? ncclInvalidArgument : ncclSystemError;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    show_begin(__func__);
    ncclResult_t result = comm != NULL && rank >= 0 && rank < ranks
                              ? join(comm, id.internal, ranks, rank)
                              : ncclInvalidArgument;
    if (result == ncclSuccess) {
        struct shown shown = shown_of(CALL_INIT, *comm);
        show_end_with(&shown);
    } else {
        show_end();
    }
    return result;
}

/* In the order of their keys, then of their ranks. */
static ncclResult_t split(ncclComm_t comm, int color, int key, ncclComm_t *made)
{
    const int own[2] = {color, key};
    char path[sizeof(comm->path)];
    int ranks = 0, rank = 0;
    meeting_say(comm->meeting, own);
    if (!meeting_meet(comm->meeting, 0)) {
        return ncclRemoteError;
    }
    for (int i = 0; i < comm->ranks; i++) {
        int words[2];
        meeting_hear(comm->meeting, i, words);
        ranks += words[0] == color;
        rank += words[0] == color && (words[1] < key || (words[1] == key && i < comm->rank));
    }
    /* All have heard: what is said may change. */
    if (!meeting_meet(comm->meeting, 0)) {
        return ncclRemoteError;
    }
    int number = ++comm->splits;
    *made = NULL;
    if (color == NCCL_SPLIT_NOCOLOR) {
        return ncclSuccess;
    }
    int length = snprintf(path, sizeof(path), "%.100s.%d.%d", comm->path, number, color);
    return (size_t)length < sizeof(path) ? join(made, path, ranks, rank) : ncclInternalError;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config)
{
    (void)config;
    show_begin(__func__);
    ncclResult_t result = comm != NULL && made != NULL ? split(comm, color, key, made)
                                                       : ncclInvalidArgument;
    if (result == ncclSuccess && *made != NULL) {
        struct shown shown = shown_of(CALL_SPLIT, *made);
        shown.parent = comm->id;
        shown.color = color;
        shown.key = key;
        show_end_with(&shown);
    } else {
        show_end();
    }
    return result;
}

static ncclResult_t end_comm(const char *function, enum standin_call call, ncclComm_t comm)
{
    if (comm == NULL) {
        return ncclInvalidArgument;
    }
    struct shown shown = shown_of(call, comm);
    show_begin_with(function, &shown);
    if (call != CALL_FINALIZE) {
        meeting_leave(comm->meeting);
        free(comm);
    }
    show_end();
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return end_comm(__func__, CALL_FINALIZE, comm);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return end_comm(__func__, CALL_DESTROY, comm);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return end_comm(__func__, CALL_ABORT, comm);
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count)
{
    *count = comm->ranks;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank)
{
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device)
{
    *device = comm->device;
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    *error = (ncclResult_t)atomic_load(&comm->error);
    return ncclSuccess;
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = (int)number_of("STANDIN_NCCL_VERSION", 22800);
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};
    return (size_t)result < sizeof(texts) / sizeof(texts[0]) ? texts[result]
                                                             : "unknown result code";
}
