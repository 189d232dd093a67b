/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the software device's runtime share. Each test is a process of its own. */
#ifndef TESTS_SIMGPU_RUNTIME_CHECK_H
#define TESTS_SIMGPU_RUNTIME_CHECK_H

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define expect_error(expected, call) \
    do { \
        cudaError_t got_ = (call); \
        cr_assert_eq(got_, (expected), "%s is %s, not %s", #call, cudaGetErrorName(got_), \
                     cudaGetErrorName(expected)); \
    } while (0)

#define expect_success(call) expect_error(cudaSuccess, call)

/* Bytes that differ from their neighbours, rows and all. */
static inline void fill_pattern(unsigned char *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)((i * 7 + i / 251 + seed) & 0xff);
    }
}

#endif
