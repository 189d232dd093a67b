/* SPDX-License-Identifier: Apache-2.0 */
/* What counters read for each access pattern: the rows of tests/data/access_<gpu>.txt. */
#ifndef TESTS_SIMGPU_ACCESS_FIXTURE_H
#define TESTS_SIMGPU_ACCESS_FIXTURE_H

#include "patterns.h"

#define ACCESS_MAX_COLUMNS 16
#define ACCESS_NOT_MEASURED (-1.0)

struct access_columns {
    size_t count;
    char name[ACCESS_MAX_COLUMNS][40];
};

struct access_fixture {
    struct access_columns columns[ACCESS_KERNELS];
    size_t count;
    struct access_reading {
        char kernel[16], pattern[48];
        double value[ACCESS_MAX_COLUMNS];
    } rows[ACCESS_MAX_PATTERNS];
};

/* 0, or a negative errno: -EINVAL when a line is not as it should be. Rows are in the table's order. */
int access_fixture_read(const char *path, struct access_fixture *fixture);

/* What was read for pattern `index`; ACCESS_NOT_MEASURED also where there is no such metric. */
double access_reading_of(const struct access_fixture *fixture, enum access_kernel kernel,
                         size_t index, const char *metric);

#endif
