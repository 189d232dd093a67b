/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncclclient RANK RANKS FILE STEPS [FAULT=NUMBER...]: a rank of a data-parallel program. FILE is where rank 0 leaves the id of
 * the communicator. Each step copies, computes, reduces over all ranks, gathers over each half of them, and sends to the next.
 *
 * Faults of this rank: sleep_us, more sleep of the host per step; copies, more copies per step; die_at, SIGKILL in the middle of
 * this step. skew_ns: what its CLOCK_REALTIME is ahead; node: of another host, by its number.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nccl.h"

enum { COUNT = 1 << 20, COPY_BYTES = 64 << 10 };

static struct {
    long sleep_us, copies, die_at, skew_ns, node;
} fault = {.die_at = -1};

/* Ours come before libc's, for libraries too. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    long rc = syscall(SYS_clock_gettime, clock, time);
    if (rc == 0 && clock == CLOCK_REALTIME) {
        long ns = time->tv_nsec + fault.skew_ns;
        time->tv_sec += ns / 1000000000 - (ns < 0 && ns % 1000000000 != 0);
        time->tv_nsec = (ns % 1000000000 + 1000000000) % 1000000000;
    }
    return (int)rc;
}

int gethostname(char *name, size_t bytes)
{
    return snprintf(name, bytes, "node-%ld", fault.node) < (int)bytes ? 0 : -1;
}

#define CU(call) check((int)(call), #call, NULL)
#define NCCL(call) check_nccl((call), #call)

static void check(int result, const char *call, const char *text)
{
    if (result != 0) {
        fprintf(stderr, "ncclclient: %s: error %d %s\n", call, result, text != NULL ? text : "");
        exit(3);
    }
}

static void check_nccl(ncclResult_t result, const char *call)
{
    check(result, call, ncclGetErrorString(result));
}

static void read_faults(int count, char **words)
{
    static const struct {
        const char *name;
        long *value;
    } names[] = {{"sleep_us", &fault.sleep_us},
                 {"copies", &fault.copies},
                 {"die_at", &fault.die_at},
                 {"skew_ns", &fault.skew_ns},
                 {"node", &fault.node}};
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(words[i], "=");
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
            if (strlen(names[n].name) == length && words[i][length] == '=' &&
                strncmp(names[n].name, words[i], length) == 0) {
                *names[n].value = strtol(words[i] + length + 1, NULL, 10);
            }
        }
    }
}

/* Before a recording begins. */
__attribute__((constructor)) static void read_early(int argc, char **argv)
{
    read_faults(argc - 1, argv + 1);
}

/* Rank 0 makes the id, the others wait for it. */
static ncclUniqueId share_id(int rank, const char *file)
{
    ncclUniqueId id = {{0}};
    char made[4096];
    FILE *stream = NULL;
    (void)snprintf(made, sizeof(made), "%s.new", file);
    if (rank == 0) {
        NCCL(ncclGetUniqueId(&id));
        stream = fopen(made, "w");
        check(stream == NULL || fwrite(&id, sizeof(id), 1, stream) != 1 || fclose(stream) != 0 ||
                  rename(made, file) != 0,
              "share_id", file);
        return id;
    }
    while ((stream = fopen(file, "r")) == NULL) {
        (void)usleep(10000);
    }
    check(fread(&id, sizeof(id), 1, stream) != 1, "share_id", file);
    (void)fclose(stream);
    return id;
}

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry scale(.param .u64 data)\n{\n    .reg .b64 %rd<4>;\n    .reg .b32 %r<4>;\n"
    "    .reg .f32 %f<3>;\n    ld.param.u64 %rd1, [data];\n    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n    mad.lo.s32 %r1, %r1, %r2, %r3;\n"
    "    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
    "    ld.global.f32 %f1, [%rd3];\n    mul.f32 %f2, %f1, %f1;\n    st.global.f32 [%rd3], %f2;\n"
    "    ret;\n}\n";

static struct {
    CUfunction scale;
    CUdeviceptr data, whole;
    CUstream stream;
    ncclComm_t all, half;
    int rank, ranks;
} self;

static void start(const char *file)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&self.scale, module, "scale"));
    CU(cuMemAlloc(&self.data, COUNT * sizeof(float)));
    CU(cuMemAlloc(&self.whole, COUNT * sizeof(float)));
    CU(cuStreamCreate(&self.stream, CU_STREAM_NON_BLOCKING));
    NCCL(ncclCommInitRank(&self.all, self.ranks, share_id(self.rank, file), self.rank));
    NCCL(ncclCommSplit(self.all, self.rank * 2 / self.ranks, self.rank, &self.half, NULL));
}

static void communicate(void)
{
    void *data = (void *)(uintptr_t)self.data, *whole = (void *)(uintptr_t)self.whole;
    NCCL(ncclAllReduce(data, whole, COUNT, ncclFloat32, ncclSum, self.all, self.stream));
    NCCL(ncclAllGather(data, whole, COUNT / 16, ncclFloat32, self.half, self.stream));
    NCCL(ncclGroupStart());
    NCCL(
        ncclSend(data, COPY_BYTES, ncclUint8, (self.rank + 1) % self.ranks, self.all, self.stream));
    NCCL(ncclRecv(whole, COPY_BYTES, ncclUint8, (self.rank + self.ranks - 1) % self.ranks, self.all,
                  self.stream));
    NCCL(ncclGroupEnd());
}

static void step(long number)
{
    static char host[COPY_BYTES];
    void *parameters[] = {&self.data};
    nvtxRangePushA("step");
    for (long i = 0; i < 2 + fault.copies; i++) {
        CU(cuMemcpyHtoD(self.data, host, sizeof(host)));
    }
    for (int i = 0; i < 2; i++) {
        CU(cuLaunchKernel(self.scale, 16, 1, 1, 128, 1, 1, 0, self.stream, parameters, NULL));
    }
    (void)usleep(2000 + (useconds_t)fault.sleep_us);
    if (number == fault.die_at) {
        (void)raise(SIGKILL);
    }
    communicate();
    CU(cuStreamSynchronize(self.stream));
    nvtxRangePop();
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: ncclclient RANK RANKS FILE STEPS [FAULT=NUMBER...]\n", stderr);
        return 2;
    }
    self.rank = atoi(argv[1]);
    self.ranks = atoi(argv[2]);
    start(argv[3]);
    for (long number = 0; number < atol(argv[4]); number++) {
        step(number);
    }
    NCCL(ncclCommDestroy(self.half));
    NCCL(ncclCommDestroy(self.all));
    CU(cuStreamDestroy(self.stream));
    CU(cuMemFree(self.whole));
    CU(cuMemFree(self.data));
    printf("rank %d of %d\n", self.rank, self.ranks);
    return 0;
}
