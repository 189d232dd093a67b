/* SPDX-License-Identifier: Apache-2.0 */
/* Which driver calls a runtime call makes, compared with what docs/runtime-api.md says of NVIDIA's. */
#ifndef TESTS_SIMGPU_RUNTIME_TALLY_H
#define TESTS_SIMGPU_RUNTIME_TALLY_H

#include "check.h"

/* Have the device count its calls. To be called before the first runtime call. */
void tally_start(void);
void tally_end(void);
void tally_snapshot(void);
/* The intercepted driver calls since the snapshot are those of the row `name` of the table. */
void tally_compare(const char *name);

#define expect_calls(name, call) \
    do { \
        tally_snapshot(); \
        expect_success(call); \
        tally_compare(name); \
    } while (0)

#endif
