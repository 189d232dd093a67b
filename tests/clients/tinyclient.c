/* SPDX-License-Identifier: Apache-2.0 */
/* tinyclient [N]: N rounds of copies by tinydriver; or any driver; needs no CUDA header, and is linked in
 * every way. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *look_up(void *driver, const char *name)
{
    void *found = driver != NULL ? dlsym(driver, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "tinyclient: %s: %s\n", name, dlerror());
        exit(4);
    }
    return found;
}

#define LOOK_UP(name) \
    do { \
        void *found = look_up(driver, #name); \
        memcpy(&name, &found, sizeof name); \
    } while (0)

/* tinydriver has no contexts; NVIDIA's is nothing without one. */
static int enter_context(void *driver)
{
    int (*retain)(void **, int), (*enter)(void *);
    void *found = dlsym(driver, "cuDevicePrimaryCtxRetain"), *context = NULL;
    memcpy(&retain, &found, sizeof retain);
    if (found == NULL) {
        return 0;
    }
    found = look_up(driver, "cuCtxSetCurrent");
    memcpy(&enter, &found, sizeof enter);
    int failed = retain(&context, 0);
    return failed != 0 ? failed : enter(context);
}

int main(int argc, char **argv)
{
    int (*cuInit)(unsigned), (*cuMemAlloc_v2)(uint64_t *, size_t), (*cuMemFree_v2)(uint64_t);
    int (*cuMemcpyHtoD_v2)(uint64_t, const void *, size_t),
        (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    unsigned sum = 0;
    LOOK_UP(cuInit);
    LOOK_UP(cuMemAlloc_v2);
    LOOK_UP(cuMemFree_v2);
    LOOK_UP(cuMemcpyHtoD_v2);
    LOOK_UP(cuMemcpyDtoH_v2);
    int failed = cuInit(0);
    failed |= enter_context(driver);
    for (long i = 0; i < rounds; i++) {
        unsigned char out[1000], in[1000];
        uint64_t memory = 0;
        memset(out, (int)(i & 0xff), sizeof out);
        failed |= cuMemAlloc_v2(&memory, sizeof out);
        failed |= cuMemcpyHtoD_v2(memory, out, sizeof out);
        failed |= cuMemcpyDtoH_v2(in, memory, sizeof in);
        failed |= cuMemFree_v2(memory);
        sum += in[i % 1000];
    }
    printf("%ld rounds, %u\n", rounds, sum);
    return failed != 0 ? 3 : 0;
}
