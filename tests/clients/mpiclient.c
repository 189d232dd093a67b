/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpiclient FOLDER STEPS [WORD=NUMBER...]: a rank of a program whose devices exchange data over the memory of their hosts, as
 * programs do over an MPI that takes no addresses of devices. A launcher gives it rank and number as Open MPI does; messages
 * go through named pipes in FOLDER, one for each pair of ranks.
 *
 * Each step computes, reads back, hands on, and uploads what came. bytes: of a message. changed: the host changes what came
 * before it uploads it. same: all devices compute the same. broadcast: rank 0 hands on to all; else each to the next.
 * fail_rank: this one ends in the middle of step fail_at, with status 7; by SIGKILL with kill=1. slow_name: looking up the name of this rank's
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
    long bytes, changed, same, broadcast, fail_rank, fail_at, kill, slow_name;
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
    } names[] = {{"bytes", &wish.bytes},         {"changed", &wish.changed},
                 {"same", &wish.same},           {"broadcast", &wish.broadcast},
                 {"fail_rank", &wish.fail_rank}, {"fail_at", &wish.fail_at},
                 {"kill", &wish.kill},           {"slow_name", &wish.slow_name}};
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

static void send_to(int to, const char *data)
{
    for (size_t done = 0, bytes = (size_t)wish.bytes; done < bytes;) {
        ssize_t written = write(pipe_of(rank, to), data + done, bytes - done);
        check(written <= 0, "send");
        done += (size_t)written;
    }
}

static void receive_from(int from, char *data)
{
    for (size_t done = 0, bytes = (size_t)wish.bytes; done < bytes;) {
        ssize_t taken = read(pipe_of(from, rank), data + done, bytes - done);
        check(taken <= 0, "receive");
        done += (size_t)taken;
    }
}

/* False: nothing came. */
static int exchange(char *out, char *in)
{
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    if (wish.broadcast) {
        for (int to = 1; rank == 0 && to < ranks; to++) {
            send_to(to, out);
        }
        if (rank != 0) {
            receive_from(0, in);
        }
        return rank != 0;
    }
    /* A pipe holds less than a message. */
    if (rank % 2 == 0) {
        send_to(next, out);
        receive_from(previous, in);
    } else {
        receive_from(previous, in);
        send_to(next, out);
    }
    return 1;
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

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
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
    CU(cuMemAlloc(&memory, (size_t)wish.bytes));
    for (long step = 0; step < strtol(argv[2], NULL, 10); step++) {
        run_step(step, memory, out, in);
    }
    CU(cuMemFree(memory));
    printf("rank %d of %d: %02x\n", rank, ranks, (unsigned char)in[0]);
    free(out);
    free(in);
    return 0;
}
