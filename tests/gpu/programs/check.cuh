/* SPDX-License-Identifier: Apache-2.0 */
/* What the test programs share: CUDA error handling, and numbers on the command line. */

#ifndef GMT_TEST_CHECK_CUH
#define GMT_TEST_CHECK_CUH

#include <cuda_runtime.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with one line on stderr and status 1 when a CUDA call fails. */
#define CHECK(call) \
    do { \
        const cudaError_t check_error = (call); \
        if (check_error != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(check_error)); \
            exit(1); \
        } \
    } while (0)

/* Reads a whole number in low..high, or ends the program with status 2. */
static inline long parse_number(const char *text, long low, long high)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "'%s' is not a number from %ld to %ld\n", text, low, high);
        exit(2);
    }
    return value;
}

#endif
