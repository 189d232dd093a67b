/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpiclient FOLDER STEPS [WORD=NUMBER...]: a rank of a program whose devices exchange data over the memory of their hosts, as
 * programs do over an MPI that takes no addresses of devices. A launcher gives it rank and number as Open MPI does; messages
 * go through named pipes in FOLDER, one for each pair of ranks.
 *
 * Each step computes, reads back, hands on, and uploads what came. bytes: of a message. changed: the host changes what came
 * before it uploads it. same: all devices compute the same. broadcast: rank 0 hands on to all; else each to the next.
 * ipc: nothing goes over the host, each opens the memory of the one before it (CUDA IPC) and copies out of it; with ipc=2 it copies into
 * it, with ipc=3 its host does. fail_rank: this one ends in the middle of step fail_at, with status 7; by SIGKILL with kill=1. slow_name: looking up the name of this rank's
 * host takes so many us.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 256 << 10 };

static struct {
    long bytes, changed, same, broadcast, ipc, fail_rank, fail_at, kill, slow_name;
} wish = {.bytes = BYTES, .fail_rank = -1};

static int rank, ranks;
static const char *folder;

/* Ours comes before libc's, for libraries too. */
int gethostname(char *name, size_t bytes)
{
    if (wish.slow_name > 0) {
        (void)usleep((useconds_t)wish.slow_name);
    }
    return snprintf(name, bytes, "node") < (int)bytes ? 0 : -1;
}

#define CU(call) check((int)(call), #call)

static void check(int result, const char *call)
{
    if (result != 0) {
        fprintf(stderr, "mpiclient: %s: error %d\n", call, result);
        exit(3);
    }
}

static void read_wishes(int count, char **words)
{
    static const struct {
        const char *name;
        long *value;
    } names[] = {
        {"bytes", &wish.bytes},         {"changed", &wish.changed}, {"same", &wish.same},
        {"broadcast", &wish.broadcast}, {"ipc", &wish.ipc},         {"fail_rank", &wish.fail_rank},
        {"fail_at", &wish.fail_at},     {"kill", &wish.kill},       {"slow_name", &wish.slow_name}};
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

static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    check(text == NULL, variable);
    return strtol(text, NULL, 10);
}

/* ---- messages --------------------------------------------------------------------------------- */

enum { RANKS_MOST = 64 };

/* Opened for both directions, and until the end: nobody sees an end when a rank dies, as with MPI. */
static int pipe_of(int from, int to)
{
    static int pipes[RANKS_MOST][RANKS_MOST]; /* 0: not open */
    char path[4096];
    if (pipes[from][to] == 0) {
        (void)snprintf(path, sizeof(path), "%s/%d-%d", folder, from, to);
        check(mkfifo(path, 0600) != 0 && errno != EEXIST, path);
        pipes[from][to] = open(path, O_RDWR | O_CLOEXEC);
        check(pipes[from][to] <= 0, path);
    }
    return pipes[from][to];
}

static void send_to(int to, const char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(pipe_of(rank, to), data + done, bytes - done);
        check(written <= 0, "send");
        done += (size_t)written;
    }
}

static void receive_from(int from, char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t taken = read(pipe_of(from, rank), data + done, bytes - done);
        check(taken <= 0, "receive");
        done += (size_t)taken;
    }
}

/* To the next one, from the one before. */
static void pass_on(const char *out, char *in, size_t bytes)
{
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    /* A pipe holds less than a message. */
    if (rank % 2 == 0) {
        send_to(next, out, bytes);
        receive_from(previous, in, bytes);
    } else {
        receive_from(previous, in, bytes);
        send_to(next, out, bytes);
    }
}

/* False: nothing came. */
static int exchange(char *out, char *in)
{
    size_t bytes = (size_t)wish.bytes;
    if (wish.broadcast) {
        for (int to = 1; rank == 0 && to < ranks; to++) {
            send_to(to, out, bytes);
        }
        if (rank != 0) {
            receive_from(0, in, bytes);
        }
        return rank != 0;
    }
    pass_on(out, in, bytes);
    return 1;
}

/* Nobody goes on before all have come: what each says goes around once. */
static void meet(void)
{
    char said = 1, heard;
    for (int i = 0; i + 1 < ranks; i++) {
        pass_on(&said, &heard, 1);
    }
}

/* ---- the program ------------------------------------------------------------------------------ */

static void fail(void)
{
    if (wish.kill) {
        (void)raise(SIGKILL);
    }
    exit(7);
}

static void run_step(long step, CUdeviceptr memory, char *out, char *in)
{
    unsigned value = (unsigned)(step + 1) * 1000 + (wish.same ? 0 : (unsigned)rank);
    size_t bytes = (size_t)wish.bytes;
    CU(cuMemsetD32(memory, value, bytes / 4));
    if (!wish.broadcast || rank == 0) {
        CU(cuMemcpyDtoH(out, memory, bytes)); /* read back */
    }
    if (rank == wish.fail_rank && step == wish.fail_at) {
        fail();
    }
    if (exchange(out, in)) {
        in[bytes / 2] = (char)(in[bytes / 2] + (wish.changed ? 1 : 0));
        CU(cuMemcpyHtoD(memory, in, bytes)); /* uploaded */
    }
}

/* Twice: as libraries do that ask for the handle at each message. Calls that fail give none, and open nothing. */
static CUdeviceptr open_previous(CUdeviceptr memory)
{
    CUipcMemHandle mine = {{0}}, theirs;
    CUdeviceptr opened;
    check(cuIpcGetMemHandle(&mine, 1) == CUDA_SUCCESS, "handle of nothing");
    check(cuIpcGetMemHandle(NULL, memory) == CUDA_SUCCESS, "handle to nowhere");
    check(cuIpcOpenMemHandle(&opened, mine, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS,
          "open nothing");
    CU(cuIpcGetMemHandle(&mine, memory));
    CU(cuIpcGetMemHandle(&mine, memory));
    pass_on((const char *)&mine, (char *)&theirs, sizeof(mine));
    CU(cuIpcOpenMemHandle(&opened, theirs, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return opened;
}

static void run_ipc(long steps, char *in)
{
    size_t bytes = (size_t)wish.bytes;
    CUdeviceptr shared, own;
    CU(cuMemAlloc(&shared, bytes));
    CU(cuMemAlloc(&own, bytes));
    CUdeviceptr previous = open_previous(shared);
    for (long step = 0; step < steps; step++) {
        CU(cuMemsetD32(wish.ipc == 1 ? shared : own, (unsigned)(step * 100 + rank), bytes / 4));
        meet();
        if (wish.ipc == 1) {
            CU(cuMemcpyDtoD(own, previous, bytes));
        } else if (wish.ipc == 2) {
            CU(cuMemcpyDtoD(previous, own, bytes));
        } else {
            CU(cuMemcpyHtoD(previous, in, bytes));
        }
        meet();
    }
    CU(cuMemcpyDtoH(in, wish.ipc == 1 ? own : shared, bytes));
    CU(cuIpcCloseMemHandle(previous));
    meet();
    CU(cuMemFree(own));
    CU(cuMemFree(shared));
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    check(argc < 3, "mpiclient FOLDER STEPS");
    folder = argv[1];
    read_wishes(argc - 3, argv + 3);
    rank = (int)number_of("OMPI_COMM_WORLD_RANK");
    ranks = (int)number_of("OMPI_COMM_WORLD_SIZE");
    check(rank < 0 || rank >= ranks || ranks < 2 || ranks > RANKS_MOST || wish.bytes < 4, "rank");
    char *out = calloc(1, (size_t)wish.bytes), *in = calloc(1, (size_t)wish.bytes);
    check(out == NULL || in == NULL, "calloc");
    if (rank != 1) {
        wish.slow_name = 0;
    }
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    long steps = strtol(argv[2], NULL, 10);
    if (wish.ipc) {
        run_ipc(steps, in);
    } else {
        CUdeviceptr memory;
        CU(cuMemAlloc(&memory, (size_t)wish.bytes));
        for (long step = 0; step < steps; step++) {
            run_step(step, memory, out, in);
        }
        CU(cuMemFree(memory));
    }
    printf("rank %d of %d: %02x\n", rank, ranks, (unsigned char)in[0]);
    free(out);
    free(in);
    return 0;
}
