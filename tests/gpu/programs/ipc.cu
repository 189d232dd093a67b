/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes that share device memory: ipc [rounds] [ipc|fd]
 *
 * The owner numbers a buffer, the worker copies it, adds one to it and reads it back, and the owner
 * reads what has become of it. The buffer is handed over by cudaIpcGetMemHandle; where that is
 * refused, or with `fd`, by cuMemExportToShareableHandle and a descriptor sent over a socket.
 */

#include "check.cuh"

#include <cuda.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 1 << 20, BYTES = WORDS * 4, BLOCK = 256 };
enum offer_kind { OFFER_IPC, OFFER_FD };

/* What the owner sends to the worker; with OFFER_FD a descriptor comes along. */
struct offer {
    offer_kind kind;
    size_t bytes;
    cudaIpcMemHandle_t handle;
};

/* Memory that other processes can map, and what is needed to give it back. */
struct shared_memory {
    void *address;
    size_t bytes;
    CUmemGenericAllocationHandle physical;
    offer_kind kind;
};

__global__ void k_owner_number(unsigned *buffer, unsigned first)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[i] = first + i;
}

__global__ void k_worker_add(unsigned *buffer)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[i] += 1;
}

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the driver's virtual memory ---- */

static void *entry(const char *name)
{
    cudaDriverEntryPointQueryResult result;
    void *function = nullptr;

    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result));
    if (function == nullptr || result != cudaDriverEntryPointSuccess) {
        fprintf(stderr, "ipc: the driver has no %s\n", name);
        exit(1);
    }
    return function;
}

#define DRIVER(name, ...) \
    do { \
        const CUresult driver_result = reinterpret_cast<decltype(&name)>(entry(#name))( \
            __VA_ARGS__); \
        if (driver_result != CUDA_SUCCESS) { \
            fprintf(stderr, "ipc: " #name ": error %d\n", static_cast<int>(driver_result)); \
            exit(1); \
        } \
    } while (0)

static CUmemAllocationProp properties()
{
    CUmemAllocationProp wanted = {};

    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = 0;
    return wanted;
}

/* Gives physical memory an address, in either process. */
static void map(shared_memory *memory)
{
    CUmemAccessDesc access = {};
    CUdeviceptr address = 0;

    access.location = properties().location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemAddressReserve, &address, memory->bytes, 0, 0, 0);
    DRIVER(cuMemMap, address, memory->bytes, 0, memory->physical, 0);
    DRIVER(cuMemSetAccess, address, memory->bytes, &access, 1);
    memory->address = reinterpret_cast<void *>(address);
    memory->kind = OFFER_FD;
}

static void unmap(const shared_memory *memory)
{
    const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(memory->address);

    DRIVER(cuMemUnmap, address, memory->bytes);
    DRIVER(cuMemAddressFree, address, memory->bytes);
    DRIVER(cuMemRelease, memory->physical);
}

static int export_memory(shared_memory *memory)
{
    const CUmemAllocationProp wanted = properties();
    size_t granularity = 0;
    int descriptor = -1;

    DRIVER(cuMemGetAllocationGranularity, &granularity, &wanted,
           CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    memory->bytes = (BYTES + granularity - 1) / granularity * granularity;
    DRIVER(cuMemCreate, &memory->physical, memory->bytes, &wanted, 0);
    map(memory);
    DRIVER(cuMemExportToShareableHandle, &descriptor, memory->physical,
           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    return descriptor;
}

/* ---- from the one to the other ---- */

static void send_offer(int socket, offer *offered, int descriptor)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        cmsghdr aligned;
    } control = {};
    iovec data = {offered, sizeof *offered};
    msghdr message = {};

    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control.space;
        message.msg_controllen = sizeof control.space;
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    if (sendmsg(socket, &message, 0) != static_cast<ssize_t>(sizeof *offered)) {
        give_up("sendmsg");
    }
}

static int receive_offer(int socket, offer *offered)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        cmsghdr aligned;
    } control = {};
    iovec data = {offered, sizeof *offered};
    msghdr message = {};
    int descriptor = -1;

    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    if (recvmsg(socket, &message, MSG_WAITALL) != static_cast<ssize_t>(sizeof *offered)) {
        give_up("recvmsg");
    }
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    }
    return descriptor;
}

static void say(int socket, char word)
{
    if (write(socket, &word, 1) != 1) {
        give_up("write");
    }
}

static char hear(int socket)
{
    char word = 0;

    if (read(socket, &word, 1) != 1) {
        fprintf(stderr, "ipc: the other process is gone\n");
        exit(1);
    }
    return word;
}

/* False: not possible here, the worker has to get a descriptor. */
static bool offer_ipc(int socket, shared_memory *memory)
{
    offer offered = {};

    memory->kind = offered.kind = OFFER_IPC;
    memory->bytes = offered.bytes = BYTES;
    CHECK(cudaMalloc(&memory->address, BYTES));
    if (cudaIpcGetMemHandle(&offered.handle, memory->address) == cudaSuccess) {
        send_offer(socket, &offered, -1);
        if (hear(socket) == 'y') {
            return true;
        }
    }
    (void)cudaGetLastError(); /* refused: that is no error here */
    CHECK(cudaFree(memory->address));
    return false;
}

static void offer_descriptor(int socket, shared_memory *memory)
{
    const int descriptor = export_memory(memory);
    offer offered = {};

    offered.kind = OFFER_FD;
    offered.bytes = memory->bytes;
    send_offer(socket, &offered, descriptor);
    close(descriptor);
    if (hear(socket) != 'y') {
        fprintf(stderr, "ipc: the worker could not map the memory\n");
        exit(1);
    }
}

static void accept_offer(int socket, shared_memory *memory)
{
    offer offered = {};
    int descriptor = receive_offer(socket, &offered);

    memory->kind = offered.kind;
    memory->bytes = offered.bytes;
    if (offered.kind == OFFER_IPC) {
        if (cudaIpcOpenMemHandle(&memory->address, offered.handle,
                                 cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) {
            say(socket, 'y');
            return;
        }
        (void)cudaGetLastError();
        say(socket, 'n');
        descriptor = receive_offer(socket, &offered);
        memory->bytes = offered.bytes;
    }
    CHECK(cudaFree(nullptr)); /* a context, before the driver is called */
    DRIVER(cuMemImportFromShareableHandle, &memory->physical,
           reinterpret_cast<void *>(static_cast<uintptr_t>(descriptor)),
           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(descriptor);
    map(memory);
    say(socket, 'y');
}

/* ---- the work ---- */

static void check_words(const char *who, const unsigned *words, unsigned first)
{
    for (unsigned i = 0; i < WORDS; i++) {
        if (words[i] != first + i) {
            fprintf(stderr, "ipc: %s: word %u is %u\n", who, i, words[i]);
            exit(1);
        }
    }
}

static int worker(int socket, unsigned rounds)
{
    unsigned *host = static_cast<unsigned *>(malloc(BYTES)), *own;
    shared_memory memory = {};

    accept_offer(socket, &memory);
    unsigned *buffer = static_cast<unsigned *>(memory.address);
    CHECK(cudaMalloc(&own, BYTES));
    for (unsigned round = 0; round < rounds; round++) {
        hear(socket);
        CHECK(cudaMemcpy(own, buffer, BYTES, cudaMemcpyDeviceToDevice));
        k_worker_add<<<WORDS / BLOCK, BLOCK>>>(buffer);
        CHECK(cudaMemcpy(host, own, BYTES, cudaMemcpyDeviceToHost));
        CHECK(cudaDeviceSynchronize());
        check_words("worker", host, round);
        say(socket, 'd');
    }
    if (memory.kind == OFFER_IPC) {
        CHECK(cudaIpcCloseMemHandle(memory.address));
    } else {
        unmap(&memory);
    }
    CHECK(cudaFree(own));
    free(host);
    say(socket, 'c');
    return 0;
}

static int owner(int socket, unsigned rounds, bool try_ipc, shared_memory *memory)
{
    unsigned *host = static_cast<unsigned *>(malloc(BYTES));
    timespec began, ended;

    CHECK(cudaFree(nullptr));
    if (!try_ipc || !offer_ipc(socket, memory)) {
        offer_descriptor(socket, memory);
    }
    unsigned *buffer = static_cast<unsigned *>(memory->address);
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (unsigned round = 0; round < rounds; round++) {
        k_owner_number<<<WORDS / BLOCK, BLOCK>>>(buffer, round);
        CHECK(cudaDeviceSynchronize());
        say(socket, 'g');
        hear(socket);
        CHECK(cudaMemcpy(host, buffer, BYTES, cudaMemcpyDeviceToHost));
        check_words("owner", host, round + 1);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    fprintf(stderr, "time_ms %.4f\n",
            1e3 * static_cast<double>(ended.tv_sec - began.tv_sec) +
                1e-6 * static_cast<double>(ended.tv_nsec - began.tv_nsec));
    hear(socket); /* the worker has let go of the memory */
    if (memory->kind == OFFER_IPC) {
        CHECK(cudaFree(memory->address));
    } else {
        unmap(memory);
    }
    free(host);
    return 0;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? parse_number(argv[1], 1, 1000000) : 20;
    const bool try_ipc = argc < 3 || strcmp(argv[2], "fd") != 0;
    shared_memory memory = {};
    int sockets[2], status = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0) {
        give_up("socketpair");
    }
    const pid_t child = fork(); /* before any call of CUDA */
    if (child < 0) {
        give_up("fork");
    }
    close(sockets[child == 0 ? 0 : 1]);
    if (child == 0) {
        return worker(sockets[1], static_cast<unsigned>(rounds));
    }
    const int result = owner(sockets[0], static_cast<unsigned>(rounds), try_ipc, &memory);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "ipc: the worker failed\n");
        return 1;
    }
    printf("ipc ok rounds %ld handle %s\n", rounds, memory.kind == OFFER_IPC ? "ipc" : "fd");
    return result;
}
