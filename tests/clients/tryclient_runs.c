/* SPDX-License-Identifier: Apache-2.0 */
/* What tryclient does in several threads or processes, and copies of several dimensions: MODE `turns`, `many`, `crowd`, `boxes`. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clients/tryclient.h"

/* How often the program has run in this folder. */
static unsigned count_runs(void)
{
    unsigned count = 0;
    FILE *file = fopen("turn", "a+");
    while (file != NULL && fgetc(file) != EOF) {
        count++;
    }
    if (file != NULL) {
        fputc('x', file);
        fclose(file);
    }
    return count;
}

/* One of two shares of four copies. Where the shares change, it is the first three, or the first two. */
static void *copy_share(void *number)
{
    static unsigned most = 2;
    part = (unsigned)(uintptr_t)number;
    OK(cuCtxSetCurrent(primary));
    if (does("shared")) {
        unsigned from = part == 0 ? 0 : most, to = part == 0 ? most = 1 + count_runs() % 3 : 4;
        part = 0;
        for (unsigned turn = from; turn < to; turn++) {
            copy(turn);
        }
    }
    for (unsigned turn = 0; turn < 4 && !does("shared"); turn++) {
        copy(turn);
    }
    return NULL;
}

void take_turns(void)
{
    unsigned runs = does("shared") ? 0 : count_runs();
    if (!does("ranks")) {
        retain();
    }
    for (unsigned i = 0; i < 2; i++) {
        void *share = (void *)(uintptr_t)((i + runs) % 2);
        pthread_t thread;
        int ended = 0;
        if (does("ranks")) {
            pid_t child = fork();
            if (child == 0) {
                retain();
                (void)copy_share(share);
                _exit(0);
            }
            (void)waitpid(child, &ended, 0);
        } else if (pthread_create(&thread, NULL, copy_share, share) == 0) {
            (void)pthread_join(thread, NULL);
        }
    }
}

void copy_in_many(void)
{
    for (unsigned i = 0; i < 66; i++) {
        pid_t child = fork();
        int ended = 0;
        if (child == 0) {
            part = i == 65 ? (unsigned)getpid() : 0;
            retain();
            copy(0);
            _exit(0);
        }
        (void)waitpid(child, &ended, 0);
    }
}

static void *copy_crowded(void *number)
{
    enum { COPIES = 20 };
    size_t bytes = (size_t)256 << 10;
    void *host;
    CUdeviceptr memory;
    CUstream stream;
    OK(cuCtxSetCurrent(primary));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostAlloc(&host, bytes, 0));
    OK(cuMemAlloc(&memory, bytes));
    for (unsigned i = 0; i < COPIES; i++) {
        OK(cuMemsetD8Async(memory, (unsigned char)(i + (uintptr_t)number * COPIES), bytes, stream));
        OK(cuMemcpyDtoHAsync(host, memory, bytes, stream));
        OK(cuStreamSynchronize(stream));
    }
    return NULL;
}

void crowd(void)
{
    pthread_t threads[8];
    retain();
    for (uintptr_t i = 0; i < 8; i++) {
        (void)pthread_create(&threads[i], NULL, copy_crowded, (void *)i);
    }
    for (unsigned i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* Two layers of 8 rows of 100 bytes, 128 apart: into pageable memory as rows, as a box, and as a box with room between its
 * layers; and into page-locked memory as rows. */
void copy_boxes(void)
{
    enum { PITCH = 128, ROW = 100, HEIGHT = 8, LAYERS = 2, ALL = PITCH * HEIGHT * LAYERS };
    CUdeviceptr memory;
    uint8_t *host = malloc(2 * ALL), *locked;
    OK(cuMemAlloc(&memory, ALL));
    OK(cuMemHostAlloc((void **)&locked, ALL, 0));
    OK(cuMemsetD8(memory, 7, ALL));
    if (does("differs") && sees_fix()) {
        OK(cuMemsetD8(memory + ALL - PITCH + ROW - 1, 8, 1));
    }
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = memory,
                          .srcPitch = PITCH,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .dstPitch = PITCH,
                          .WidthInBytes = ROW,
                          .Height = HEIGHT};
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = memory,
                         .srcPitch = PITCH,
                         .srcHeight = HEIGHT,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = host,
                         .dstPitch = PITCH,
                         .dstHeight = HEIGHT,
                         .WidthInBytes = ROW,
                         .Height = HEIGHT,
                         .Depth = LAYERS};
    for (size_t i = 0; i < 2 * ALL; i++) { /* what lies between the rows is not copied */
        host[i] = (uint8_t)(getpid() >> i % 8);
    }
    OK(cuMemcpy2D(&rows));
    OK(cuMemcpy3D(&box));
    box.dstHeight = 2 * HEIGHT;
    OK(cuMemcpy3D(&box));
    rows.dstHost = locked;
    OK(cuMemcpy2D(&rows));
}
