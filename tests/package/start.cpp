// SPDX-License-Identifier: Apache-2.0
// A program linked as the packages are, which says what of its start and of libc works: its constructors run once, in
// order, with main's arguments; exceptions, threads, and functions of libc that are bound to old versions.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

char order[16];
int first_count, first_ok;

void note(char what)
{
    order[std::strlen(order)] = what;
}

__attribute__((constructor(101))) void early(int count, char **arguments, char **environment)
{
    first_count = count;
    first_ok = arguments != nullptr && environment == arguments + count + 1;
    note('e');
}

__attribute__((constructor)) void late()
{
    note('l');
}

struct global {
    global()
    {
        note('g');
    }
    ~global()
    {
        (void)!write(1, "destructor\n", 11);
    }
} object;

__attribute__((destructor)) void last()
{
    (void)!write(1, "last\n", 5);
}

struct thrown {
    long number;
};

thread_local int per_thread = 7;

void *thread_main(void *)
{
    per_thread++;
    try {
        throw thrown{6};
    } catch (const thrown &caught) {
        return reinterpret_cast<void *>(caught.number + per_thread);
    }
}

} // namespace

int main(int count, char **arguments)
{
    (void)std::setvbuf(stdout, nullptr, _IONBF, 0);
    std::printf("constructors %s %d %d\n", order, first_count == count, first_ok);
    pthread_t thread;
    void *result = nullptr;
    if (pthread_create(&thread, nullptr, thread_main, nullptr) == 0) {
        pthread_join(thread, &result);
    }
    std::printf("thread %ld, here %d\n", reinterpret_cast<long>(result), per_thread);
    struct stat path, link, file, at;
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    bool same = stat("/proc", &path) == 0 && lstat("/proc", &link) == 0 &&
                fstatat(folder, "proc", &at, AT_SYMLINK_NOFOLLOW) == 0 &&
                path.st_ino == link.st_ino && path.st_ino == at.st_ino && S_ISDIR(path.st_mode) &&
                fstat(folder, &file) == 0 && S_ISDIR(file.st_mode) && stat("/nosuch", &path) == -1;
    std::printf("stat %d\n", same);
    void *self = dlopen(nullptr, RTLD_NOW);
    std::printf("dlopen %d %d\n", self != nullptr, dlsym(self, "malloc") != nullptr);
    double two = count + 1.0;
    std::printf("math %.10g %.10g %.10g %.10g %.10g %.10g\n", std::pow(two, 0.5), std::exp(two),
                std::log(two), std::exp2(two), std::log2(two), std::hypot(two, 1));
    return std::strcmp(arguments[0], "") == 0;
}
