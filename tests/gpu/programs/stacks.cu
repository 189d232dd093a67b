/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtime calls from several depths, in a program without frame pointers: stacks N
 *
 * Each of N rounds copies 1000 * (depth) bytes and launches a kernel from 1 to 4 functions deep, then
 * copies 8 bytes 20 levels deep in a recursion. Prints, for depths and recursion, the median of the
 * nanoseconds that a call took, as one line of JSON on stderr; nothing else.
 */

#include "check.cuh"

#include <algorithm>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <vector>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else /* no copies for constant arguments: they have other names */
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

__global__ void k_touch(char *memory)
{
    memory[threadIdx.x] += 1;
}

static char *device, *host;
static cudaStream_t stream;
static std::vector<int64_t> shallow_ns, deep_ns;

static int64_t now_ns()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

NOINLINE static void one(size_t bytes)
{
    const int64_t begin = now_ns();
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream)); /* at one */
    (bytes == 8 ? deep_ns : shallow_ns).push_back(now_ns() - begin);
    if (bytes != 8)
        k_touch<<<1, static_cast<unsigned>(bytes / 1000), 0, stream>>>(device);
    NO_TAIL_CALL();
}

NOINLINE static void two(size_t bytes)
{
    char *room = static_cast<char *>(__builtin_alloca(bytes));
    memset(room, 0, bytes);
    NO_TAIL_CALL();
    one(bytes); /* at two */
    __asm__ volatile("" : : "g"(room) : "memory");
}

template <typename T> NOINLINE static void three(T bytes)
{
    two(static_cast<size_t>(bytes)); /* at three */
    NO_TAIL_CALL();
}

NOINLINE static void four(size_t bytes)
{
    volatile char room[64] __attribute__((aligned(128))) = {0};
    __asm__ volatile("" : : "g"(room) : "memory");
    three(static_cast<long>(bytes)); /* at four */
    __asm__ volatile("" : : "g"(room) : "memory");
}

NOINLINE static void recurse(int depth)
{
    if (depth > 1)
        recurse(depth - 1);
    else
        one(8);
    NO_TAIL_CALL();
}

static long long median(std::vector<int64_t> &values)
{
    std::sort(values.begin(), values.end());
    return static_cast<long long>(values[values.size() / 2]);
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? parse_number(argv[1], 1, 1000000) : 100;
    CHECK(cudaMalloc(&device, 4096));
    CHECK(cudaMallocHost(&host, 4096));
    CHECK(cudaStreamCreate(&stream));
    for (long i = 0; i < rounds; i++) {
        one(1000);
        two(2000);
        three(3000L);
        four(4000);
        recurse(20);
        CHECK(cudaStreamSynchronize(stream)); /* so that no call waits for room in a queue */
    }
    fprintf(stderr, "{\"shallow\": %lld, \"deep\": %lld}\n", median(shallow_ns), median(deep_ns));
    return 0;
}
