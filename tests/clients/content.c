/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios about the content of copies: needless ones and their repaired twins, and every kind of host
 * memory. */
#define _GNU_SOURCE
#include "client.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define COUNT 16384u
#define BYTES (COUNT * sizeof(float))

static float first[COUNT], second[COUNT], result[COUNT];

struct work {
    CUfunction add;
    CUdeviceptr a, b, out;
};

static struct work begin(void)
{
    struct work work;
    CUmodule module;
    client_start();
    CHECK(cu.cuModuleLoadData(&module, client_ptx));
    CHECK(cu.cuModuleGetFunction(&work.add, module, "vector_add"));
    CHECK(cu.cuMemAlloc(&work.a, BYTES));
    CHECK(cu.cuMemAlloc(&work.b, BYTES));
    CHECK(cu.cuMemAlloc(&work.out, BYTES));
    for (unsigned i = 0; i < COUNT; i++) {
        first[i] = (float)i;
        second[i] = 1;
    }
    return work;
}

static int end(const struct work *work)
{
    printf("result %08x\n", client_checksum(result, BYTES));
    CHECK(cu.cuMemFree(work->a));
    CHECK(cu.cuMemFree(work->b));
    CHECK(cu.cuMemFree(work->out));
    return 0;
}

static int add_each_step(long n, bool every_time)
{
    struct work work = begin();
    for (long i = 0; i < n; i++) {
        if (i == 0 || every_time) {
            CHECK(cu.cuMemcpyHtoD(work.a, first, BYTES));
        }
        second[0] = (float)i;
        CHECK(cu.cuMemcpyHtoD(work.b, second, BYTES));
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
        CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
    }
    return end(&work);
}

int scenario_reupload(long n)
{
    return add_each_step(n, true);
}

/* What a hash of it takes is much beside what the copy takes. */
int scenario_reupload_for(long ms)
{
    enum { LARGE = 1 << 20, LEAST = 1000 };
    static char bytes[LARGE];
    CUdeviceptr there;
    struct timespec now;
    client_start();
    CHECK(cu.cuMemAlloc(&there, LARGE));
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t end_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
    for (long n = 0; n < LEAST || now.tv_sec * 1000 + now.tv_nsec / 1000000 < end_ms; n++) {
        CHECK(cu.cuMemcpyHtoD(there, bytes, LARGE));
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    CHECK(cu.cuMemFree(there));
    return 0;
}

int scenario_upload_once(long n)
{
    return add_each_step(n, false);
}

int scenario_round_trip(long n)
{
    struct work work = begin();
    CHECK(cu.cuMemcpyHtoD(work.b, second, BYTES));
    memcpy(result, first, BYTES);
    for (long i = 0; i < n; i++) {
        CHECK(cu.cuMemcpyHtoD(work.a, result, BYTES));
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
        CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
    }
    return end(&work);
}

int scenario_stay_there(long n)
{
    struct work work = begin();
    CHECK(cu.cuMemcpyHtoD(work.b, second, BYTES));
    CHECK(cu.cuMemcpyHtoD(work.out, first, BYTES));
    for (long i = 0; i < n; i++) {
        CUdeviceptr before = work.out;
        work.out = work.a;
        work.a = before;
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
    }
    CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
    return end(&work);
}

int scenario_inputs_back(long n)
{
    struct work work = begin();
    CHECK(cu.cuMemcpyHtoD(work.a, first, BYTES));
    CHECK(cu.cuMemcpyHtoD(work.b, second, BYTES));
    for (long i = 0; i < n; i++) {
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
        CHECK(cu.cuMemcpyDtoH(first, work.a, BYTES));
        CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
    }
    return end(&work);
}

int scenario_two_buffers(long n)
{
    struct work work = begin();
    for (long i = 0; i < n; i++) {
        first[0] = (float)i;
        CHECK(cu.cuMemcpyHtoD(work.a, first, BYTES));
        CHECK(cu.cuMemcpyHtoD(work.b, first, BYTES));
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
        CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
    }
    return end(&work);
}

int scenario_parked(long n)
{
    struct work work = begin();
    CHECK(cu.cuMemcpyHtoD(work.a, first, BYTES));
    for (long i = 0; i < n; i++) {
        second[0] = (float)i;
        CHECK(cu.cuMemcpyHtoD(work.b, second, BYTES));
        CHECK(client_vector_add(work.add, work.out, work.a, work.b, COUNT, NULL));
        CHECK(cu.cuMemcpyDtoH(result, work.out, BYTES));
        CHECK(cu.cuMemFree(work.out));
        CHECK(cu.cuMemAlloc(&work.out, BYTES));
        CHECK(cu.cuMemcpyHtoD(work.out, result, BYTES));
    }
    return end(&work);
}

/* Copies of 4096 bytes each, identified in the trace by their order. */
int scenario_host_memory(long n)
{
    static unsigned char plain[2 * 4096];
    unsigned char *registered = aligned_alloc(4096, 4096), *edge;
    void *pinned, *combined;
    CUdeviceptr memory, managed;
    CUstream stream;
    (void)n;
    client_start();
    client_fill(plain, 4096, 1);
    CHECK(cu.cuStreamCreate(&stream, 0));
    CHECK(cu.cuMemAlloc(&memory, 4096));
    CHECK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(cu.cuMemHostAlloc(&pinned, 4096, 0));
    CHECK(cu.cuMemHostAlloc(&combined, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
    CHECK(cu.cuMemHostRegister(registered, 4096, 0));
    memcpy(pinned, plain, 4096);
    memcpy(combined, plain, 4096);
    memcpy(registered, plain, 4096);
    CHECK(cu.cuMemcpyHtoD(memory, plain, 4096));                   /* whole */
    CHECK(cu.cuMemcpyHtoD(memory, pinned, 4096));                  /* whole, the same */
    CHECK(cu.cuMemcpyHtoD(memory, combined, 4096));                /* unreadable */
    CHECK(cu.cuMemcpyHtoDAsync(memory, registered, 4096, stream)); /* whole, the same */
    CHECK(cu.cuMemcpyDtoHAsync(pinned, memory, 4096, stream));     /* asynchronous */
    CHECK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuMemcpyDtoHAsync(plain, memory, 4096, stream)); /* whole, the same */
    CHECK(cu.cuMemcpy((CUdeviceptr)plain, memory, 4096));     /* whole, the same */
    CHECK(cu.cuMemcpyDtoD(managed, memory, 4096));            /* no host memory */
    plain[100] ^= 1;
    CHECK(cu.cuMemcpyHtoD(memory, plain, 4096)); /* whole, another */
    /* What a copy that fails does not read, nobody reads: here, the page behind the last one. */
    edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (edge == MAP_FAILED || mprotect(edge + 4096, 4096, PROT_NONE) != 0) {
        return 4;
    }
    printf("too long: %d\n", (int)cu.cuMemcpyHtoD(memory, edge, 8192));
    CHECK(cu.cuMemcpyHtoD(memory, edge, 4096)); /* whole, zeros */
    CHECK(cu.cuMemHostUnregister(registered));
    CHECK(cu.cuMemFreeHost(pinned));
    CHECK(cu.cuMemFreeHost(combined));
    free(registered);
    return 0;
}
