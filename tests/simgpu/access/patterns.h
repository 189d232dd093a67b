/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways in which the 32 lanes of a warp can access memory, and kernels (as PTX) that do it.
 *
 * One table for three users: access_probe runs it on a device, where counters are read; the unit tests
 * feed it to the counting functions; and a test runs the same PTX on the software device. Numbers of
 * one pattern can thus be compared wherever they come from.
 */
#ifndef TESTS_SIMGPU_ACCESS_PATTERNS_H
#define TESTS_SIMGPU_ACCESS_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#define ACCESS_LANES 32
#define ACCESS_MAX_PATTERNS 2048
#define ACCESS_BUFFER_BYTES \
    (256u << 10) /* of global memory: what loads read, then what stores write */
#define ACCESS_STORE_AT (128u << 10)

/* What a kernel does with the lanes' addresses. Kernels are called <name>_w<width>. */
enum access_kernel {
    ACCESS_MEMORY, /* a load and a store each of global and of shared memory */
    ACCESS_ATOMIC, /* atom.global, red.global and atom.shared */
    ACCESS_LOCAL,  /* a load and a store of local memory */
    ACCESS_CONST,  /* a load of constant memory */
    ACCESS_ASYNC,  /* cp.async */
    ACCESS_KERNELS
};

struct access_pattern {
    char name[48];
    enum access_kernel kernel;
    unsigned width;                /* bytes per lane */
    uint32_t mask;                 /* lanes that access */
    uint32_t offset[ACCESS_LANES]; /* bytes */
};

/* Parameters of all kernels, in this order. */
struct access_params {
    uint64_t buffer;
    uint32_t table[ACCESS_LANES];
    uint32_t mask;
    uint32_t never; /* 0 */
};

extern const char *const access_kernel_names[ACCESS_KERNELS];

/* Fills `patterns` (room for ACCESS_MAX_PATTERNS); always the same, in the same order. */
size_t access_patterns(struct access_pattern *patterns);

/* The module; malloc'ed, NULL when there is no memory. */
char *access_ptx(void);

#endif
