// SPDX-License-Identifier: Apache-2.0
// thrower [end]: a C++ program whose errors of CUDA calls are exceptions, thrown and caught through its own
// frames, in threads and while objects that free memory are destroyed. end: the last one is caught by nobody.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {
template <typename F> F *driver(F *, const char *name)
{
    static void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = library != nullptr ? dlsym(library, name) : nullptr;
    if (found == nullptr) {
        throw std::runtime_error(std::string("no ") + name);
    }
    return reinterpret_cast<F *>(found);
}
#define QUOTED(name) #name
#define NAME_OF(name) QUOTED(name)
#define DRIVER(name) driver(static_cast<decltype(&name)>(nullptr), NAME_OF(name))

void check(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        throw std::runtime_error("error " + std::to_string(result));
    }
}

struct buffer {
    CUdeviceptr memory = 0;
    explicit buffer(size_t bytes) { check(DRIVER(cuMemAlloc)(&memory, bytes)); }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() { DRIVER(cuMemFree)(memory); }
};

/* Each round frees two buffers while an exception is on its way. */
int failing_rounds(int n)
{
    int caught = 0;
    for (int i = 0; i < n; i++) {
        try {
            buffer first(64), second(128);
            char host[64] = {};
            check(DRIVER(cuMemcpyHtoD)(first.memory, host, sizeof host));
            check(DRIVER(cuMemcpyHtoD)(0, host, sizeof host));
        } catch (const std::exception &) {
            caught++;
        }
    }
    return caught;
}

void enter()
{
    CUcontext context;
    check(DRIVER(cuInit)(0));
    check(DRIVER(cuDevicePrimaryCtxRetain)(&context, 0));
    check(DRIVER(cuCtxSetCurrent)(context));
}
} // namespace

int main(int argc, char **argv)
{
    enter();
    static buffer until_the_end(256);
    std::printf("%d caught\n", failing_rounds(50));
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) {
        threads.emplace_back([] {
            enter();
            failing_rounds(20);
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::puts("joined");
    std::fflush(stdout);
    if (argc > 1 && std::strcmp(argv[1], "end") == 0) {
        check(DRIVER(cuMemFree)(1));
    }
    return 0;
}
