/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of copies that may be killed at any moment:
 * copies N [bytes] [sync|async] [--progress FILE]
 *
 * FILE is mapped shared and holds two 64-bit counters: copies begun, copies returned. It survives
 * SIGKILL, so a test can compare it with what the trace holds. "done N" is the only output.
 */

#include "check.cuh"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct progress {
    volatile uint64_t begun;
    volatile uint64_t returned;
};

static progress *map_progress(const char *path)
{
    static progress unused;
    if (path == nullptr)
        return &unused;
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    void *mapped = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(progress)) == 0)
        mapped = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        fprintf(stderr, "copies: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    close(fd);
    return static_cast<progress *>(mapped);
}

int main(int argc, char **argv)
{
    const char *words[3] = {nullptr, "64", "sync"};
    const char *path = nullptr;
    int given = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--progress") == 0 && i + 1 < argc)
            path = argv[++i];
        else if (given < 3)
            words[given++] = argv[i];
        else
            given = 4;
    }
    const bool async = strcmp(words[2], "async") == 0;
    if (given < 1 || given > 3 || (!async && strcmp(words[2], "sync") != 0)) {
        fprintf(stderr, "usage: copies N [bytes] [sync|async] [--progress FILE]\n");
        return 2;
    }
    const long copies = parse_number(words[0], 1, 1000000000);
    const size_t bytes = static_cast<size_t>(parse_number(words[1], 1, 1 << 30));
    progress *counters = map_progress(path);

    void *device = nullptr;
    void *host = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    if (async)
        CHECK(cudaMallocHost(&host, bytes));
    else
        host = malloc(bytes);
    if (host == nullptr)
        return 1;
    memset(host, 1, bytes);
    for (long i = 0; i < copies; i++) {
        counters->begun = counters->begun + 1;
        if (async)
            CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice));
        else
            CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
        counters->returned = counters->returned + 1;
    }
    CHECK(cudaDeviceSynchronize());
    printf("done %ld\n", copies);
    return 0;
}
