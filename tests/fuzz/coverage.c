/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage for the fuzzer: gcc's -fsanitize-coverage=trace-pc calls one function per basic block; pairs
 * of blocks that follow one another are counted in a map. Not instrumented itself.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { CELLS = 1 << 16 };

static uint8_t hits[CELLS], seen[CELLS]; /* of these executions; classes of hits of all before */
static uintptr_t last;
static uint32_t ways;

void __sanitizer_cov_trace_pc(void);
__attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc(void)
{
    uintptr_t place = (uintptr_t)__builtin_return_address(0) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    uint8_t *hit = &hits[(place ^ last) % CELLS];

    *hit = (uint8_t)(*hit + (*hit != UINT8_MAX));
    last = place >> 1;
}

/* 1, 2, 3, 4-7, 8-15, 16-31, 32-127 and more: as many bits */
static uint8_t class_of(uint8_t count)
{
    static const uint8_t limits[] = {1, 2, 3, 7, 15, 31, 127};
    uint8_t bit = 1;

    for (unsigned i = 0; i < sizeof(limits) && count > limits[i]; i++)
        bit = (uint8_t)(bit << 1);
    return bit;
}

bool gmt_fuzz_is_new(void)
{
    bool is_new = false;

    for (uint32_t i = 0; i < CELLS; i++) {
        uint8_t class = hits[i] != 0 ? class_of(hits[i]) : 0;

        if ((class & ~seen[i]) != 0) {
            ways += seen[i] == 0;
            seen[i] = (uint8_t)(seen[i] | class);
            is_new = true;
        }
    }
    memset(hits, 0, sizeof(hits));
    last = 0;
    return is_new;
}

uint32_t gmt_fuzz_coverage(void)
{
    return ways;
}
