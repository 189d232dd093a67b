/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of plainclient about the loader: whether CUDA is there, name spaces, versions. */
#define _GNU_SOURCE
#include "plain.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What programs ask for to learn whether there is a driver, a profiler, or a tool. */
static const char *const cuda_names[] = {"cuInit",
                                         "cuMemAlloc_v2",
                                         "cuGetProcAddress_v2",
                                         "cuLaunchKernel",
                                         "cudaMalloc",
                                         "cuptiActivityEnable",
                                         "cuptiSubscribe",
                                         "nvtxRangePushA",
                                         "cuGetProcAddress",
                                         "cuMemcpyHtoD_v2",
                                         "InitializeInjection",
                                         "InitializeInjectionNvtx2",
                                         "gmt_start",
                                         "simgpu_interface",
                                         "cuptiActivityFlushAll",
                                         "InitializeInjectionNvtxExtension"};

extern int cuInit(unsigned) __attribute__((weak));
extern int cuMemcpyHtoD_v2(unsigned long long, const void *, size_t) __attribute__((weak));
extern int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *)
    __attribute__((weak));
extern int cuptiActivityEnable(int) __attribute__((weak));

/* As programs ask that run without CUDA, too: is it there, and does it work? */
int plain_weak(long n)
{
    void *function = NULL;
    (void)n;
    printf("cuInit %s\n", cuInit != NULL && cuInit(0) == 0 ? "works" : "does not");
    printf("cuMemcpyHtoD_v2 %s\n",
           cuMemcpyHtoD_v2 != NULL && cuMemcpyHtoD_v2(0, &function, 1) == 0 ? "works" : "does not");
    printf("cuGetProcAddress_v2 %s\n",
           cuGetProcAddress_v2 != NULL &&
                   cuGetProcAddress_v2("cuInit", &function, 12000, 0, NULL) == 0
               ? "works"
               : "does not");
    printf("cuptiActivityEnable %s\n",
           cuptiActivityEnable != NULL && cuptiActivityEnable(3) == 0 ? "works" : "does not");
    return function != NULL;
}

int plain_probes(long n)
{
    void *whole = dlopen(NULL, RTLD_NOW);
    (void)n;
    for (size_t i = 0; i < sizeof cuda_names / sizeof cuda_names[0]; i++) {
        const char *name = cuda_names[i];
        printf("%s: %d %d %d\n", name, dlsym(RTLD_DEFAULT, name) != NULL,
               dlsym(RTLD_NEXT, name) != NULL, dlsym(whole, name) != NULL);
    }
    printf("dlsym itself: %d\n", dlsym(RTLD_DEFAULT, "dlsym") != NULL);
    return 0;
}

int plain_not_there(long n)
{
    static const char *const libraries[] = {"libcuda.so.1", "libcudart.so.99", "libcupti.so.99"};
    (void)n;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);
        const char *said = dlerror();
        printf("%s: %s, %s\n", libraries[i], library != NULL ? "loaded" : "not loaded",
               said != NULL ? said : "nothing said");
    }
    (void)dlsym(RTLD_DEFAULT, "no_such_function");
    const char *said = dlerror();
    printf("%s\n", said != NULL ? strrchr(said, ' ') : "nothing said");
    return 0;
}

int plain_reload(long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        void *found = library != NULL ? dlsym(library, "cos") : NULL;
        double (*cosine)(double) = NULL;
        if (found == NULL) {
            return 1;
        }
        memcpy(&cosine, &found, sizeof cosine);
        sum += cosine(0);
        dlclose(library);
    }
    printf("%.0f\n", sum);
    return 0;
}

int plain_dlmopen(long n)
{
    void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    (void)n;
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    void *inside = dlsym(library, "strlen"), *cuda = dlsym(library, "cuInit");
    size_t (*length)(const char *) = NULL;
    memcpy(&length, &inside, sizeof length);
    printf("strlen %zu, cuInit %s\n", length("four"), cuda != NULL ? "there" : "not there");
    dlclose(library);
    return 0;
}

static int chosen(void)
{
    return 12;
}

static int (*choose(void))(void)
{
    return chosen;
}

__attribute__((ifunc("choose"))) static int chosen_when_loaded(void);

int plain_ifunc(long n)
{
    (void)n;
    printf("%d\n", chosen_when_loaded());
    return 0;
}

int plain_addresses(long n)
{
    Dl_info about = {0};
    void *print = dlsym(RTLD_DEFAULT, "printf");
    (void)n;
    dladdr(print, &about);
    const char *file = about.dli_fname != NULL ? strrchr(about.dli_fname, '/') : NULL;
    printf("%s in %s\n", about.dli_sname != NULL ? about.dli_sname : "?", file);
    return 0;
}

int plain_versions(long n)
{
    static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_9.9"};
    static const char *const names[] = {"dlsym", "dlopen", "memcpy", "pthread_create", "cuInit"};
    (void)n;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
            printf("%s@%s: %d\n", names[i], versions[v],
                   dlvsym(RTLD_DEFAULT, names[i], versions[v]) != NULL);
        }
    }
    return 0;
}
