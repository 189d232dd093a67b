/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another interposer for the tests: a library with its own dlsym hook in C, which looks malloc up in
 * its constructor as allocators do. It must work in either order with libgmtrace.so. Its clone stands no
 * child that shares memory, as ThreadSanitizer's does not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static void *(*next_dlsym)(void *, const char *);
static void *(*next_malloc)(size_t);

static void find_next(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (size_t i = 0; i < 3 && next_dlsym == NULL; i++) {
        *(void **)&next_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    }
    if (next_dlsym == NULL) {
        abort();
    }
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    if (next_dlsym == NULL) {
        find_next();
    }
    return next_dlsym(handle, name);
}

EXPORT void *malloc(size_t bytes)
{
    if (next_malloc == NULL) {
        *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    }
    return next_malloc(bytes);
}

__attribute__((constructor)) static void start(void)
{
    free(malloc(16));
}

EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    (void)function, (void)stack, (void)flags, (void)argument;
    abort();
}
