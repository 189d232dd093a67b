/* SPDX-License-Identifier: Apache-2.0 */
/* What programs share that time calls of a driver found by its name: a clock, errors, entry points. */
#ifndef GMT_BENCH_DRIVER_CLIENT_H
#define GMT_BENCH_DRIVER_CLIENT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda.h>

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        (void)fprintf(stderr, "%s: error %d\n", what, (int)result);
        exit(1);
    }
}

/* In main: a variable NAME that is the entry point; the program ends with 2 where there is none. */
#define FIND(LIBRARY, NAME, PARAMETERS) \
    CUresult(*NAME) PARAMETERS = (CUresult(*) PARAMETERS)dlsym(LIBRARY, #NAME); \
    if (NAME == NULL) { \
        (void)fprintf(stderr, "the driver has no %s\n", #NAME); \
        return 2; \
    }

#endif
