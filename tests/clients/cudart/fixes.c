/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixes CONDITION: a program with all that the fixes of preload/apply look for, by the CUDA runtime: pageable copies of 4 MiB, device and
 * page-locked memory that is freed and allocated again, rows and pieces that are copied one by one. It prints what came back. CONDITION:
 *
 *   alone     nothing else                    streams   copies go to two streams in turns
 *   threads   two threads do it at once       capture   while another stream is captured
 *   child     a child of it makes calls, too  children  a child from before the first call does it, too
 *   ipc       another process reads what is copied here, without a call of this one in between
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"

#define BYTES ((size_t)4 << 20)
#define LOCKED_BYTES ((size_t)1 << 20)
#define TURNS 8
#define ROWS 64
#define ROW_BYTES ((size_t)40)
#define ROW_STEP ((size_t)64)

static const char *condition;
static cuda_stream streams[2]; /* none: copies without Async */

static void ok(int result, const char *call)
{
    if (result != 0) {
        fprintf(stderr, "%s: error %d\n", call, result);
        exit(99);
    }
}
#define OK(call) ok((call), #call)

static int is(const char *name)
{
    return strcmp(condition, name) == 0;
}

static uint64_t sum_of(const uint8_t *bytes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum = sum * 31 + bytes[i];
    }
    return sum;
}

static void copy(void *to, const void *from, size_t bytes, int kind, unsigned turn)
{
    cuda_stream stream = streams[turn % 2];
    if (stream == NULL) {
        OK(cudaMemcpy(to, from, bytes, kind));
        return;
    }
    OK(cudaMemcpyAsync(to, from, bytes, kind, stream));
    if (kind == CUDA_DEVICE_TO_HOST) {
        OK(cudaStreamSynchronize(stream));
    }
}

static uint64_t copy_blocks(unsigned seed)
{
    uint64_t sum = 0;
    uint8_t *up = malloc(BYTES), *down = malloc(BYTES);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        void *memory;
        OK(cudaMalloc(&memory, BYTES));
        memset(up, (int)(seed + turn), BYTES);
        up[turn] = 1;
        copy(memory, up, BYTES, CUDA_HOST_TO_DEVICE, turn);
        memset(up, 0, BYTES);
        copy(down, memory, BYTES, CUDA_DEVICE_TO_HOST, turn);
        sum = sum * 31 + sum_of(down, BYTES);
        OK(cudaFree(memory));
    }
    free(up);
    free(down);
    return sum;
}

static uint64_t copy_locked(unsigned seed)
{
    uint64_t sum = 0;
    void *memory;
    OK(cudaMalloc(&memory, LOCKED_BYTES));
    for (unsigned turn = 0; turn < TURNS; turn++) {
        void *host;
        OK(cudaHostAlloc(&host, LOCKED_BYTES, 0));
        memset(host, (int)(seed + turn), LOCKED_BYTES / 2); /* new pages are zero */
        copy(memory, host, LOCKED_BYTES, CUDA_HOST_TO_DEVICE, turn);
        copy(host, memory, LOCKED_BYTES, CUDA_DEVICE_TO_HOST, turn);
        sum = sum * 31 + sum_of(host, LOCKED_BYTES);
        OK(cudaFreeHost(host));
    }
    OK(cudaFree(memory));
    return sum;
}

/* One row or piece at a time, from memory that is used for the next at once. */
static void upload_rows(uint8_t *memory, size_t step, unsigned seed)
{
    uint8_t up[ROWS * ROW_BYTES];
    for (size_t i = 0; i < ROWS; i++) {
        memset(up + i * ROW_BYTES, (int)(seed + i + 1), ROW_BYTES);
        copy(memory + i * step, up + i * ROW_BYTES, ROW_BYTES, CUDA_HOST_TO_DEVICE, 0);
    }
    memset(up, 0, sizeof up);
}

static uint64_t copy_rows(size_t step, unsigned seed)
{
    uint8_t down[ROWS * ROW_STEP];
    void *memory;
    OK(cudaMalloc(&memory, sizeof down));
    OK(cudaMemset(memory, 0, sizeof down));
    OK(cudaDeviceSynchronize());
    upload_rows(memory, step, seed);
    copy(down, memory, sizeof down, CUDA_DEVICE_TO_HOST, 0);
    OK(cudaFree(memory));
    return sum_of(down, sizeof down);
}

/* ---- conditions --------------------------------------------------------------------------------- */

struct worker {
    unsigned seed;
    uint64_t sums[4];
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    OK(cudaSetDevice(0));
    worker->sums[0] = copy_blocks(worker->seed);
    worker->sums[1] = copy_locked(worker->seed);
    worker->sums[2] = copy_rows(ROW_STEP, worker->seed);
    worker->sums[3] = copy_rows(ROW_BYTES, worker->seed);
    return NULL;
}

static void print(const struct worker *worker)
{
    for (int i = 0; i < 4; i++) {
        printf("%016llx%c", (unsigned long long)worker->sums[i], i < 3 ? ' ' : '\n');
    }
    (void)fflush(stdout);
}

static void work_alone(unsigned seed)
{
    struct worker worker = {.seed = seed};
    (void)work(&worker);
    print(&worker);
}

static pthread_barrier_t both_are_known;

/* Threads are known by the order of their first results: the same in each run. */
static void show_first_result(void)
{
    char byte;
    void *memory;
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&memory, 1));
    OK(cudaMemset(memory, 1, 1));
    OK(cudaMemcpy(&byte, memory, 1, CUDA_DEVICE_TO_HOST));
    OK(cudaFree(memory));
}

static void *work_second(void *worker)
{
    show_first_result();
    (void)pthread_barrier_wait(&both_are_known);
    return work(worker);
}

static void work_twice(void)
{
    struct worker workers[2] = {{.seed = 1}, {.seed = 100}};
    pthread_t thread;
    show_first_result();
    OK(pthread_barrier_init(&both_are_known, NULL, 2));
    OK(pthread_create(&thread, NULL, work_second, &workers[1]));
    (void)pthread_barrier_wait(&both_are_known);
    (void)work(&workers[0]);
    OK(pthread_join(thread, NULL));
    print(&workers[0]);
    print(&workers[1]);
}

static void work_beside_capture(void)
{
    cuda_stream stream;
    cuda_graph graph;
    OK(cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING));
    OK(cudaStreamBeginCapture(stream, CUDA_CAPTURE_RELAXED));
    work_alone(1);
    OK(cudaStreamEndCapture(stream, &graph));
}

static void end(pid_t child)
{
    int status = 1;
    OK(waitpid(child, &status, 0) == child ? status : 1);
}

/* CUDA refuses it all calls. */
static void work_beside_child(void)
{
    void *memory;
    OK(cudaDeviceSynchronize());
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        int result = cudaMalloc(&memory, BYTES);
        printf("%d %d %d\n", result, cudaMemcpy(&memory, &byte, 1, CUDA_HOST_TO_DEVICE),
               cudaFree(&memory));
        (void)fflush(stdout);
        _exit(0);
    }
    work_alone(1);
    end(child);
}

static void work_in_both(void)
{
    pid_t child = fork();
    if (child != 0) {
        end(child);
    }
    work_alone(child == 0 ? 1 : 100);
    if (child == 0) {
        _exit(0);
    }
}

static void say(int to)
{
    OK(write(to, "", 1) == 1 ? 0 : 1);
}

static void hear(int from)
{
    char byte;
    OK(read(from, &byte, 1) == 1 ? 0 : 1);
}

/* Reads what is there when the other process says that it is. */
static void read_shared(int from, int to)
{
    struct cuda_ipc_handle handle;
    uint8_t down[ROWS * ROW_STEP];
    void *memory;
    OK(read(from, &handle, sizeof handle) == (ssize_t)sizeof handle ? 0 : 1);
    OK(cudaIpcOpenMemHandle(&memory, handle, CUDA_IPC_LAZY_ENABLE_PEER_ACCESS));
    for (unsigned turn = 0; turn < TURNS; turn++) {
        say(to);
        hear(from);
        OK(cudaMemcpy(down, memory, sizeof down, CUDA_DEVICE_TO_HOST));
        printf("%016llx\n", (unsigned long long)sum_of(down, sizeof down));
    }
    (void)fflush(stdout);
    OK(cudaIpcCloseMemHandle(memory));
    say(to);
    _exit(0);
}

static void work_for_other(void)
{
    int there[2], back[2];
    struct cuda_ipc_handle handle;
    void *memory;
    OK(pipe(there));
    OK(pipe(back));
    pid_t child = fork();
    if (child == 0) {
        read_shared(there[0], back[1]);
    }
    OK(cudaMalloc(&memory, BYTES));
    OK(cudaMemset(memory, 0, BYTES));
    OK(cudaIpcGetMemHandle(&handle, memory));
    OK(write(there[1], &handle, sizeof handle) == (ssize_t)sizeof handle ? 0 : 1);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        hear(back[0]);
        upload_rows(memory, turn % 2 == 0 ? ROW_STEP : ROW_BYTES, turn);
        say(there[1]);
    }
    hear(back[0]);
    end(child);
    OK(cudaFree(memory));
    work_alone(1);
}

int main(int argc, char **argv)
{
    condition = argc > 1 ? argv[1] : "alone";
    if (is("threads")) {
        work_twice();
    } else if (is("capture")) {
        work_beside_capture();
    } else if (is("child")) {
        work_beside_child();
    } else if (is("children")) {
        work_in_both();
    } else if (is("ipc")) {
        work_for_other();
    } else {
        for (int i = 0; i < 2 && is("streams"); i++) {
            OK(cudaStreamCreateWithFlags(&streams[i], CUDA_STREAM_NON_BLOCKING));
        }
        work_alone(1);
    }
    return 0;
}
